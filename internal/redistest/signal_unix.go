//go:build unix

package redistest

import "syscall"

// Stop stops the process without ending it, as SIGSTOP does: its port still
// accepts, and nobody answers.
func (s *Server) Stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
}

// Continue lets a stopped process go on.
func (s *Server) Continue() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		s.t.Fatal(err)
	}
}
