package model

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// CtxKind is the kind of context a client reads with.
type CtxKind string

const (
	Background CtxKind = ""
	Done       CtxKind = "done"     // cancelled before the call
	Deadline   CtxKind = "deadline" // ends After the call began
	Cancel     CtxKind = "cancel"   // is cancelled After the call began
)

// Ctx describes a client's context.
type Ctx struct {
	Kind  CtxKind
	After time.Duration
}

func (c Ctx) String() string {
	if c.Kind == Deadline || c.Kind == Cancel {
		return fmt.Sprintf("%s:%v", c.Kind, c.After)
	}
	return string(c.Kind)
}

func parseCtx(s string) (Ctx, error) {
	kind, after, _ := strings.Cut(s, ":")
	c := Ctx{Kind: CtxKind(kind)}
	switch c.Kind {
	case Done:
		return c, nil
	case Deadline, Cancel:
		var err error
		c.After, err = time.ParseDuration(after)
		return c, err
	}
	return c, fmt.Errorf("unknown context %q", s)
}

// with returns the described context as a child of parent. stop releases its
// timer.
func (c Ctx) with(parent context.Context) (ctx context.Context, stop func()) {
	switch c.Kind {
	case Done:
		ctx, cancel := context.WithCancel(parent)
		cancel()
		return ctx, func() {}
	case Deadline:
		return context.WithTimeout(parent, c.After)
	case Cancel:
		ctx, cancel := context.WithCancel(parent)
		timer := time.AfterFunc(c.After, cancel)
		return ctx, func() { timer.Stop(); cancel() }
	}
	return parent, func() {}
}
