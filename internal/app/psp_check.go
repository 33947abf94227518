package app

import (
	"context"
	"io"
	"strings"

	"github.com/tenantry/tenantry/internal/psp/check"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/settings"
)

// CheckProvider checks the account at the payment provider and the objects that are linked to it.
// It writes the findings as text or as JSON, and returns an error if any finding is an error. It
// changes nothing, neither at the provider nor in the database (rules: psp#check).
func CheckProvider(ctx context.Context, s settings.Settings, out io.Writer, asJSON bool) error {
	found, err := checkProvider(ctx, s)
	if err != nil {
		return err
	}
	return report(out, found, asJSON)
}

// checkProvider returns the findings for CheckProvider.
func checkProvider(ctx context.Context, s settings.Settings) ([]check.Finding, error) {
	types, err := handledTypes()
	if err != nil {
		return nil, err
	}
	var url string
	if s.PublicURL != nil {
		url = strings.TrimSuffix(s.PublicURL.String(), "/") + webhookPath
	}
	return providerFindings(ctx, s, types, url)
}

// webhookPath is the endpoint for the payment provider's notifications.
const webhookPath = "/api/v1/webhooks/stripe"

// handledTypes returns the types of events that the service handles.
func handledTypes() ([]string, error) {
	receiver, err := inbox.NewReceiver(inbox.ReceiverDeps{Secrets: []string{"none is received"}})
	if err != nil {
		return nil, err
	}
	svc := &service{platform: &platform{receiver: receiver}, domains: &domains{}}
	svc.registerNotifications()
	return receiver.Types(), nil
}
