package pricelink

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tenantry/tenantry/internal/psp"
)

// state is what a price of the provider is, as it was last read.
type state struct {
	psp.Price      // zero where it is missing
	missing   bool // the provider does not have it
}

// lookTimeout bounds the reads of prices that were never read, for a list of plans.
const lookTimeout = 5 * time.Second

// readState reads a price of the provider, and stores what it is.
//
// Invariant: of two answers the one to the later question stays.
func (s *Service) readState(ctx context.Context, pspPriceID string) (state, error) {
	asked := s.clock.Now()
	remote, err := s.provider.GetPrice(ctx, pspPriceID)
	now := state{Price: remote}
	if errors.Is(err, psp.ErrNotFound) {
		now, err = state{missing: true}, nil
	}
	if err != nil {
		return state{}, err
	}
	return now, s.store.putState(ctx, pspPriceID, now, asked)
}

// readStates reads prices of the provider, several at a time. It returns those that
// could be read, and the first error.
func (s *Service) readStates(ctx context.Context, pspPriceIDs []string) (map[string]state, error) {
	found := make(map[string]state, len(pspPriceIDs))
	var mu sync.Mutex
	var reads errgroup.Group
	reads.SetLimit(statusReads)
	for _, id := range pspPriceIDs {
		reads.Go(func() error {
			now, err := s.readState(ctx, id)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				found[id] = now
			}
			return err
		})
	}
	err := reads.Wait()
	return found, err
}

// PriceEvent handles the provider's notifications about prices: what the price is now
// decides whether what is linked to it is sold.
func (s *Service) PriceEvent(ctx context.Context, e psp.Event) error {
	linked, err := s.store.linkedIDs(ctx)
	if err != nil || !linked[e.ObjectID] {
		return err
	}
	now, err := s.readState(ctx, e.ObjectID)
	if err == nil && (now.missing || !now.Active) {
		s.log.WarnContext(ctx, "a price is not sold: it is not active at the payment provider", "psp_price_id", e.ObjectID)
	}
	return err
}

// ProductEvent handles the provider's notifications about products: the prices of an
// inactive product cannot be sold.
func (s *Service) ProductEvent(ctx context.Context, e psp.Event) error {
	ids, err := s.store.pricesOfProduct(ctx, e.ObjectID)
	if err != nil {
		return err
	}
	_, err = s.readStates(ctx, ids)
	return err
}

// Refresh reads every linked price anew, in case a notification was lost.
func (s *Service) Refresh(ctx context.Context) error {
	linked, err := s.store.linkedIDs(ctx)
	if err != nil {
		return err
	}
	ids := make([]string, 0, len(linked))
	for id := range linked {
		ids = append(ids, id)
	}
	if _, err := s.readStates(ctx, ids); err != nil {
		return err
	}
	return s.store.deleteUnlinkedStates(ctx)
}
