//go:build unix

package redisproc

import "syscall"

// Stop stops the process without ending it, as SIGSTOP does: its port still
// accepts, and nobody answers. Where processes cannot be stopped the error is
// errors.ErrUnsupported.
func (p *Process) Stop() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue lets a stopped process go on.
func (p *Process) Continue() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
