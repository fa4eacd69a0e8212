package bubble_test

import (
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/sim/bubble"
)

// The test binary stands in for a program: with this variable set it calls Main.
const asProgram = "BUBBLE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "exit 3":
		bubble.Main(func(r bubble.Runner) int {
			if r.Run(func() { time.Sleep(time.Hour) }) != nil {
				return 1
			}
			return 3
		})
	case "panic":
		bubble.Main(func(bubble.Runner) int { panic("boom") })
	}
	os.Exit(m.Run())
}

func TestRun_timeIsVirtual(t *testing.T) {
	began := time.Now()
	var passed time.Duration
	require.NoError(t, bubble.In(t).Run(func() {
		start := time.Now()
		time.Sleep(1000 * time.Hour)
		passed = time.Since(start)
	}))
	require.Equal(t, 1000*time.Hour, passed)
	require.Less(t, time.Since(began), 100*time.Hour)
}

func TestRun_worldsRunAtOnce(t *testing.T) {
	r := bubble.In(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if err := r.Run(func() { time.Sleep(time.Minute) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

func TestRun_panicIsAnError(t *testing.T) {
	err := bubble.In(t).Run(func() { panic("boom") })
	require.ErrorContains(t, err, "boom")
	require.ErrorContains(t, err, "bubble_test.go", "the stack says where")
}

func TestMain_exitsWithTheCodeAndSaysNothing(t *testing.T) {
	code, out := program(t, "exit 3")
	require.Equal(t, 3, code)
	require.Empty(t, out)
}

func TestMain_panicExitsWithOne(t *testing.T) {
	code, out := program(t, "panic")
	require.Equal(t, 1, code)
	require.Contains(t, out, "panic: boom")
	require.NotContains(t, out, "FAIL")
}

// program runs this binary as the program named and returns its exit code and
// everything it wrote.
func program(t *testing.T, name string) (int, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=never")
	cmd.Env = append(os.Environ(), asProgram+"="+name)
	out, err := cmd.CombinedOutput()
	if err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestRun_waitingForEverIsAnError(t *testing.T) {
	err := bubble.In(t).Run(func() { <-make(chan int) })
	require.ErrorContains(t, err, "deadlock")
}

func TestRun_goroutineLeftBehindIsAnError(t *testing.T) {
	err := bubble.In(t).Run(func() {
		never := make(chan int)
		go func() { <-never }()
	})
	require.ErrorContains(t, err, "deadlock")
}
