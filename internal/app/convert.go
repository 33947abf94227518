package app

import (
	"cmp"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/pdf"
	"github.com/tenantry/tenantry/internal/settings"
)

// What the settings say, in the types of the domains.

// issuing returns how invoices are issued here; nil where the payment provider
// issues them.
func issuing(s settings.Settings) (*invoice.Issuing, error) {
	if s.InvoiceMode != settings.PlatformManaged {
		return nil, nil
	}
	renderer, err := pdf.New()
	return &invoice.Issuing{
		Numbers: cmp.Or(s.Invoices.Numbers, invoice.DefaultNumbers), Taxes: s.Invoices.Taxes, Seller: s.Invoices.Seller,
		Render: renderer.Render,
	}, err
}

func oauthProvider(l settings.LoginProvider) account.OAuthProvider {
	id, secret := l.ClientID, l.ClientSecret.Reveal()
	switch l.Kind {
	case settings.Google:
		return account.GoogleProvider(id, secret)
	case settings.Microsoft:
		return account.MicrosoftProvider(id, secret)
	case settings.GitHub:
		return account.GitHubProvider(id, secret)
	}
	return account.OIDCProvider(l.Name, l.Issuer, id, secret)
}

func oauthProviders(logins []settings.LoginProvider) []account.OAuthProvider {
	providers := make([]account.OAuthProvider, len(logins))
	for i, l := range logins {
		providers[i] = oauthProvider(l)
	}
	return providers
}
