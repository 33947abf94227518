package customers

import (
	"errors"
	"net/http"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// PaymentError is the reason why a payment failed.
type PaymentError struct {
	Charge      string `json:"charge,omitempty"`
	Code        string `json:"code,omitempty"`
	DeclineCode string `json:"decline_code,omitempty"`
	Message     string `json:"message"`
	Type        string `json:"type"`
}

// The object that a request pays. The codes of payment errors contain it.
const (
	PaysInvoice      = "invoice"
	PaysSubscription = "subscription"
)

// unconfirmed is the code of a payment that can still succeed after the payer confirms it.
const unconfirmed = "authentication_required"

// RequiresAction reports whether the payment can still succeed after the payer confirms it.
func (e *PaymentError) RequiresAction() bool { return e.Code == unconfirmed }

// Answer returns the error response for a request that depends on the payment. what names the paid
// object: PaysInvoice or PaysSubscription.
func (e *PaymentError) Answer(what string) *form.Error {
	refused := &form.Error{Type: e.Type, Code: e.Code, DeclineCode: e.DeclineCode, Message: e.Message, Status: http.StatusPaymentRequired}
	switch {
	case e.RequiresAction():
		refused.Code, refused.DeclineCode = what+"_payment_intent_requires_action", ""
		refused.Message = "This payment requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with the " + what + "."
	case e.Type != "card_error":
		refused.Status = http.StatusBadRequest
	}
	return refused
}

// NewUnconfirmedError returns the error for a payment that the payer has to confirm.
func NewUnconfirmedError() *PaymentError {
	return &PaymentError{Code: unconfirmed, DeclineCode: unconfirmed, Type: "card_error", Message: "Your card was declined. This transaction requires authentication."}
}

// NewAuthenticationError returns the error for a payment that the payer refused to confirm.
func NewAuthenticationError() *PaymentError {
	return &PaymentError{
		Code: "payment_intent_authentication_failure", Type: "card_error",
		Message: "We are unable to authenticate your payment method. Please choose a different payment method and try again.",
	}
}

// NewDeclinedError returns the error for a card that the bank declines.
func NewDeclinedError() *PaymentError {
	return &PaymentError{Code: "card_declined", DeclineCode: "generic_decline", Message: "Your card was declined.", Type: "card_error"}
}

// NewNoPaymentMethodError returns the error for a payment without a payment method.
func NewNoPaymentMethodError() *PaymentError {
	return &PaymentError{
		Code: "resource_missing", Type: "invalid_request_error",
		Message: "This customer has no attached payment source or default payment method.",
	}
}

// Errors of a card payment on a hosted page.
var (
	// ErrDeclined means that the bank declined the card.
	ErrDeclined = errors.New("the card was declined")
	// ErrUnconfirmed means that the cardholder has to confirm the payment first.
	ErrUnconfirmed = errors.New("the payment is not confirmed")
	// ErrNotAuthenticated means that the cardholder refused to confirm the payment.
	ErrNotAuthenticated = errors.New("the payment was not confirmed")
)
