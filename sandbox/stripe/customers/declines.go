package customers

import (
	"errors"
	"net/http"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// PaymentError is why a payment failed.
type PaymentError struct {
	Charge      string `json:"charge,omitempty"`
	Code        string `json:"code,omitempty"`
	DeclineCode string `json:"decline_code,omitempty"`
	Message     string `json:"message"`
	Type        string `json:"type"`
}

// What a request pays, as the codes of its refusal name it.
const (
	PaysInvoice      = "invoice"
	PaysSubscription = "subscription"
)

// unconfirmed is the code of a payment that is not lost: it waits for its payer.
const unconfirmed = "authentication_required"

// Waits reports whether the payment can still succeed, once its payer confirms
// it.
func (e *PaymentError) Waits() bool { return e.Code == unconfirmed }

// Answer returns the refusal of a request that depends on the payment. what says
// which request that is: PaysInvoice or PaysSubscription.
func (e *PaymentError) Answer(what string) *form.Error {
	refused := &form.Error{Type: e.Type, Code: e.Code, DeclineCode: e.DeclineCode, Message: e.Message, Status: http.StatusPaymentRequired}
	switch {
	case e.Waits():
		refused.Code, refused.DeclineCode = what+"_payment_intent_requires_action", ""
		refused.Message = "This payment requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with the " + what + "."
	case e.Type != "card_error":
		refused.Status = http.StatusBadRequest
	}
	return refused
}

// UnconfirmedPayment is the error of a payment that its payer has to confirm.
func UnconfirmedPayment() *PaymentError {
	return &PaymentError{Code: unconfirmed, DeclineCode: unconfirmed, Type: "card_error", Message: "Your card was declined. This transaction requires authentication."}
}

// FailedAuthentication is the error of a payment that its payer refused to
// confirm.
func FailedAuthentication() *PaymentError {
	return &PaymentError{
		Code: "payment_intent_authentication_failure", Type: "card_error",
		Message: "We are unable to authenticate your payment method. Please choose a different payment method and try again.",
	}
}

// NewDeclinedError is the error of a card that the bank declines.
func NewDeclinedError() *PaymentError {
	return &PaymentError{Code: "card_declined", DeclineCode: "generic_decline", Message: "Your card was declined.", Type: "card_error"}
}

// NoPaymentMethod is the error of a payment without anything to pay with.
func NoPaymentMethod() *PaymentError {
	return &PaymentError{
		Code: "resource_missing", Type: "invalid_request_error",
		Message: "This customer has no attached payment source or default payment method.",
	}
}

// What can go wrong with a card on a hosted page.
var (
	// ErrDeclined says that the bank declined the card.
	ErrDeclined = errors.New("the card was declined")
	// ErrUnconfirmed says that the owner of the card has to confirm the payment
	// first.
	ErrUnconfirmed = errors.New("the payment is not confirmed")
	// ErrNotAuthenticated says that the owner of the card refused to confirm.
	ErrNotAuthenticated = errors.New("the payment was not confirmed")
)
