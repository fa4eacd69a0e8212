package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/earlybird-cache/earlybird/sim/progress"
)

// scene is what a run plays.
type scene struct {
	reads func(Setup) int // about how many, for who looks at the clock
	play  func(context.Context, *run) error

	cluster bool // on a Cluster
}

// run is a scene that is being played.
type run struct {
	setup  Setup
	server *server
	id     string
	fleets int
	played atomic.Int64
	report Report
}

// run plays a scene with a valid setup.
func (s Setup) run(ctx context.Context, x scene, stderr io.Writer) (Report, error) {
	server, err := dial(ctx, s.Redis, x.cluster)
	if err != nil {
		return Report{}, err
	}
	defer server.close()
	r := &run{setup: s, server: server, id: strings.ToLower(rand.Text())[:12]}
	r.report = Report{Setup: s.json(), Server: server.about}
	meter := progress.Start(stderr, x.reads(s), &r.played)
	defer meter.Stop()
	err = x.play(ctx, r)
	return r.report, err
}

// with launches a fleet in a namespace of its own, does f with it, and leaves nothing
// behind.
func (r *run) with(x rung, f func(*caches) error) error {
	r.fleets++
	namespace := fmt.Sprintf("sim-fleet.%s.%d", r.id, r.fleets)
	c, err := r.setup.launch(x, r.server.url, namespace)
	if err != nil {
		return err
	}
	err = f(c)
	return errors.Join(err, c.close(), r.server.sweep(namespace))
}
