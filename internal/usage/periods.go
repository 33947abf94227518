package usage

import (
	"time"

	"github.com/tenantry/tenantry/internal/usage/window"
)

type (
	// Period is a time in which usage counts.
	Period = window.Period
	// ResetInterval says when a meter starts over.
	ResetInterval = window.ResetInterval
	// IntervalUnit is the unit of a billing interval.
	IntervalUnit = window.IntervalUnit
	// Billing is what a subscription says about its billing periods.
	Billing = window.Billing
	// FormerBilling is what it said before.
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
