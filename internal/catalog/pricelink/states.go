package pricelink

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tenantry/tenantry/internal/psp"
)

// state is the last known state of a provider price.
type state struct {
	psp.Price      // zero if missing
	missing   bool // the price does not exist at the provider
}

// lookTimeout limits the time for reading unknown prices in a list of plans.
const lookTimeout = 5 * time.Second

// readState reads a provider price and stores its state.
//
// Invariant: if a price is read twice concurrently, the state of the read that started later is
// stored.
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

// readStates reads provider prices concurrently. It returns the prices that could be read, and the
// first error.
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

// PriceEvent handles the provider's price events. It reads the current state of the price, which
// decides whether linked plans can be sold.
func (s *Service) PriceEvent(ctx context.Context, e psp.Event) error {
	linked, err := s.store.linkedIDs(ctx)
	if err != nil || !linked[e.ObjectID] {
		return err
	}
	now, err := s.readState(ctx, e.ObjectID)
	if err == nil && (now.missing || !now.Active) {
		s.log.WarnContext(ctx, "price not available: inactive at the payment provider", "psp_price_id", e.ObjectID)
	}
	return err
}

// ProductEvent handles the provider's product events. Prices of an inactive product cannot be sold.
func (s *Service) ProductEvent(ctx context.Context, e psp.Event) error {
	ids, err := s.store.pricesOfProduct(ctx, e.ObjectID)
	if err != nil {
		return err
	}
	_, err = s.readStates(ctx, ids)
	return err
}

// Refresh reads every linked price again, in case an event was lost.
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
