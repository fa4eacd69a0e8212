package bus

import "time"

// listen repeats rounds until the bus is closed.
func (b *Bus) listen() {
	pause := time.Duration(0)
	for round := uint64(1); b.sleep(b.ctx, pause); round++ {
		began := time.Now()
		if err := b.round(began, round); err != nil {
			pause = min(max(2*pause, 20*time.Millisecond), wait)
			continue
		}
		b.count()
		pause = max(pace-time.Since(began), 0)
	}
}

// round says what was heard, hears what there is besides, and takes a lease.
func (b *Bus) round(began time.Time, number uint64) error {
	now, err := b.server.Hear(b.ctx, b.name, number, b.at)
	if err != nil {
		return err
	}
	b.see(now.Era)
	if b.at.Era != now.Era || b.at.Seq > now.Seq {
		b.miss(now) // it is not on the table yet
		return nil
	}
	if b.at.Seq == now.Seq {
		b.take(began)
	}
	for {
		messages, err := b.server.Read(b.ctx, b.at, wait)
		if err != nil {
			return err
		}
		b.hear(messages)
		switch {
		case b.at.Seq >= now.Seq:
			b.take(began)
			return nil
		case len(messages) == 0: // it was there, and is not any more
			b.miss(now)
			return nil
		}
	}
}

// hear hears messages. One that is missing before them or cannot be read is a
// gap.
func (b *Bus) hear(messages []Message) {
	for _, m := range messages {
		if b.ctx.Err() != nil {
			return
		}
		f, err := factOf(m.Data)
		if m.Seq != b.at.Seq+1 || err != nil {
			b.miss(Place{Era: b.at.Era, Seq: m.Seq})
		}
		if err == nil {
			b.heard(f)
			b.listened.Add(1)
		}
		b.move(Place{Era: b.at.Era, Seq: m.Seq})
	}
}

// miss goes on at a place, without what was before.
func (b *Bus) miss(at Place) {
	if b.ctx.Err() != nil {
		return
	}
	b.gap()
	b.gaps.Add(1)
	b.move(at)
}

func (b *Bus) move(at Place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = at
}

// take takes a lease that began when the round did.
func (b *Bus) take(began time.Time) {
	if b.ctx.Err() == nil {
		b.lease.Store(&began)
	}
}
