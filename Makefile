# make test   everything a change must pass, some ten minutes on two cores
# make soak   the same at full size and length, for an hour or so
# make bench  beside the peers, in one run
# make bench-all  the same longer, then hits by size, popularity and value: hours
# make attack hostile streams of ids, scored
# make check  formatting, vet on two platforms, tidiness

GO ?= go

# Nested modules are not part of ./... and are visited one by one.
NESTED := $(patsubst %/go.mod,%,$(wildcard */go.mod))

.PHONY: test soak bench bench-all attack check redis

test: redis
	$(GO) test -race -timeout 15m ./...
	@set -e; for m in $(NESTED); do echo "== $$m"; (cd $$m && $(GO) test ./...); done

soak: redis
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOARCH=386 $(GO) vet ./...
	EARLYBIRD_SOAK=1 $(GO) test -timeout 60m ./...
	EARLYBIRD_SOAK=1 $(GO) test -race -cpu 1,2,4 -timeout 120m ./...
	$(GO) run ./fuzz -targets 30s | sh -e

# The tests of the shared tier start servers of their own.
redis:
	@command -v redis-server >/dev/null || command -v valkey-server >/dev/null || { \
	  as_root=; [ "$$(id -u)" = 0 ] || as_root="sudo -n"; \
	  command -v apt-get >/dev/null && $$as_root true && \
	    { $$as_root apt-get install -y -qq redis-server || \
	      { $$as_root apt-get update -qq && $$as_root apt-get install -y -qq redis-server; }; }; } || \
	{ echo "redis-server is missing: apt-get install redis-server, or brew install redis"; exit 1; }

attack:
	$(GO) run ./fuzz -attack all

bench:
	cd bench && $(GO) run .

# TRACES may name request traces: make bench-all TRACES="-trace a.gz -trace b.gz"
bench-all:
	cd bench && $(GO) run . -benchtime 1s -procs 1,2,4 -requests 1100000 $(TRACES)
	cd bench && $(GO) run . -rows '^gc$$' -entries 10000000
	cd bench && $(GO) run . -rows '^hit$$' -keys 10000,100000,1000000
	cd bench && $(GO) run . -rows '^hit$$' -zipf uniform,0.9,1.01,1.2
	cd bench && $(GO) run . -rows '^hit$$' -value 16,200,4096

check:
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	@# Each system compiles all there is anew, minutes of it. Beside linux this one has
	@# every file that is not for it, and words of 32 bits; the soak vets more of them.
	GOOS=windows GOARCH=386 $(GO) vet ./...
	$(GO) mod tidy -diff
	@set -e; for m in $(NESTED); do echo "== $$m"; (cd $$m && $(GO) vet ./... && $(GO) mod tidy -diff); done
