package sandbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/tenantry/tenantry/sandbox/clock"
)

// settingsTable exists in every sandbox from its first start.
const settingsTable = "sandbox_settings"

const settingsSchema = `CREATE TABLE IF NOT EXISTS ` + settingsTable + ` (key TEXT PRIMARY KEY, value INTEGER NOT NULL)`

// offsetKey is the setting with the offset of the clock, in nanoseconds.
const offsetKey = "clock_offset"

// The reasons why a move of the clock is refused.
var (
	errNotAhead = errors.New("time only moves forward")
	errTooFar   = errors.New("the time is too far in the future")
)

// timekeeper moves the clock and stores its offset.
type timekeeper struct {
	db    *sql.DB
	clock *clock.Adjustable
	mu    sync.Mutex // held during a move
}

func newTimekeeper(ctx context.Context, db *sql.DB, base clock.Clock) (*timekeeper, error) {
	if _, err := db.ExecContext(ctx, settingsSchema); err != nil {
		return nil, fmt.Errorf("create settings: %w", err)
	}
	var offset time.Duration
	err := db.QueryRowContext(ctx, `SELECT value FROM sandbox_settings WHERE key = ?`, offsetKey).Scan(&offset)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	return &timekeeper{db: db, clock: clock.NewAdjustable(base, offset)}, nil
}

// advance moves the clock forward by d. It returns the new time after all listeners of the clock
// have returned. It returns errNotAhead or errTooFar if d is invalid.
func (k *timekeeper) advance(ctx context.Context, d time.Duration) (time.Time, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.move(ctx, d)
}

// advanceTo moves the clock forward to a time, like advance.
func (k *timekeeper) advanceTo(ctx context.Context, to time.Time) (time.Time, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.move(ctx, to.Sub(k.clock.Now()))
}

// move stores the new offset before it takes effect: timestamps that the service then stores must
// not be in the future after a restart.
func (k *timekeeper) move(ctx context.Context, d time.Duration) (time.Time, error) {
	offset := k.clock.Offset()
	switch {
	case d <= 0:
		return time.Time{}, errNotAhead
	case d > math.MaxInt64-1-offset: // time.Time.Sub returns MaxInt64 for longer durations
		return time.Time{}, errTooFar
	}
	_, err := k.db.ExecContext(ctx, `
		INSERT INTO sandbox_settings (key, value) VALUES (?, ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value`, offsetKey, int64(offset+d))
	if err != nil {
		return time.Time{}, fmt.Errorf("keep the clock: %w", err)
	}
	return k.clock.Advance(d), nil
}
