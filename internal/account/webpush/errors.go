package webpush

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/push"
)

var (
	errNoKeys         = errors.New("the service does not have a key pair yet")
	errNoSubscription = errors.New("the user does not have this subscription")
)

func errTooManyBrowsers() error {
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "endpoint", Message: "validation.push_limit", Args: map[string]any{"max": maxSubscriptions},
	}}}
}

// validationError converts an error of push.Subscription.Validate to a validation error with the
// names of the fields.
func validationError(err error) error {
	var broken fault.Fields
	if errors.Is(err, push.ErrEndpoint) {
		broken.Add("endpoint", "validation.https_url")
	}
	if errors.Is(err, push.ErrP256dh) {
		broken.Add("keys.p256dh", "validation.push_key")
	}
	if errors.Is(err, push.ErrAuth) {
		broken.Add("keys.auth", "validation.push_key")
	}
	return broken.Err()
}
