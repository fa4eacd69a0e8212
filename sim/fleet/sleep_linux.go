package fleet

import (
	"syscall"
	"time"
)

// sleep holds the thread. time.Sleep is exact to a millisecond where the process is
// idle, which is much beside a read; this is to some 0.1 ms.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil)
}
