package lastused

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestRecorder(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)
	minute := noon.Truncate(time.Minute)
	var failure error
	stored := map[uuid.UUID][]time.Time{}
	r := New(func(_ context.Context, id uuid.UUID, at time.Time) error {
		if failure == nil {
			stored[id] = append(stored[id], at)
		}
		return failure
	}, nil)
	one, other := uuid.New(), uuid.New()
	for range 3 {
		r.Add(one, nil, noon)
	}
	r.Add(other, &minute, noon) // already stored
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Run(ctx); err != nil { // stores the pending times before it returns
		t.Fatal(err)
	}
	if len(stored) != 1 || len(stored[one]) != 1 || !stored[one][0].Equal(minute) {
		t.Errorf("stored %v", stored)
	}
	failure = errors.New("down")
	r.Add(other, &minute, noon.Add(time.Minute))
	r.flush(t.Context())
	if failure = nil; len(stored[other]) != 0 {
		t.Errorf("stored %v", stored)
	}
	r.Add(other, &minute, noon.Add(time.Minute))
	r.flush(t.Context())
	if len(stored[other]) != 1 {
		t.Errorf("stored %v", stored)
	}
}
