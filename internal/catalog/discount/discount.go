// Package discount manages promotion codes, their discounts and their redemptions (rules:
// catalog#discounts). The payment provider computes the discounts of invoices; this package decides
// who can redeem a code.
package discount

import (
	"math/big"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
)

// The durations of a discount.
const (
	Once      = "once"      // the first invoice above 0
	Repeating = "repeating" // the invoices of a number of months
	Forever   = "forever"
)

// Discount is a promotion code with its discount: a percentage or amounts in several currencies.
type Discount struct {
	ID   uuid.UUID
	Code string
	Name catalog.Text
	// PercentOff is in hundredths of a percent. It is nil for amounts.
	PercentOff        *int64
	Amounts           []Amount
	Duration          string
	Months            *int32      // only for Repeating
	PlanIDs           []uuid.UUID // empty for all plans
	FirstPurchaseOnly bool
	MaxRedemptions    *int64 // nil for no maximum
	MaxPerTenant      *int64
	StartsAt, EndsAt  *time.Time
	IsActive          bool
	Redemptions       int64
	PSPCodeID         string // the provider's promotion code; empty before the first use
	CreatedAt         time.Time
	UpdatedAt         time.Time
	DeletedAt         *time.Time
}

// Amount is the amount that a discount takes off in one currency.
type Amount struct {
	Currency    string `json:"currency"`     // ISO 4217
	AmountCents int64  `json:"amount_cents"` // in minor units
}

// wholePercent is 100 % in hundredths of a percent.
const wholePercent = 100_00

// AmountIn returns the amount in a currency, if there is one.
func (d Discount) AmountIn(currency string) (int64, bool) {
	for _, a := range d.Amounts {
		if a.Currency == currency {
			return a.AmountCents, true
		}
	}
	return 0, false
}

// Reduction returns the discount on an amount of a currency, in minor units. A percentage is rounded
// half up, once, to a multiple of step, which is the smallest amount that the provider can charge.
func (d Discount) Reduction(amount int64, currency string, step int64) int64 {
	if amount <= 0 {
		return 0
	}
	if d.PercentOff == nil {
		off, _ := d.AmountIn(currency)
		return min(off, amount)
	}
	share := new(big.Rat).SetFrac(big.NewInt(amount), big.NewInt(wholePercent*step))
	share.Mul(share, big.NewRat(*d.PercentOff, 1)).Add(share, big.NewRat(1, 2))
	return min(new(big.Int).Quo(share.Num(), share.Denom()).Int64()*step, amount)
}

// Covers reports whether the discount applies to a plan at a price above 0.
func (d Discount) Covers(planID uuid.UUID, priceCents int64) bool {
	return priceCents > 0 && (len(d.PlanIDs) == 0 || slices.Contains(d.PlanIDs, planID))
}

// WaivesAll reports whether the discount waives the whole amount of every invoice.
func (d Discount) WaivesAll() bool {
	return d.Duration == Forever && d.PercentOff != nil && *d.PercentOff == wholePercent
}

// EndsAfter returns the end of a Repeating discount that is redeemed at the given time. It returns
// nil for other discounts.
func (d Discount) EndsAfter(redeemed time.Time) *time.Time {
	if d.Duration != Repeating || d.Months == nil {
		return nil
	}
	next := redeemed.AddDate(0, int(*d.Months), 0)
	if next.Day() != redeemed.Day() { // the last day of a shorter month, as at the provider
		next = next.AddDate(0, 0, -next.Day())
	}
	return &next
}

// AppliesAt reports whether a discount that is redeemed at the time redeemed applies to a period
// that begins at the time period. It ignores that an invoice can use up the discount.
func (d Discount) AppliesAt(redeemed, period time.Time) bool {
	end := d.EndsAfter(redeemed)
	return end == nil || period.Before(*end)
}
