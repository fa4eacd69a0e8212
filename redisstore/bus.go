package redisstore

import (
	"context"
	"crypto/rand"
	_ "embed"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/bus"
	"github.com/earlybird-cache/earlybird/store"
)

var _ store.Bus = (*Store[int])(nil)

// Listen is that of [store.Bus].
func (s *Store[V]) Listen(from string, heard func(store.Fact), gap func()) {
	s.tier.bus.Listen(from, heard, gap)
}

// Hears is that of [store.Bus].
func (s *Store[V]) Hears() bool { return s.tier.bus.Hears() }

// Place is that of [store.Bus].
func (s *Store[V]) Place() string { return s.tier.bus.Place() }

// Listeners is that of [store.Bus].
func (s *Store[V]) Listeners() int { return s.tier.bus.Listeners() }

// Tell is that of [store.Bus].
func (s *Store[V]) Tell(ctx context.Context, f store.Fact) error { return s.tier.bus.Tell(ctx, f) }

var (
	//go:embed lua/bus.lua
	busLua string
	//go:embed lua/hear.lua
	hearLua string
	//go:embed lua/tell.lua
	tellLua string
	//go:embed lua/members.lua
	membersLua string
	//go:embed lua/drop.lua
	dropLua string
	//go:embed lua/leave.lua
	leaveLua string

	hearScript    = newScript(busLua, hearLua)
	tellScript    = newScript(busLua, tellLua)
	membersScript = newScript(busLua, membersLua)
	dropScript    = newScript(busLua, dropLua)
	leaveScript   = newScript(busLua, leaveLua)
)

// busServer is the server of the bus: that of one slot, which the namespace
// chooses, so that those of several namespaces are spread over a Cluster.
//
//	ns:f:{tag}  the log, a stream
//	ns:m:{tag}  its era and its members, a hash
type busServer struct {
	*tier
	keys keys
}

func newBusServer(t *tier) busServer {
	slot := slotOf(t.Namespace)
	tag := t.namespace.tags[slot]
	log, table := t.Namespace+":f:{"+tag+"}", t.Namespace+":m:{"+tag+"}"
	return busServer{t, keys{value: log, lease: table, epoch: table, slot: slot}}
}

// ask runs a script and returns its reply as texts.
func (s busServer) ask(ctx context.Context, what script, args ...string) ([]string, error) {
	m, err := s.run(ctx, what, s.keys, s.WriteTimeout, append([]string{rand.Text()}, args...)...)
	if err != nil {
		return nil, err
	}
	texts, err := m.AsStrSlice()
	if err != nil {
		return nil, errNonsense
	}
	return texts, nil
}

func (s busServer) Hear(ctx context.Context, name string, round uint64, at bus.Place) (bus.Place, error) {
	return placeOf(s.ask(ctx, hearScript, name, decimal(round), at.Era, decimal(at.Seq)))
}

func (s busServer) Tell(ctx context.Context, messages []string) (bus.Place, error) {
	return placeOf(s.ask(ctx, tellScript, append([]string{strconv.Itoa(s.MaxFacts)}, messages...)...))
}

func placeOf(texts []string, err error) (bus.Place, error) {
	if err != nil {
		return bus.Place{}, err
	}
	if len(texts) != 2 || texts[0] == "" {
		return bus.Place{}, errNonsense
	}
	seq, err := strconv.ParseUint(texts[1], 10, 64)
	if err != nil {
		return bus.Place{}, errNonsense
	}
	return bus.Place{Era: texts[0], Seq: seq}, nil
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

func (s busServer) Members(ctx context.Context) (era string, members []bus.Member, err error) {
	texts, err := s.ask(ctx, membersScript)
	if err != nil {
		return "", nil, err
	}
	if len(texts)%2 == 0 {
		return "", nil, errNonsense
	}
	for i := 1; i < len(texts); i += 2 {
		seq, round, _ := strings.Cut(texts[i+1], ":")
		m := bus.Member{Name: texts[i]}
		m.Seq, err = strconv.ParseUint(seq, 10, 64)
		if err == nil {
			m.Round, err = strconv.ParseUint(round, 10, 64)
		}
		if err != nil {
			return "", nil, errNonsense
		}
		members = append(members, m)
	}
	return texts[0], members, nil
}

func (s busServer) Drop(ctx context.Context, members []bus.Member) error {
	args := []string{rand.Text()}
	for _, m := range members {
		args = append(args, m.Name, decimal(m.Seq)+":"+decimal(m.Round))
	}
	_, err := s.run(ctx, dropScript, s.keys, s.WriteTimeout, args...)
	return err
}

func (s busServer) Leave(ctx context.Context, name string) error {
	_, err := s.run(ctx, leaveScript, s.keys, s.WriteTimeout, rand.Text(), name)
	return err
}

// readAtOnce is how many messages are read at once.
const readAtOnce = 128

// Read waits on a connection of its own, which the client library keeps for that.
func (s busServer) Read(ctx context.Context, at bus.Place, wait time.Duration) ([]bus.Message, error) {
	c := s.link.client.Load()
	if c == nil {
		return nil, errNotConnected
	}
	ctx, cancel := context.WithTimeout(ctx, wait+s.WriteTimeout)
	defer cancel()
	found, err := c.Do(ctx, c.B().Xread().Count(readAtOnce).Block(wait.Milliseconds()).
		Streams().Key(s.keys.value).Id(decimal(at.Seq)).Build()).AsXRead()
	if rueidis.IsRedisNil(err) {
		return nil, nil
	}
	if err != nil {
		return nil, refusal(err)
	}
	var messages []bus.Message
	for _, e := range found[s.keys.value] {
		seq, err := strconv.ParseUint(strings.TrimSuffix(e.ID, "-0"), 10, 64)
		if err != nil {
			return nil, errNonsense
		}
		if e.FieldValues["e"] != at.Era { // and nothing of this one follows
			break
		}
		messages = append(messages, bus.Message{Seq: seq, Data: e.FieldValues["f"]})
	}
	return messages, nil
}
