package team

import (
	"context"
	"errors"

	"github.com/google/uuid"
)

// Seats holds the seats of a team (rules: team#seats).
type Seats struct {
	Members     int64
	Invitations int64  // pending and not expired
	Limit       *int64 // nil means unlimited
}

// Total returns the number of seats that are taken.
func (s Seats) Total() int64 { return s.Members + s.Invitations }

// Available returns the number of free seats, or nil if they are unlimited. It is negative if the
// tenant has changed to a plan with fewer seats than are taken.
func (s Seats) Available() *int64 {
	if s.Limit == nil {
		return nil
	}
	left := *s.Limit - s.Total()
	return &left
}

// Seats counts the seats of a tenant's team.
func (s *Service) Seats(ctx context.Context, tenantID uuid.UUID) (Seats, error) {
	seats, err := s.store.seats(ctx, tenantID, s.deps.Clock.Now())
	if err != nil {
		return Seats{}, err
	}
	seats.Limit, err = s.deps.Seats.SeatLimit(ctx, tenantID)
	return seats, err
}

// TakenSeats counts the seats that a tenant's team takes.
func (s *Service) TakenSeats(ctx context.Context, tenantID uuid.UUID) (int64, error) {
	seats, err := s.store.seats(ctx, tenantID, s.deps.Clock.Now())
	return seats.Total(), err
}

// HasSeatFor reports whether the user with an email can become a member: the user takes the seat of a
// pending invitation to the email, or a free seat. The caller must hold the tenant's lock.
func (s *Service) HasSeatFor(ctx context.Context, tenantID uuid.UUID, email string) (bool, error) {
	more := int64(0)
	_, err := s.store.pendingOf(ctx, tenantID, email, s.deps.Clock.Now())
	if errors.Is(err, errNoInvitation) {
		more, err = 1, nil
	}
	if err != nil {
		return false, err
	}
	err = s.requireSeats(ctx, tenantID, more)
	if errors.Is(err, errNoSeat) {
		return false, nil
	}
	return err == nil, err
}

// requireSeats returns SEAT_LIMIT_REACHED unless the plan has room for more seats: 1 for a new
// invitation, or 0 for a member who already takes a seat or the seat of an invitation. The caller must
// hold the tenant's lock.
func (s *Service) requireSeats(ctx context.Context, tenantID uuid.UUID, more int64) error {
	seats, err := s.Seats(ctx, tenantID)
	if err != nil {
		return err
	}
	if left := seats.Available(); left != nil && *left < more {
		return errNoSeat
	}
	return nil
}
