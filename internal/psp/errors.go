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

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/breaker"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp/charge"
)

// ErrUnavailable is the error of every failed call: 502 psp_error to an HTTP caller
// (rules: psp#failures). It wraps its cause for the log, without secrets. Use errors.Is to detect
// the causes ErrNotFound, ErrRefused and ErrDeclined.
var ErrUnavailable = fault.NewCoded(fault.Provider, fault.PSPError)

// ErrBusy is the error of a call that the provider rejected because of its rate limit: 429 to an
// HTTP caller, with Retry-After (rules: psp#failures). The call had no effect.
var ErrBusy = &fault.Error{Kind: fault.TooMany, Message: "error.too_many_requests", RetryAfter: busyPause}

// busyPause is the Retry-After value if the provider does not send one, which is usual. The
// provider's limits are counted per second.
const busyPause = 2 * time.Second

// maxBusyPause is the maximum Retry-After value.
const maxBusyPause = time.Minute

// ErrPortalUnset is the cause if the settings of the billing portal were never saved in the
// provider's account. It is also an ErrRefused.
var ErrPortalUnset = fmt.Errorf("%w: the billing portal is not configured", ErrRefused)

// ErrNotFound is the cause if an object that the call names does not exist at the provider.
var ErrNotFound = errors.New("no such object at the provider")

// ErrNothingUpcoming is the cause if an invoice preview is requested but nothing will be billed. It
// is also an ErrNotFound.
var ErrNothingUpcoming = fmt.Errorf("%w: nothing will be billed", ErrNotFound)

// ErrRefused is the cause if the provider understood the call and will never accept it, because of
// a defect or a wrong setting of this service. A retry is pointless.
var ErrRefused = errors.New("the provider rejected the request")

// ErrCurrency is the cause if the provider's account does not support the currency. It is also an
// ErrRefused.
var ErrCurrency = fmt.Errorf("%w: the account does not support the currency", ErrRefused)

// ErrTooSmall is the cause if the amount is below the provider's minimum. It is also an ErrRefused.
var ErrTooSmall = fmt.Errorf("%w: the amount is below the minimum", ErrRefused)

// errDenied is the cause if the provider rejects the key, or if the key lacks a permission. It is
// not an ErrRefused, because an operator can fix it, so background work retries. It proves nothing
// about an earlier attempt, so callers treat it as an outage.
var errDenied = errors.New("the provider rejected the key, or the key does not have the permission")

// errUnknownRoute is the cause if the provider does not have the URL of a call: a defect of this
// service, a wrong base URL, or a sandbox without the route. It proves nothing about the object, so
// it is neither ErrNotFound nor ErrRefused, and work that depends on the call waits.
var errUnknownRoute = errors.New("the provider does not know the URL of the request")

// ErrDeclined is the cause if a payment was declined, requires an action of the payer, or lacks a
// payment method. Nothing was paid or changed.
var ErrDeclined = errors.New("the payment was declined")

// ErrActionRequired is a cause in addition to ErrDeclined: the payer can still confirm the payment
// (3-D Secure).
var ErrActionRequired = errors.New("the payment requires confirmation by the customer")

// MarkPermanent marks permanent errors as jobs.Fatal: the object does not exist at the provider, or
// the provider will never accept the call. It returns other errors unchanged.
func MarkPermanent(err error) error {
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrRefused) {
		return jobs.MarkFatal(err)
	}
	return err
}

// errUnreadable replaces the error for a response that is truncated or is not the provider's JSON.
// The response text is not logged, because it could contain secrets of the call.
var errUnreadable = errors.New("invalid response from the provider")

// codeNotFound is the error code of a missing object in version 2 of the API.
const codeNotFound stripe.ErrorCode = "not_found"

// verdict is the conclusion about the provider's health from a call.
type verdict uint8

const (
	answered verdict = iota // the provider works, whatever the response
	outage                  // the provider does not work
	unknown                 // the caller gave up first
)

// String returns the name of a verdict for metrics.
func (v verdict) String() string { return [...]string{"answered", "outage", "abandoned"}[v] }

// patience is how long a call must have run so that the deadline of its caller counts as an outage.
// A run that reports usage for a limited time cuts off many calls at once when its time is over.
const patience = time.Second

// classifyCall returns the verdict of a call that ran for the given time in the context of its caller.
func classifyCall(ctx context.Context, err error, took time.Duration) verdict {
	var e *stripe.Error
	switch {
	case err == nil, charge.IsLookup(err):
		return answered
	case errors.As(err, &e) && e.HTTPStatusCode < http.StatusInternalServerError, isReplayed(err):
		return answered
	case e == nil && (errors.Is(ctx.Err(), context.Canceled) || ctx.Err() != nil && took < patience):
		return unknown
	default:
		return outage
	}
}

