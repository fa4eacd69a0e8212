package redisstore

import (
	"crypto/fips140"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/store"
)

// script is a Lua script of the server. Its keys are in one slot, but for flush's
// where the server is no Cluster.
type script struct {
	source string
	sha    string // "" where SHA-1 is forbidden: then the script is sent each time
	ends   bool   // it ends a lease, for which others wait
}

var (
	//go:embed lua/format.lua
	format string
	//go:embed lua/clock.lua
	clock string
	//go:embed lua/common.lua
	common string
	//go:embed lua/splits.lua
	splits string
	//go:embed lua/acquire.lua
	acquireLua string
	//go:embed lua/publish.lua
	publishLua string
	//go:embed lua/set.lua
	setLua string
	//go:embed lua/invalidate.lua
	invalidateLua string
	//go:embed lua/fail.lua
	failLua string
	//go:embed lua/flush.lua
	flushLua string
	//go:embed lua/spread.lua
	spreadLua string
	//go:embed lua/put.lua
	putLua string
	//go:embed lua/bury.lua
	buryLua string

	acquireScript    = newScript(format, clock, common, acquireLua)
	publishScript    = newScript(format, clock, common, publishLua).ending()
	setScript        = newScript(format, clock, common, splits, setLua)
	invalidateScript = newScript(format, clock, common, splits, invalidateLua)
	failScript       = newScript(format, clock, common, failLua).ending()
	flushScript      = newScript(format, clock, splits, flushLua)
	spreadScript     = newScript(format, clock, common, splits, spreadLua)
	putScript        = newScript(format, putLua)
	buryScript       = newScript(format, buryLua)
)

func newScript(parts ...string) script {
	source := strings.Join(parts, "")
	if fips140.Enforced() { // SHA-1 would panic
		return script{source: source}
	}
	sum := sha1.Sum([]byte(source)) // the server's name for it
	return script{source: source, sha: hex.EncodeToString(sum[:])}
}

func (s script) ending() script {
	s.ends = true
	return s
}

// command returns the call of the script for a server that has it.
func (s script) command(b rueidis.Builder, k keys, args ...string) rueidis.Completed {
	if s.sha == "" {
		return s.full(b, k, args...)
	}
	names := k.names()
	return b.Evalsha().Sha1(s.sha).Numkeys(int64(len(names))).Key(names...).Arg(args...).Build()
}

// full returns the call with the script itself, which the server then has.
func (s script) full(b rueidis.Builder, k keys, args ...string) rueidis.Completed {
	names := k.names()
	return b.Eval().Script(s.source).Numkeys(int64(len(names))).Key(names...).Arg(args...).Build()
}

// errUnknown is for a script that the server does not have.
var errUnknown = fmt.Errorf("%w: unknown script", store.ErrUnavailable)

// isUnknown reports whether the server does not have the script: it was
// restarted, flushed, or has taken over from another.
func isUnknown(r rueidis.RedisResult) bool {
	err, ok := rueidis.IsRedisErr(r.Error())
	return ok && err.IsNoScript()
}
