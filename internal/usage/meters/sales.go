package meters

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// PricesSoldAt returns what usage plans sold in a currency at a time besides their own price:
// the provider's price of each meter that was billed (rules: usage#new-prices).
func (s *Service) PricesSoldAt(ctx context.Context, currency string, at time.Time) (map[uuid.UUID]string, error) {
	return s.store.readSales(ctx, currency, at)
}

// MetersOf returns the meters behind prices of the provider, whether they are linked now
// or were before. A price that never was is left out.
func (s *Service) MetersOf(ctx context.Context, pspPriceIDs []string) (map[string]uuid.UUID, error) {
	found := make(map[string]uuid.UUID, len(pspPriceIDs))
	for _, price := range pspPriceIDs {
		id, err := s.store.meterOfPrice(ctx, price)
		if errors.Is(err, errNeverLinked) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found[price] = id
	}
	return found, nil
}

// CodeOf returns the code of a meter, also of a deleted one.
func (s *Service) CodeOf(ctx context.Context, id uuid.UUID) (string, error) {
	return s.store.codeOf(ctx, id)
}
