package psp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp/charge"
)

// ErrUnavailable is every failure of a call: 502 psp_error to an HTTP caller
// (rules: psp#failures). It carries its cause for the log, without secrets. The
// causes ErrNotFound, ErrRefused and ErrDeclined can be told apart with errors.Is.
var ErrUnavailable = fault.NewCoded(fault.Provider, fault.PSPError)

// ErrBusy is the failure of a call that the provider did not take because there are too
// many: 429 to an HTTP caller, with Retry-After (rules: psp#failures). Nothing happened.
var ErrBusy = &fault.Error{Kind: fault.TooMany, Message: "error.too_many_requests", RetryAfter: busyPause}

// busyPause is how long callers are asked to wait where the provider does not say, which
// is its custom: its limits are counted by the second.
const busyPause = 2 * time.Second

// busyMost bounds how long callers are asked to wait.
const busyMost = time.Minute

// ErrPortalUnset is the cause when nobody has saved the settings of the billing portal
// in the provider's account yet. It is an ErrRefused too.
var ErrPortalUnset = fmt.Errorf("%w: its billing portal has no settings", ErrRefused)

// ErrNotFound is the cause when an object that the call names does not exist at the
// provider.
var ErrNotFound = errors.New("no such object at the provider")

// ErrNothingUpcoming is the cause when an invoice is to be previewed, and nothing will be
// billed. It is an ErrNotFound too.
var ErrNothingUpcoming = fmt.Errorf("%w: nothing will be billed", ErrNotFound)

// ErrRefused is the cause when the provider understood the call and will never
// accept it, because of a defect or a wrong setting of this service. Repeating the
// call is pointless.
var ErrRefused = errors.New("the provider refused the request")

// ErrCurrency is the cause when the provider's account does not support the currency. It is
// an ErrRefused too.
var ErrCurrency = fmt.Errorf("%w: its account does not support the currency", ErrRefused)

// ErrTooSmall is the cause when the amount is below the provider's minimum. It is an
// ErrRefused too.
var ErrTooSmall = fmt.Errorf("%w: the amount is below its minimum", ErrRefused)

// errDenied is the cause when the provider does not accept the key, or the key may not do
// what was asked. An operator can mend that, so it is no ErrRefused: who can wait tries
// again. It tells nothing of an earlier attempt, so that callers take it for an outage.
var errDenied = errors.New("the provider does not accept the key, or the key may not do this")

// errUnknownRoute is the cause when the provider does not have the URL of a call: a defect
// here, a wrong address, or a sandbox that lacks the route. It says nothing about the
// object, so it is neither ErrNotFound nor ErrRefused: work that depends on the call waits.
var errUnknownRoute = errors.New("the provider does not know the URL of the request")

// ErrDeclined is the cause when a payment was declined, or needs an action of the
// payer. Nothing was paid and nothing was changed.
var ErrDeclined = errors.New("the payment was declined")

// ErrActionRequired is a cause beside ErrDeclined: the payer can still confirm (3-D Secure).
var ErrActionRequired = errors.New("the payer has to confirm the payment")

// MarkPermanent marks permanent errors as jobs.Fatal: the provider does not have the
// object, or will never accept the call. Other errors are returned as they are.
func MarkPermanent(err error) error {
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrRefused) {
		return jobs.MarkFatal(err)
	}
	return err
}

// errUnreadable stands for an answer that ends early or is not the provider's JSON.
// The answer's text stays out of logs, since it could repeat secrets of the call.
var errUnreadable = errors.New("the answer cannot be read as the provider's")

// codeNotFound is the code of a missing object in the second version of the API.
const codeNotFound stripe.ErrorCode = "not_found"

// verdict is what a call shows about the provider's health.
type verdict uint8

const (
	answered verdict = iota // it works, whatever the answer is
	outage                  // it does not work
	unknown                 // the caller gave up first
)

// String names a verdict for metrics.
func (v verdict) String() string { return [...]string{"answered", "outage", "abandoned"}[v] }

func classifyCall(ctx context.Context, err error) verdict {
	var e *stripe.Error
	switch {
	case err == nil, charge.IsLookup(err):
		return answered
	case errors.As(err, &e) && e.HTTPStatusCode < http.StatusInternalServerError, isReplayed(err):
		return answered
	case e == nil && errors.Is(ctx.Err(), context.Canceled):
		return unknown
	default:
		return outage
	}
}

// worthRetrying reports whether the same call may succeed in a moment. Every call
// can be repeated safely: writes carry idempotency keys.
func worthRetrying(err error) bool {
	if err == nil || charge.IsLookup(err) {
		return false
	}
	var e *stripe.Error
	if !errors.As(err, &e) {
		return true // the connection, or an answer from something in between
	}
	if isReplayed(err) {
		return false // the same key gets the same answer
	}
	if e.LastResponse != nil {
		switch e.LastResponse.Header.Get("Stripe-Should-Retry") {
		case "true":
			return true
		case "false":
			return false
		}
	}
	switch {
	case e.HTTPStatusCode >= http.StatusInternalServerError, e.HTTPStatusCode == http.StatusConflict:
		return true
	default:
		// Of the refusals for too many requests only a busy object passes quickly.
		return e.Code == stripe.ErrorCodeLockTimeout
	}
}

