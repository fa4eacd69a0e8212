package redisstore

// beginBody begins a string of n bytes; -1 is nil.
func (s *scanner) beginBody(n int64) error {
	if n == -1 && s.kind == '$' {
		return s.element()
	}
	if err := s.spend(n, 1); err != nil {
		return err
	}
	s.body, s.state = n+2, inBody
	return nil
}

// inBody takes bytes of a string's body and of the line's end behind it.
func (s *scanner) inBody(p []byte) error {
	if s.top == '>' && s.said >= 0 && s.said < len(s.word) {
		s.said += copy(s.word[s.said:], p)
	}
	for i := max(0, int64(len(p))-2); i < int64(len(p)); i++ {
		if left := s.body - i; left <= 2 && p[i] != "\n\r"[left-1] {
			return broken("a string that ends badly")
		}
	}
	if s.body -= int64(len(p)); s.body > 0 {
		return nil
	}
	if s.top == '>' && s.said >= 0 {
		if string(s.word[:]) != invalidate {
			return broken("an unknown push")
		}
		s.said = -1
	}
	return s.element()
}

// beginAggregate begins an array, set, map or push of n elements; -1 is nil.
func (s *scanner) beginAggregate(n int64) error {
	if n == -1 && s.kind == '*' {
		return s.element()
	}
	per := int64(1)
	if s.kind == '%' {
		per = 2
	}
	if err := s.spend(n, per*costOfElement); err != nil {
		return err
	}
	switch {
	case s.kind == '>' && n < 2:
		return broken("a push of %d", n)
	case n == 0:
		return s.element()
	case s.depth == len(s.open):
		return broken("more than %d levels", s.depth)
	}
	s.open[s.depth] = n * per
	s.depth++
	s.state = atType
	return nil
}

// spend counts n times cost towards the limit.
func (s *scanner) spend(n, cost int64) error {
	if n < 0 || n > (s.limit-s.spent)/cost {
		return broken("a length of %d", n)
	}
	s.spent += n * cost
	return nil
}

// element ends an element, and what it completes.
func (s *scanner) element() error {
	s.state = atType
	if s.top == '>' && s.said == 0 && s.depth > 0 {
		return broken("a push without a name")
	}
	for s.depth > 0 {
		if s.open[s.depth-1]--; s.open[s.depth-1] > 0 {
			return nil
		}
		s.depth--
	}
	if s.ends != nil {
		return s.ends(s.top)
	}
	return nil
}
