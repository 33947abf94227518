package testkit

import (
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// Clock is a clock that stands still until it is set.
type Clock = clock.Fixed

// NewClock returns a Clock that is set to now.
func NewClock(now time.Time) *Clock { return clock.NewFixed(now) }
