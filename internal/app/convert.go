package app

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/pdf"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/tenant"
)

// The functions below convert settings to the types of the domains.

// sellerZone returns the seller's time zone.
func sellerZone(s settings.Settings) (*time.Location, error) {
	return time.LoadLocation(s.Invoices.TimeZone)
}

// newIssuing returns the configuration for issuing invoices, or nil if the payment provider issues
// them.
func newIssuing(s settings.Settings, log *slog.Logger) (*invoice.IssuingConfig, error) {
	if s.InvoiceMode != settings.InvoicesByPlatform {
		return nil, nil
	}
	zone, err := sellerZone(s)
	if err != nil {
		return nil, err
	}
	renderer, err := pdf.New(pdf.Config{Maker: s.Brand.App(), Hybrid: s.Invoices.Hybrid, Practice: s.StripeURL != nil, Log: log})
	return &invoice.IssuingConfig{
		Numbers: cmp.Or(s.Invoices.Numbers, invoice.DefaultNumbers), Tax: taxRules(s), Seller: s.Invoices.Seller, TimeZone: zone,
		Render: renderer.Render,
	}, err
}

func taxRules(s settings.Settings) tenant.TaxRules {
	return tenant.TaxRules{Seller: s.Invoices.Seller.TaxCountry(), Rates: s.Invoices.Taxes}
}

func oauthProvider(l settings.LoginProvider) oauth.Provider {
	id, secret := l.ClientID, l.ClientSecret.Reveal()
	switch l.Kind {
	case settings.Google:
		return oauth.GoogleProvider(id, secret)
	case settings.Microsoft:
		return oauth.MicrosoftProvider(id, secret)
	case settings.GitHub:
		return oauth.GitHubProvider(id, secret)
	}
	return oauth.OIDCProvider(l.Name, l.Issuer, id, secret)
}

func oauthProviders(logins []settings.LoginProvider) []oauth.Provider {
	providers := make([]oauth.Provider, len(logins))
	for i, l := range logins {
		providers[i] = oauthProvider(l)
	}
	return providers
}
