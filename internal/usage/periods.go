package usage

import (
	"time"

	"github.com/tenantry/tenantry/internal/usage/window"
)

// The periods in which usage counts are those of package window.
type (
	Period        = window.Period
	ResetInterval = window.ResetInterval
	IntervalUnit  = window.IntervalUnit
	Billing       = window.Billing
	FormerBilling = window.FormerBilling
)

// The reset intervals of meters.
const (
	Monthly = window.Monthly
	Weekly  = window.Weekly
	Daily   = window.Daily
	Never   = window.Never
)

// The units of billing intervals.
const (
	Day   = window.Day
	Week  = window.Week
	Month = window.Month
	Year  = window.Year
)

// AllTime spans the times that both databases and the API can hold.
func AllTime() Period { return window.AllTime() }

// PeriodOf returns the period in which an event recorded for the time at counts.
func PeriodOf(reset ResetInterval, b *Billing, at time.Time) Period {
	return window.PeriodOf(reset, b, at)
}
