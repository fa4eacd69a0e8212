package redisstore

import (
	"crypto/fips140"
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/store"
)

// script is a Lua script of the server. All take the three keys of a user's key,
// which are in one slot.
type script struct {
	source string
	sha    string // "" where SHA-1 is forbidden: then the script is sent each time
}

var (
	//go:embed lua/common.lua
	common string
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

	acquireScript    = newScript(acquireLua)
	publishScript    = newScript(publishLua)
	setScript        = newScript(setLua)
	invalidateScript = newScript(invalidateLua)
	failScript       = newScript(failLua)
	flushScript      = newScript(flushLua)
)

func newScript(source string) script {
	source = common + source
	if fips140.Enforced() { // SHA-1 would panic
		return script{source: source}
	}
	sum := sha1.Sum([]byte(source)) // the server's name for it
	return script{source: source, sha: hex.EncodeToString(sum[:])}
}

// command returns the call of the script for a server that has it.
func (s script) command(b rueidis.Builder, k keys, args ...string) rueidis.Completed {
	if s.sha == "" {
		return s.full(b, k, args...)
	}
	return b.Evalsha().Sha1(s.sha).Numkeys(3).Key(k.value, k.lease, k.epoch).Arg(args...).Build()
}

// full returns the call with the script itself, which the server then has.
func (s script) full(b rueidis.Builder, k keys, args ...string) rueidis.Completed {
	return b.Eval().Script(s.source).Numkeys(3).Key(k.value, k.lease, k.epoch).Arg(args...).Build()
}

// errUnknown is for a script that the server does not have.
var errUnknown = fmt.Errorf("%w: unknown script", store.ErrUnavailable)

// isUnknown reports whether the server does not have the script: it was
// restarted, flushed, or has taken over from another.
func isUnknown(r rueidis.RedisResult) bool {
	err, ok := rueidis.IsRedisErr(r.Error())
	return ok && err.IsNoScript()
}