// refusable marks the context of a call that the provider may refuse although neither this
// service nor its settings are wrong.
type refusable struct{}

// failure returns the error that callers get for what went wrong in a call; op says
// what the call was doing.
func (c *Client) failure(ctx context.Context, op string, err error) error {
	cause := c.cause(err)
	switch {
	case errors.Is(cause, errDenied):
		c.log.ErrorContext(ctx, "the payment provider does not take the key: nothing is billed until that is mended",
			"operation", op, "error", cause)
	case errors.Is(cause, errUnknownRoute):
		c.log.ErrorContext(ctx, "the payment provider does not know the URL of a request: check its address, or update this program",
			"operation", op, "error", cause)
	case errors.Is(cause, ErrRefused) && ctx.Value(refusable{}) == nil:
		c.log.ErrorContext(ctx, "the payment provider refused a request: a defect here or a wrong setting",
			"operation", op, "error", cause)
	}
	return wrapUnavailable(op, err, cause)
}

// wrapUnavailable returns ErrBusy where the provider refused err's call because there are
// too many, and ErrUnavailable otherwise, around its cause. An error of this service's own
// stays what it is.
func wrapUnavailable(op string, err, cause error) error {
	if charge.IsLookup(err) {
		return fmt.Errorf("%s: %w", op, err)
	}
	cause = fmt.Errorf("%s: %w", op, cause)
	if e, ok := errors.AsType[*stripe.Error](err); ok && e.HTTPStatusCode == http.StatusTooManyRequests {
		busy := ErrBusy.Wrap(cause)
		busy.RetryAfter = retryAfter(e)
		return busy
	}
	return ErrUnavailable.Wrap(cause)
}

// retryAfter returns how long the provider asks to wait.
func retryAfter(e *stripe.Error) time.Duration {
	if e.LastResponse == nil {
		return busyPause
	}
	seconds, err := strconv.Atoi(e.LastResponse.Header.Get("Retry-After"))
	if err != nil || seconds <= 0 {
		return busyPause
	}
	return min(time.Duration(seconds)*time.Second, busyMost)
}

// isPortalUnset tells by its message that the portal has no settings: there is no code.
func isPortalUnset(e *stripe.Error) bool {
	return e.HTTPStatusCode == http.StatusBadRequest &&
		(strings.Contains(e.Msg, "default configuration has not been created") || strings.Contains(e.Msg, "customer portal settings"))
}

// isCurrencyUnsupported recognizes the refusal of a currency by its parameter and message:
// "Invalid currency: tnd. Stripe accounts in US do not support tnd. …" has no code.
func isCurrencyUnsupported(e *stripe.Error) bool {
	return e.HTTPStatusCode == http.StatusBadRequest && strings.HasPrefix(e.Msg, "Invalid currency:")
}

func (c *Client) cause(err error) error {
	var e *stripe.Error
	if errors.As(err, &e) {
		return c.errorText(e)
	}
	var transport *url.Error
	switch {
	case errors.As(err, &transport):
		return transport // method, address and reason
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, circuitbreaker.ErrOpen):
		return err
	case errors.Is(err, errNoKey), errors.Is(err, errNoID):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	default:
		return errUnreadable
	}
}

// errorText returns what the provider answered in one line. The library's own text
// is the whole answer, with data of the payment.
func (c *Client) errorText(e *stripe.Error) error {
	parts := []string{fmt.Sprintf("status %d, type %s", e.HTTPStatusCode, e.Type)}
	for _, part := range [][2]string{{"code", string(e.Code)}, {"param", e.Param}, {"request", e.RequestID}} {
		if part[1] != "" {
			parts = append(parts, part[0]+" "+part[1])
		}
	}
	text := strings.Join(parts, ", ")
	if e.Type != stripe.ErrorTypeCard && e.Msg != "" {
		text += ": " + e.Msg
	}
	// The provider could have repeated our key.
	text = strings.ReplaceAll(text, c.secret, "[secret]")

	kind := error(nil)
	switch status := e.HTTPStatusCode; {
	case e.Code == stripe.ErrorCodeInvoiceUpcomingNone:
		kind = ErrNothingUpcoming
	case e.Code == stripe.ErrorCodeResourceMissing, e.Code == codeNotFound:
		kind = ErrNotFound
	case status == http.StatusNotFound: // "Unrecognized request URL", which has no code
		kind = errUnknownRoute
	case isPortalUnset(e):
		kind = ErrPortalUnset
	case isCurrencyUnsupported(e):
		kind = ErrCurrency
	case e.Code == stripe.ErrorCodeAmountTooSmall:
		kind = ErrTooSmall
	case e.Code == "subscription_payment_intent_requires_action", e.Code == stripe.ErrorCodeInvoicePaymentIntentRequiresAction,
		e.Code == stripe.ErrorCodeAuthenticationRequired:
		kind = fmt.Errorf("%w: %w", ErrDeclined, ErrActionRequired)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		kind = errDenied
	case status == http.StatusPaymentRequired:
		kind = ErrDeclined
	case status >= http.StatusInternalServerError, status == http.StatusConflict,
		status == http.StatusTooManyRequests:
	default:
		kind = ErrRefused
	}
	if kind == nil {
		return errors.New(text)
	}
	return fmt.Errorf("%w: %s", kind, text)
}
