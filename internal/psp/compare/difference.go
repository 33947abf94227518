package compare

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
	// Field is what differs, "" where the whole object is missing. Here and There are
	// its values here and at the provider.
	Field string `json:"field,omitempty"`
	Here  string `json:"here,omitempty"`
	There string `json:"there,omitempty"`
	// Repaired says that the difference was removed, or that a job will remove it.
	Repaired bool `json:"repaired"`
	// Reason says why the difference is left to the operator; "" if it can be
	// repaired.
	Reason string `json:"reason,omitempty"`
}

// DifferenceOf is the sort of object that differs.
type DifferenceOf string

// What is compared.
const (
	SubscriptionDifference DifferenceOf = "subscription"
	InvoiceDifference      DifferenceOf = "invoice"
)

// DifferenceKind says what sort of difference it is.
type DifferenceKind string

// The kinds of differences.
const (
	// KindDiffers is a field with another value at the provider. That value is taken
	// over, except in an invoice that was issued here.
	KindDiffers DifferenceKind = "differs"
	// KindMissingHere is a subscription or an invoice of a tenant that is not known here.
	// It is adopted, or issued.
	KindMissingHere DifferenceKind = "missing_here"
	// KindMissingThere is unknown to the provider: a subscription that runs here, which
	// then ends, or an invoice, which stays if it was issued here.
	KindMissingThere DifferenceKind = "missing_there"
	// KindStillRunning is a subscription that has ended here and not at the provider. It
	// is canceled there if it was replaced, and otherwise left to the operator.
	KindStillRunning DifferenceKind = "still_running"
	// KindNotTakenOver is a subscription that cannot exist here, because of its plan,
	// currency or status, or because the tenant has another. It is left to the
	// operator.
	KindNotTakenOver DifferenceKind = "not_taken_over"
)

// String returns the difference in one line.
func (d Difference) String() string {
	line := fmt.Sprintf("%s: %s %s of tenant %s", d.Kind, d.Of, d.PSPID, d.TenantID)
	if d.Field != "" {
		line += fmt.Sprintf(": %s is %s here, %s there", d.Field, textOrNone(d.Here), textOrNone(d.There))
	}
	switch {
	case d.Repaired:
		line += " (repaired)"
	case d.Reason != "":
		line += " (not repaired: " + d.Reason + ")"
	}
	return line
}

func textOrNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}
