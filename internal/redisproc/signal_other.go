//go:build !unix

package redisproc

import "errors"

// Stop fails: processes cannot be stopped here.
func (p *Process) Stop() error { return errors.ErrUnsupported }

// Continue undoes Stop.
func (p *Process) Continue() error { return errors.ErrUnsupported }
