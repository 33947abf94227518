package limit

import "maps"

// Groups of requests that share a limit. Public groups are keyed by the client address (AddrKey)
// and authenticated groups by user, unless noted otherwise.
const (
	Login           = "login"            // by address and lower-cased email
	LoginAddress    = "login_address"    // all logins of an address, whatever the email
	LoginAccount    = "login_account"    // wrong passwords of an account within 15 minutes, counted by package account
	AccountMail     = "account_mail"     // account mails that anonymous requests can trigger, by recipient
	AccountPassword = "account_password" // requests that require the current password, by user
	Register        = "register"
	Password        = "password" // forgot and reset
	Refresh         = "refresh"
	OAuth           = "oauth" // redirect, callback, exchange
	OnboardingStart = "onboarding_start"
	Onboarding      = "onboarding"  // status, retry, complete
	Invitations     = "invitations" // public: view, accept, accept with registration
	InvitationMails = "inviting"    // requests that mail an invitation, by tenant
	Catalog         = "catalog"     // public: products, plans, features, currencies
	APIKeys         = "api_keys"    // creating and rotating API keys, by tenant
	Avatar          = "avatar"
	Push            = "push"
	PSPPrices       = "psp_prices" // admin: price operations at the payment provider
	Studio          = "studio"
	Usage           = "usage" // recording usage
	// UsageWithoutPlan is the number of events per day that a tenant can record if it never had a
	// plan. Package usage counts them.
	UsageWithoutPlan = "usage_without_plan"
	Default          = "default" // authenticated requests of other groups
)

// perMinute maps every group to its requests per minute (rules: http#rate-limits).
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

// Defaults returns the default requests per minute of every group.
func Defaults() map[string]int { return maps.Clone(perMinute) }

// IsPerTenant reports whether all members of a tenant share the limit of a group.
func IsPerTenant(group string) bool { return group == InvitationMails || group == APIKeys }

// KeysOfTenant is the multiple of a group's limit that all API keys of a tenant share. Each single
// key has the group's limit.
const KeysOfTenant = 5

// IsGroup reports whether a group with the name exists.
func IsGroup(group string) bool {
	_, ok := perMinute[group]
	return ok
}
