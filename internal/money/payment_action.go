package money

// Payment action types.
const (
	ActionConfirm = "confirm" // confirm the payment at the bank (3-D Secure)
	ActionPay     = "pay"     // pay with another method
)

// PaymentAction is the action that the payer must take to pay an invoice, with the payment
// provider's page for it. The zero value means that no action is required. Anyone with the link can
// pay.
type PaymentAction struct {
	Type string `json:"type" enum:"confirm,pay"`
	URL  string `json:"url" format:"uri"`
}

// OrNil returns nil for the zero value.
func (a PaymentAction) OrNil() *PaymentAction {
	if a == (PaymentAction{}) {
		return nil
	}
	return &a
}
