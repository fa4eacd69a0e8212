package redisproc

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// Do runs a command and returns its reply as text, nil as "". It asks on a connection
// of its own, which leaves no trace on the server but the command itself.
func (p *Process) Do(args ...string) (string, error) {
	m, err := p.ask(args)
	if rueidis.IsRedisNil(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if n, err := m.ToInt64(); err == nil {
		return strconv.FormatInt(n, 10), nil
	}
	if m.IsArray() {
		parts, err := m.AsStrSlice()
		return strings.Join(parts, "\n"), err
	}
	return m.ToString()
}

func (p *Process) ask(args []string) (rueidis.RedisMessage, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{p.Addr}, ForceSingleClient: true, DisableCache: true,
		ClientSetInfo: rueidis.DisableClientSetInfo, PipelineMultiplex: -1,
	})
	if err != nil {
		return rueidis.RedisMessage{}, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return c.Do(ctx, c.B().Arbitrary(args[0]).Args(args[1:]...).Build()).ToMessage()
}
