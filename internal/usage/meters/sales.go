package meters

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// PricesSoldAt returns the metered prices that usage plans sell in a currency at the given time:
// the provider's price of each billed meter (rules: usage#new-prices).
func (s *Service) PricesSoldAt(ctx context.Context, currency string, at time.Time) (map[uuid.UUID]string, error) {
	return s.store.readSales(ctx, currency, at)
}

// MetersOf returns the meters that are or were linked to prices of the provider. Prices that were
// never linked are missing.
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

// CodeOf returns the code of a meter, even a deleted one.
func (s *Service) CodeOf(ctx context.Context, id uuid.UUID) (string, error) {
	return s.store.codeOf(ctx, id)
}
