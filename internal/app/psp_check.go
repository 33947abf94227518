package app

import (
	"context"
	"io"
	"strings"

	"github.com/tenantry/tenantry/internal/app/pspcheck"
	"github.com/tenantry/tenantry/internal/psp/check"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/settings"
)

// CheckProvider checks the account at the payment provider, and what is linked to it
// here. It writes what it finds, as text or as JSON, and fails if anything of it is an
// error. It changes nothing, neither there nor here (rules: psp#check).
func CheckProvider(ctx context.Context, s settings.Settings, out io.Writer, asJSON bool) error {
	found, err := checkProvider(ctx, s)
	if err != nil {
		return err
	}
	return pspcheck.Write(out, found, asJSON)
}

// checkProvider makes the checks of CheckProvider.
func checkProvider(ctx context.Context, s settings.Settings) ([]check.Finding, error) {
	types, err := handledTypes()
	if err != nil {
		return nil, err
	}
	var url string
	if s.PublicURL != nil {
		url = strings.TrimSuffix(s.PublicURL.String(), "/") + webhookPath
	}
	return pspcheck.Run(ctx, s, types, url)
}

// webhookPath is where notifications of the payment provider arrive.
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
