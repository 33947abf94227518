package mover

// AtOnce makes the mover move so many events in a transaction.
func (m *Mover) AtOnce(events int) { m.atOnce = events }
