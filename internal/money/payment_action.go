package money

// The types of payment actions.
const (
	ActionConfirm = "confirm" // confirm the payment at the bank (3-D Secure)
	ActionPay     = "pay"     // pay in another way
)

// PaymentAction is what a person has to do so that an invoice is paid, and the payment
// provider's page for it; zero for nothing. Anyone who has the link can pay.
type PaymentAction struct {
	Type string `json:"type" enum:"confirm,pay"`
	URL  string `json:"url" format:"uri"`
}

// OrNil returns nil for nothing.
func (a PaymentAction) OrNil() *PaymentAction {
	if a == (PaymentAction{}) {
		return nil
	}
	return &a
}
