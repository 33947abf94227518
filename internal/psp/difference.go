package psp

import (
	"fmt"

	"github.com/google/uuid"
)

// Difference is one thing that is not the same here and at the provider.
type Difference struct {
	Of       DifferenceOf   `json:"of"`
	Kind     DifferenceKind `json:"kind"`
	TenantID uuid.UUID      `json:"tenant_id"`
	PSPID    string         `json:"psp_id"` // the provider's subscription or invoice
	// Field is what differs, "" where the whole is missing; Here and There are its
	// values, There the provider's.
	Field string `json:"field,omitempty"`
	Here  string `json:"here,omitempty"`
	There string `json:"there,omitempty"`
	// Repaired tells that it was there and is no more, or that a job sees to it.
	Repaired bool `json:"repaired"`
	// Reason is why it is left to the operator, "" for what can be repaired.
	Reason string `json:"reason,omitempty"`
}

// DifferenceOf says what differs.
type DifferenceOf string

// What is compared.
const (
	OfSubscription DifferenceOf = "subscription"
	OfInvoice      DifferenceOf = "invoice"
)

// DifferenceKind says what sort of difference it is.
type DifferenceKind string

// The kinds of differences.
const (
	// Differs is a field that is another at the provider; it is taken over, but
	// for what an issued invoice says.
	Differs DifferenceKind = "differs"
	// MissingHere is a tenant's subscription or invoice that is not known here; it
	// is adopted, or issued.
	MissingHere DifferenceKind = "missing_here"
	// MissingThere is what the provider does not know: a subscription that runs
	// here, which ends, or an invoice, which stays if it was issued here.
	MissingThere DifferenceKind = "missing_there"
	// StillRunning is a subscription that is over here and not at the provider. If
	// it was replaced it is canceled there; else it is left to the operator.
	StillRunning DifferenceKind = "still_running"
	// NotTakenOver is a subscription that cannot be one here: of a plan, currency
	// or status that means nothing here, or the tenant's second. It is left to the
	// operator.
	NotTakenOver DifferenceKind = "not_taken_over"
)

// String is the difference in one line.
func (d Difference) String() string {
	line := fmt.Sprintf("%s: %s %s of tenant %s", d.Kind, d.Of, d.PSPID, d.TenantID)
	if d.Field != "" {
		line += fmt.Sprintf(": %s is %s here, %s there", d.Field, orNone(d.Here), orNone(d.There))
	}
	switch {
	case d.Repaired:
		line += " (repaired)"
	case d.Reason != "":
		line += " (not repaired: " + d.Reason + ")"
	}
	return line
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}
