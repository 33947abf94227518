package limit

import "maps"

// The groups of requests that share a limit. Public groups are keyed by the
// client's address (AddrKey), authenticated ones by the user unless they say otherwise.
const (
	Login           = "login"            // by address and lower-cased email
	LoginAddress    = "login_address"    // every login of an address, whatever the email
	LoginAccount    = "login_account"    // wrong passwords of one account in 15 minutes, counted by package account
	AccountMail     = "account_mail"     // mails about an account that anybody can cause, by the address
	AccountPassword = "account_password" // what asks for the present password, by the user
	Register        = "register"
	Password        = "password" // forgot and reset
	Refresh         = "refresh"
	OAuth           = "oauth" // redirect, callback, exchange
	OnboardingStart = "onboarding_start"
	Onboarding      = "onboarding"  // status, retry, complete
	Invitations     = "invitations" // public: view, accept, accept with registration
	InvitationMails = "inviting"    // what mails an invitation, by the caller's tenant
	Catalog         = "catalog"     // public: products, plans, features, currencies
	APIKeys         = "api_keys"    // making and rotating API keys, by the caller's tenant
	Avatar          = "avatar"
	Push            = "push"
	PSPPrices       = "psp_prices" // admin: price operations at the payment provider
	Studio          = "studio"
	Usage           = "usage" // recording usage
	// UsageWithoutPlan is how many events a day a tenant can record that never had a plan. Package
	// usage counts them.
	UsageWithoutPlan = "usage_without_plan"
	Default          = "default" // authenticated requests without a group of their own
)

// perMinute has every group and its figure (rules: http#rate-limits).
var perMinute = map[string]int{
	Login:            5,
	LoginAddress:     30,
	LoginAccount:     10,
	AccountMail:      1,
	AccountPassword:  5,
	Register:         10,
	Password:         5,
	Refresh:          10,
	OAuth:            10,
	OnboardingStart:  5,
	Onboarding:       10,
	Invitations:      30,
	InvitationMails:  20,
	Catalog:          60,
	APIKeys:          10,
	Avatar:           10,
	Push:             10,
	PSPPrices:        30,
	Studio:           60,
	Usage:            60_000,
	UsageWithoutPlan: 100_000,
	Default:          1_200,
}

// Defaults returns every group with its requests per minute.
func Defaults() map[string]int { return maps.Clone(perMinute) }

// IsPerTenant reports whether all members of a tenant share a group's figure.
func IsPerTenant(group string) bool { return group == InvitationMails || group == APIKeys }

// KeysOfTenant is how many times a group's figure the API keys of one tenant have together. Each
// key has the figure alone.
const KeysOfTenant = 5

// IsGroup reports whether there is a group of that name.
func IsGroup(group string) bool {
	_, ok := perMinute[group]
	return ok
}
