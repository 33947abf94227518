package kernel

import "context"

// account is the merchant's account, which owns the secret key.
type account struct {
	ID               string `json:"id"`
	Object           string `json:"object"`
	BusinessType     string `json:"business_type"`
	ChargesEnabled   bool   `json:"charges_enabled"`
	Country          string `json:"country"`
	DefaultCurrency  string `json:"default_currency"`
	DetailsSubmitted bool   `json:"details_submitted"`
	PayoutsEnabled   bool   `json:"payouts_enabled"`
	Type             string `json:"type"`
}

// The sandbox's only account, with the name and country that its invoices show.
const (
	accountID      = "acct_sandbox"
	AccountName    = "Tenantry Sandbox"
	AccountCountry = "US"
	// DefaultCurrency is the account's default currency.
	DefaultCurrency = "usd"
)

// getAccount handles GET /v1/account.
func getAccount(_ context.Context, c *Call) (any, error) {
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	return account{
		ID: accountID, Object: "account", BusinessType: "company", Type: "standard",
		Country: AccountCountry, DefaultCurrency: DefaultCurrency,
		ChargesEnabled: true, DetailsSubmitted: true, PayoutsEnabled: true,
	}, nil
}
