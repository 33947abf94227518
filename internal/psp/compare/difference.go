package compare

import (
	"fmt"

	"github.com/google/uuid"
)

// Difference is a difference between the service and the provider.
type Difference struct {
	Of       DifferenceOf   `json:"of"`
	Kind     DifferenceKind `json:"kind"`
	TenantID uuid.UUID      `json:"tenant_id"`
	PSPID    string         `json:"psp_id"` // the provider's ID of the object
	// PSPCustomerID is the provider's ID of an unknown tenant's customer, otherwise "".
	PSPCustomerID string `json:"psp_customer_id,omitempty"`
	// Field is the name of the differing field, or "" if the whole object is missing. Here and
	// There are its values in this service and at the provider.
	Field string `json:"field,omitempty"`
	Here  string `json:"here,omitempty"`
	There string `json:"there,omitempty"`
	// Repaired means that the difference was removed or that a job will remove it.
	Repaired bool `json:"repaired"`
	// Reason is why the difference is left to the operator, or "" if it can be repaired.
	Reason string `json:"reason,omitempty"`
}

// DifferenceOf is the type of object that differs.
type DifferenceOf string

// The types of objects.
const (
	SubscriptionDifference DifferenceOf = "subscription"
	InvoiceDifference      DifferenceOf = "invoice"
	CreditNoteDifference   DifferenceOf = "credit_note"
)

// DifferenceKind is the kind of a difference.
type DifferenceKind string

// The kinds of differences.
const (
	// KindDiffers means that a field has another value at the provider. The service stores the
	// provider's value, except in an invoice that it issued.
	KindDiffers DifferenceKind = "differs"
	// KindMissingHere means that a tenant's subscription, invoice or credit note is missing in the
	// service, which then adopts or issues it.
	KindMissingHere DifferenceKind = "missing_here"
	// KindMissingThere means that the object does not exist at the provider. The service ends a
	// subscription, and keeps an invoice that it issued.
	KindMissingThere DifferenceKind = "missing_there"
	// KindStillRunning means that a subscription has ended in the service but not at the provider.
	// If it was replaced, it is canceled at the provider. Otherwise it is left to the operator.
	KindStillRunning DifferenceKind = "still_running"
	// KindNotTakenOver means that the service cannot store a subscription because of its plan,
	// currency or status, or because the tenant has another subscription. It is left to the
	// operator.
	KindNotTakenOver DifferenceKind = "not_taken_over"
	// KindUnknownTenant means that a subscription that is not over was bought in the service, but
	// its tenant does not exist in the database, for example because a backup was restored. It is
	// left to the operator.
	KindUnknownTenant DifferenceKind = "unknown_tenant"
)

// String returns the difference in one line.
func (d Difference) String() string {
	line := fmt.Sprintf("%s: %s %s of tenant %s", d.Kind, d.Of, d.PSPID, d.TenantID)
	if d.PSPCustomerID != "" {
		line += " and customer " + d.PSPCustomerID
	}
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