// isRetryable reports whether a retry of the same call could succeed soon. Every call can be
// retried safely, because writes carry idempotency keys.
func isRetryable(err error) bool {
	if err == nil || charge.IsLookup(err) {
		return false
	}
	var e *stripe.Error
	if !errors.As(err, &e) {
		return true // a broken connection, or a response from a proxy
	}
	if isReplayed(err) {
		return false // the same key gets the same response
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
		// Of the 429 responses, only a lock timeout passes quickly.
		return e.Code == stripe.ErrorCodeLockTimeout
	}
}

// refusable marks the context of a call that the provider can refuse although this service has
// neither a defect nor a wrong setting.
type refusable struct{}

// failure converts an error of a call to the error for callers, and logs defects. op names the
// operation.
func (c *Client) failure(ctx context.Context, op string, err error) error {
	cause := c.cause(err)
	switch {
	case errors.Is(cause, errDenied):
		c.log.ErrorContext(ctx, "payment provider rejected the secret key; billing is stopped",
			"operation", op, "error", cause)
	case errors.Is(cause, errUnknownRoute):
		c.log.ErrorContext(ctx, "payment provider does not know the request URL; check its address or update Tenantry",
			"operation", op, "error", cause)
	case errors.Is(cause, ErrRefused) && ctx.Value(refusable{}) == nil:
		c.log.ErrorContext(ctx, "payment provider rejected a request; check the settings or report a bug",
			"operation", op, "error", cause)
	}
	return wrapUnavailable(op, err, cause)
}

// wrapUnavailable wraps the cause in ErrBusy if the provider rejected the call because of its rate
// limit, and in ErrUnavailable otherwise. It keeps the errors of a Decimals, which come from this
// service.
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

// retryAfter returns how long the provider asks the caller to wait.
func retryAfter(e *stripe.Error) time.Duration {
	if e.LastResponse == nil {
		return busyPause
	}
	seconds, err := strconv.Atoi(e.LastResponse.Header.Get("Retry-After"))
	if err != nil || seconds <= 0 {
		return busyPause
	}
	return min(time.Duration(seconds)*time.Second, maxBusyPause)
}

// isPortalUnset recognizes missing portal settings by the message, because the error does not have
// a code.
func isPortalUnset(e *stripe.Error) bool {
	return e.HTTPStatusCode == http.StatusBadRequest &&
		(strings.Contains(e.Msg, "default configuration has not been created") || strings.Contains(e.Msg, "customer portal settings"))
}

// isCurrencyUnsupported recognizes an unsupported currency by the message, because "Invalid
// currency: tnd. Stripe accounts in US do not support tnd. …" has no error code.
func isCurrencyUnsupported(e *stripe.Error) bool {
	return e.HTTPStatusCode == http.StatusBadRequest && strings.HasPrefix(e.Msg, "Invalid currency:")
}

// isWithoutPaymentMethod recognizes by the message that neither the customer nor the object has a
// payment method. Some of these errors have the code of a missing object, others do not have a
// code.
func isWithoutPaymentMethod(e *stripe.Error) bool {
	return e.HTTPStatusCode == http.StatusBadRequest &&
		(strings.Contains(e.Msg, "no attached payment source") || strings.Contains(e.Msg, "no `default_payment_method` set"))
}

func (c *Client) cause(err error) error {
	var e *stripe.Error
	if errors.As(err, &e) {
		return c.errorText(e)
	}
	var transport *url.Error
	switch {
	case errors.As(err, &transport):
		return transport // method, URL and reason
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, breaker.ErrOpen):
		return err
	case errors.Is(err, errNoKey), errors.Is(err, errNoID):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	default:
		return errUnreadable
	}
}

// errorText returns the provider's error in one line. The text of the library's error is the whole
// response, including payment data.
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
	// The provider could have echoed the key.
	text = strings.ReplaceAll(text, c.secret, "[secret]")

	kind := error(nil)
	switch status := e.HTTPStatusCode; {
	case e.Code == stripe.ErrorCodeInvoiceUpcomingNone:
		kind = ErrNothingUpcoming
	case isWithoutPaymentMethod(e):
		kind = ErrDeclined
	case e.Code == stripe.ErrorCodeResourceMissing, e.Code == codeNotFound:
		kind = ErrNotFound
	case status == http.StatusNotFound: // "Unrecognized request URL", which has no error code
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
