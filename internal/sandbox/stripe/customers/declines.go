package customers

import (
	"errors"
	"net/http"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
)

// PaymentError is why a payment failed.
type PaymentError struct {
	Charge      string `json:"charge,omitempty"`
	Code        string `json:"code,omitempty"`
	DeclineCode string `json:"decline_code,omitempty"`
	Message     string `json:"message"`
	Type        string `json:"type"`
}

// Answer returns the refusal of a request that depends on the payment.
func (e *PaymentError) Answer() *form.Error {
	status := http.StatusPaymentRequired
	if e.Type != "card_error" {
		status = http.StatusBadRequest
	}
	return &form.Error{Type: e.Type, Code: e.Code, DeclineCode: e.DeclineCode, Message: e.Message, Status: status}
}

// DeclinedCard is the error of a card that the bank declines.
func DeclinedCard() *PaymentError {
	return &PaymentError{Code: "card_declined", DeclineCode: "generic_decline", Message: "Your card was declined.", Type: "card_error"}
}

// NoPaymentMethod is the error of a payment without anything to pay with.
func NoPaymentMethod() *PaymentError {
	return &PaymentError{
		Code: "resource_missing", Type: "invalid_request_error",
		Message: "This customer has no attached payment source or default payment method.",
	}
}

// ErrDeclined says that the bank declined a card on a hosted page.
var ErrDeclined = errors.New("the card was declined")
