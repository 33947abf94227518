package pricelink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// operation is a write to the provider that is stored until its result is known. P is the type of
// its parameters.
type operation[P any] struct {
	Key    uuid.UUID // idempotency key
	Params P
	// Repeated reports whether the operation was started earlier, so that the provider may have
	// executed it.
	Repeated bool
}

// openOperation returns the open operation on target if its parameters match wanted. Otherwise it
// replaces the open operation with a new one. It must run under the catalog lock.
func openOperation[P any](
	ctx context.Context, s store, now time.Time, target uuid.UUID, wanted P, fits func(open, wanted P) bool,
) (operation[P], error) {
	key, stored, err := s.operation(ctx, target)
	switch {
	case err == nil:
		var open P
		if err := json.Unmarshal(stored, &open); err != nil {
			return operation[P]{}, fmt.Errorf("operation %s: %w", key, err)
		}
		if fits(open, wanted) {
			return operation[P]{Key: key, Params: open, Repeated: true}, nil
		}
	case !errors.Is(err, errNoOperation):
		return operation[P]{}, err
	}
	params, err := json.Marshal(wanted)
	if err != nil {
		return operation[P]{}, err
	}
	op := operation[P]{Key: sqldb.NewID(), Params: wanted}
	return op, s.beginOperation(ctx, target, op.Key, params, now)
}
