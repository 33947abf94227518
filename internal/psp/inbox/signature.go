package inbox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
)

// tolerance is the maximum deviation of a signature's timestamp, in both directions
// (rules: psp#notifications).
const tolerance = webhook.DefaultTolerance

var (
	errFuture = errors.New("the signature is from the future")
	errMode   = errors.New("the notification is for the other mode (test or live)")
)

// verify checks the signature of a notification against each secret, and decodes it. The
// notification can use any API version, because only IDs are used.
func (r *Receiver) verify(body []byte, signature string) (psp.Event, error) {
	var errs []error
	for _, secret := range r.secrets {
		e, isLive, err := readSigned(body, signature, secret)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if isFromFuture(signature) {
			return psp.Event{}, errFuture
		}
		if mode := r.client.Mode(); mode != "" && (mode == psp.LiveMode) != isLive {
			return psp.Event{}, fmt.Errorf("%w: the key is a %s mode key", errMode, mode)
		}
		return e, nil
	}
	return psp.Event{}, errors.Join(errs...)
}

// readSigned decodes a notification that is signed with a secret, and reports whether it is of live
// mode.
func readSigned(body []byte, signature, secret string) (e psp.Event, isLive bool, err error) {
	if e, isLive, ok := thinEvent(body); ok {
		return e, isLive, webhook.ValidatePayloadWithTolerance(body, signature, secret, tolerance)
	}
	whole, err := webhook.ConstructEventWithOptions(body, signature, secret, webhook.ConstructEventOptions{
		IgnoreAPIVersionMismatch: true, Tolerance: tolerance,
	})
	if err != nil {
		return psp.Event{}, false, err
	}
	e, err = psp.NewEvent(&whole)
	return e, whole.Livemode, err
}

// isFromFuture reports whether a signature's timestamp is too far in the future, which the library
// does not check. Like the library, it uses the last timestamp. The provider signs with the real
// time, even in the sandbox.
func isFromFuture(signature string) bool {
	ahead := false
	for pair := range strings.SplitSeq(signature, ",") {
		if text, ok := strings.CutPrefix(pair, "t="); ok {
			seconds, err := strconv.ParseInt(text, 10, 64)
			ahead = err != nil || time.Unix(seconds, 0).Sub(clock.System().Now()) > tolerance
		}
	}
	return ahead
}
