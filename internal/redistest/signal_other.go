//go:build !unix

package redistest

// Stop skips the test: processes cannot be stopped here.
func (s *Server) Stop() {
	s.t.Helper()
	s.t.Skip("processes cannot be stopped on this system")
}

// Continue undoes Stop.
func (s *Server) Continue() {}
