package money

// Payment action types.
const (
	ActionConfirm = "confirm" // confirm the payment at the bank (3-D Secure)
	ActionPay     = "pay"     // pay with another method
	// ActionAddCard adds a payment method before a trial ends.
	ActionAddCard = "add_card"
)

// PaymentAction is the action that the payer must take, with the page for it: the payment provider's
// page of an invoice, where anyone with the link can pay, or the frontend's billing page for
// ActionAddCard. The zero value means that no action is required.
type PaymentAction struct {
	Type string `json:"type" enum:"confirm,pay,add_card"`
	URL  string `json:"url" format:"uri"`
}

// OrNil returns nil for the zero value.
func (a PaymentAction) OrNil() *PaymentAction {
	if a == (PaymentAction{}) {
		return nil
	}
	return &a
}
