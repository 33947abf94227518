package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// operation is a request to the provider that is stored until it is settled.
type operation[R any] struct {
	Key     uuid.UUID // the idempotency key
	Request R
	// Repeated says that it was begun before: the provider may have heard it.
	Repeated bool
}

// begin returns the open operation on a target if it fits what is wanted, else
// opens one for that in its place. It must run in a transaction of a change.
func begin[R any](
	ctx context.Context, s store, now time.Time, target uuid.UUID, wanted R, fits func(open, wanted R) bool,
) (operation[R], error) {
	row, err := s.q(ctx).PSPOperation(ctx, target)
	if err != nil && !errors.Is(err, sqldb.ErrNoRows) {
		return operation[R]{}, fmt.Errorf("read operation: %w", err)
	}
	if err == nil {
		var open R
		if err := json.Unmarshal(row.Request, &open); err != nil {
			return operation[R]{}, fmt.Errorf("operation %s: %w", row.Key, err)
		}
		if fits(open, wanted) {
			return operation[R]{Key: row.Key, Request: open, Repeated: true}, nil
		}
	}
	text, err := json.Marshal(wanted)
	if err != nil {
		return operation[R]{}, err
	}
	op := operation[R]{Key: sqldb.NewID(), Request: wanted}
	err = s.q(ctx).BeginPSPOperation(ctx, catalogsql.BeginPSPOperationParams{
		TargetID: target, Key: op.Key, Request: text, CreatedAt: now,
	})
	return op, err
}

// endOperation closes an operation, if another one has not taken its place.
func (s store) endOperation(ctx context.Context, target, key uuid.UUID) error {
	return s.q(ctx).EndPSPOperation(ctx, catalogsql.EndPSPOperationParams{TargetID: target, Key: key})
}
