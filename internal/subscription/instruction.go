package subscription

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
)

// The kinds of operations, as they are stored.
const (
	opCancel    = "cancel"     // at the end of the period
	opCancelNow = "cancel_now" // immediately
	opResume    = "resume"
	opChange    = "change"   // changes the plan
	opDrop      = "drop"     // drops a pending change
	opQuantity  = "quantity" // changes the number of seats
	opMetered   = "metered"  // changes the metered items
	opRecharge  = "recharge" // charges again a pending credit that was never paid for
	opTrialEnd  = "trial_end"
	opTerms     = "terms"          // changes the terms of payment
	opDiscount  = "discount"       // replaces or removes the discount
	opReapply   = "discount_again" // applies again a discount that the invoice of a trial used up

	opSchedule   = "schedule"   // schedules a change for the end of the period
	opReschedule = "reschedule" // sets a scheduled change again after the subscription changed
	opUnschedule = "unschedule" // removes a scheduled change
	opLapse      = "lapse"      // drops a scheduled change because the usage exceeds its plan
	opRelease    = "release"    // releases a schedule without a further phase
)

// usageSettled is the value of instruction.Usage. Package billing looks for it.
const usageSettled = "settled"

// instruction is a write to the provider. It is stored verbatim so that a retry sends the same
// request.
type instruction struct {
	Kind   string  `json:"kind"`
	Reason *string `json:"reason,omitempty"` // why the subscription is canceled
	// PlanID to TrialEnd belong to a change of plan. Quantity and ItemID are also set for a change
	// of seats.
	PlanID        uuid.UUID `json:"plan_id,omitzero"`
	Quantity      int64     `json:"quantity,omitzero"`
	ItemID        string    `json:"item_id,omitzero"`
	PriceID       string    `json:"price_id,omitzero"`
	ProrationDate time.Time `json:"proration_date,omitzero"`
	Unprorated    bool      `json:"unprorated,omitzero"`
	UnpaidCredit  int64     `json:"unpaid_credit,omitzero"`
	ProductID     string    `json:"product_id,omitzero"`
	PaysOwed      bool      `json:"pays_owed,omitzero"` // the owed invoices are paid first, or no change is made
	TrialEnd      time.Time `json:"trial_end,omitzero"` // of opTrialEnd: zero ends the trial now
	// ForCustomer means that the platform changes the plan for a customer who is absent.
	ForCustomer bool `json:"for_customer,omitzero"`
	// Usage is usageSettled while the operation settles the tenant's usage. Meanwhile no usage can
	// be recorded.
	Usage string `json:"usage,omitempty"`
	// ShownUsage is the only usage amount that a change of plan can charge. Nil allows any amount.
	ShownUsage *int64 `json:"shown_usage,omitempty"`
	// Departures counts the members who had left when the instruction was checked. Once the
	// operation is done, their seats are no longer billed.
	Departures int64 `json:"departures,omitzero"`
	// Metered lists the metered items to change, either with a change of plan or for the period
	// that starts at Period.
	Metered []psp.MeteredChange `json:"metered,omitempty"`
	Period  time.Time           `json:"period,omitzero"`
	// Terms and PaymentMethodID belong to opTerms.
	Terms           *Terms `json:"terms,omitempty"`
	PaymentMethodID string `json:"payment_method_id,omitempty"`
	// DiscountID is the discount that opDiscount and opChange redeem. PSPCodeID is the provider's
	// promotion code. DropsDiscount removes the current discount.
	DiscountID    uuid.UUID `json:"discount_id,omitzero"`
	PSPCodeID     string    `json:"psp_code_id,omitempty"`
	DropsDiscount bool      `json:"drops_discount,omitempty"`
	// Scheduled is the change that opSchedule and opReschedule set, and that opTrialEnd moves.
	// Interval is the interval of its price, and Metered has its metered prices.
	Scheduled *scheduledChange `json:"scheduled,omitempty"`
	Interval  catalog.Interval `json:"interval,omitzero"`
}

// isKind returns a predicate for instructions of one kind.
func isKind(kind string) func(instruction) bool {
	return func(in instruction) bool { return in.Kind == kind }
}

// change converts the instruction to the provider's parameters.
func (op operation) change() psp.Change {
	return psp.Change{
		SubscriptionID: op.before.PSPSubscriptionID, ItemID: op.ItemID, PriceID: op.PriceID, Quantity: op.Quantity,
		ProrationDate: op.ProrationDate, Unprorated: op.Unprorated, TrialEnd: op.TrialEnd, KeepsPrice: op.isSeatsOnly(),
		IsSent: op.before.Terms.IsSent(), Metered: op.Metered, UnpaidCredit: op.UnpaidCredit, ProductID: op.ProductID, Currency: op.before.Currency, PeriodEnd: op.before.CurrentPeriodEnd,
		PromotionCodeID: op.PSPCodeID, RemovesDiscount: op.DropsDiscount,
	}
}
