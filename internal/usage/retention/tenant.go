package retention

import (
	"context"

	"github.com/google/uuid"
)

// PurgeTenant deletes the usage of a purged tenant, in chunks and without archiving it. If
// interrupted, it can be called again.
func (r *Pruner) PurgeTenant(ctx context.Context, id uuid.UUID) error {
	for _, chunk := range []func(context.Context, uuid.UUID, int32) (int64, error){
		r.store.deleteEventsOfTenant, r.store.deleteKeysOfTenant,
	} {
		for n := int64(chunkSize); n == chunkSize; {
			var err error
			if n, err = chunk(ctx, id, chunkSize); err != nil {
				return err
			}
		}
	}
	return r.store.deleteFiguresOfTenant(ctx, id)
}
