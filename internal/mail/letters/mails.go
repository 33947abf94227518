package letters

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/money"
)

// Mail describes a mail that the service sends.
type Mail struct {
	Name      string     `json:"name"`
	About     string     `json:"about"`     // purpose
	Variables []Variable `json:"variables"` // its own variables, without Common

	// sample sends the mail with typical data, or with all optional values missing if sparse is
	// set.
	sample func(ctx context.Context, l *Letters, locale string, sparse bool) error
}

// Variable is a variable that templates can use: {{.name}}.
type Variable struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Subject bool   `json:"in_subject"` // also available in the subject
}

// CommonVariables returns the variables that all mails have.
func CommonVariables() []Variable {
	return []Variable{
		{"app", "Name of the product.", true},
		{"lang", "Language of the email: en, fr, es or it.", true},
		{"subject", "Subject of the email.", false},
		{"heading", "Heading of the body, based on the subject.", false},
		{"body", "List of paragraphs of the built-in text.", false},
		{"facts", "List of labels and values of the built-in table.", false},
		{"action", "Label of the button. Empty for a mail without a link.", false},
		{"link", "URL of the button. Empty for a mail without a link.", false},
		{"after", "List of paragraphs below the button.", false},
		{"fallback", "Sentence before the URL in plain text.", false},
		{"footer", "Sentence in the footer.", false},
		{"logo", "URL of the logo. Empty if not set.", false},
		{"accent", "Color of the button.", false},
		{"accent_dark", "Color of the button in dark mode.", false},
		{"support_email", "Email address for support. Empty if not set.", false},
		{"support_label", "Label before the support address.", false},
		{"terms_url", "URL of the terms of service. Empty if not set.", false},
		{"terms_label", "Label of the link to the terms of service.", false},
		{"privacy_url", "URL of the privacy policy. Empty if not set.", false},
		{"privacy_label", "Label of the link to the privacy policy.", false},
	}
}

// sampleTo is the recipient of sample mails.
const sampleTo = "ada+x@example.test"

// sampleTime is the first day of a month, which has a special form in some languages.
var sampleTime = time.Date(2026, 5, 1, 8, 5, 59, 0, time.UTC)

// Mails returns all mails in a fixed order.
func Mails() []Mail {
	name := Variable{"name", "Name of the user.", false}
	tenant := Variable{"tenant", "Name of the organization.", false}
	user := func(write func(l *Letters, ctx context.Context, locale, to, name, token string) error) func(context.Context, *Letters, string, bool) error {
		return func(ctx context.Context, l *Letters, locale string, _ bool) error {
			return write(l, ctx, locale, sampleTo, "Ada Lovelace", "t0ken")
		}
	}
	all := []Mail{
		{"invitation", "A person is invited to an organization.", []Variable{
			tenant,
			{"inviter", "Name of the inviter. Can be empty.", false},
			{"role", "Name of the role.", false},
			{"expires", "Time at which the invitation expires.", true},
		}, sampleInvitation},
		{"password_reset", "A user requested a password reset. Contains the link.", []Variable{name}, user((*Letters).PasswordReset)},
		{
			"email_code", "A user requested a code to log in. Contains the code and no link.",
			[]Variable{name, {"code", "The code.", false}},
			user(func(l *Letters, ctx context.Context, locale, to, name, _ string) error {
				return l.EmailCode(ctx, locale, to, name, "04813957")
			}),
		},
		{
			"new_owner", "An organization was created for its owner, who has no password yet.",
			[]Variable{name, tenant, {"expires", "Until when the link is valid. Empty without password logins.", true}},
			user(func(l *Letters, ctx context.Context, locale, to, name, token string) error {
				return l.NewOwner(ctx, locale, to, name, "Acme & Sons", token, sampleTime.AddDate(0, 0, 7))
			}),
		},
		{
			"password_changed", "A user's password was changed.",
			[]Variable{name, {"time", "Time of the change.", true}},
			user(func(l *Letters, ctx context.Context, locale, to, name, _ string) error {
				return l.PasswordChanged(ctx, locale, to, name)
			}),
		},
		{
			"verify_email", "A user verifies an email address. Contains the link.",
			[]Variable{name, {"account", "Current email of the account.", false}},
			user(func(l *Letters, ctx context.Context, locale, to, name, token string) error {
				return l.VerifyEmail(ctx, locale, to, name, "ada@example.com", token)
			}),
		},
		{
			"email_change", "An email change was requested. Sent to the current address.",
			[]Variable{name},
			user(func(l *Letters, ctx context.Context, locale, to, name, _ string) error {
				return l.EmailChange(ctx, locale, to, name)
			}),
		},
		{"welcome", "A new user registered. Only sent if listed in TENANTRY_OPTIONAL_MAILS.", []Variable{name}, user(func(l *Letters, ctx context.Context, locale, to, name, _ string) error {
			return l.Welcome(ctx, locale, to, name)
		})},
	}
	all = append(all, securityMails(name)...)
	all = append(append(all, signOnMails(name, tenant)...), billingMails(tenant)...)
	return append(all, lifecycleMails(name, tenant)...)
}

// securityMails returns the mails about second factors and logins.
func securityMails(name Variable) []Mail {
	at := Variable{"time", "Time of the event.", true}
	factor := []Variable{name, {"factor", "Kind of the factor.", true}, {"passkey", "Name of the passkey. Empty for other factors.", false}, at}
	changed := func(write func(l *Letters, ctx context.Context, locale, to, name, kind, passkey string) error) func(context.Context, *Letters, string, bool) error {
		return func(ctx context.Context, l *Letters, locale string, sparse bool) error {
			if sparse {
				return write(l, ctx, locale, sampleTo, "Ada Lovelace", "totp", "")
			}
			return write(l, ctx, locale, sampleTo, "Ada Lovelace", "passkey", "MacBook")
		}
	}
	return []Mail{
		{"factor_added", "A user added an authenticator app or a passkey.", factor, changed((*Letters).FactorAdded)},
		{"factor_removed", "A second factor of a user was removed.", factor, changed((*Letters).FactorRemoved)},
		{"recovery_codes_generated", "A user generated new recovery codes.", []Variable{name, at}, func(ctx context.Context, l *Letters, locale string, _ bool) error {
			return l.RecoveryCodesGenerated(ctx, locale, sampleTo, "Ada Lovelace")
		}},
		{
			"recovery_codes_low", "A user used a recovery code and has fewer than three left.",
			[]Variable{name, {"remaining", "Number of unused recovery codes.", true}, at},
			func(ctx context.Context, l *Letters, locale string, _ bool) error {
				return l.RecoveryCodesLow(ctx, locale, sampleTo, "Ada Lovelace", 2)
			},
		},
		{
			"new_login", "A user signed in from a new browser or network. Only sent if listed in TENANTRY_OPTIONAL_MAILS, which is the default.",
			[]Variable{name, {"browser", "Name and system of the browser. Can be empty.", false}, {"ip", "IP address.", true}, at},
			func(ctx context.Context, l *Letters, locale string, sparse bool) error {
				browser := "Firefox (Linux)"
				if sparse {
					browser = ""
				}
				return l.NewLogin(ctx, locale, sampleTo, "Ada Lovelace", browser, "203.0.113.7")
			},
		},
	}
}

// signOnMails returns the mails to owners about single sign-on.
func signOnMails(name, tenant Variable) []Mail {
	return []Mail{
		{
			"sso_exempt_login", "An owner signed in without the single sign-on that their organization requires.",
			[]Variable{name, tenant, {"time", "Time of the login.", true}, {"ip", "IP address of the login. Can be empty.", true}},
			sampleSSOExemptLogin,
		},
		{
			"domain_lost", "An organization lost a verified domain.",
			[]Variable{
				tenant,
				{"domain", "Name of the domain.", false},
				{"record", "Name of the missing DNS record.", false},
				{"value", "Value of the missing DNS record.", true},
			},
			sampleDomainLost,
		},
	}
}

// billingMails returns the mails to billing contacts and organization admins.
func billingMails(tenant Variable) []Mail {
	plan := Variable{"plan", "Name of the plan.", true}
	quota := []Variable{
		tenant,
		{"meter", "Name of the meter.", true},
		{"percent", "Usage in percent of the limit.", true},
		{"current", "Current usage, with unit.", true},
		{"limit", "Limit, with unit.", true},
		{"period_end", "End of the period. Empty for a meter that is never reset.", true},
	}
	trial := []Variable{
		tenant, plan,
		{"ends", "End of the trial.", true},
		{"price", "Price per billing period after the trial. Empty for usage-based plans.", true},
	}
	return append([]Mail{
		{"quota_near", "Usage reaches 80 percent of a limit.", quota, sampleQuotaNear},
		{"quota_reached", "Usage reaches a limit.", quota, sampleQuotaReached},
		{"trial_ends", "A trial is about to end.", trial, sampleTrial((*Letters).TrialEnds)},
		{"add_card", "A trial without a payment method is about to end.", trial, sampleTrial((*Letters).AddCard)},
		{"trial_moved", "The platform moved the end of a trial.", trial, sampleTrial((*Letters).TrialMoved)},
		{"trial_ended", "The platform ended a trial.", trial, sampleTrial((*Letters).TrialEnded)},
		{"payment_failed", "A payment for a subscription failed.", []Variable{
			tenant, plan, {"amount", "Amount of the failed payment.", true},
		}, samplePayment(false)},
		{"first_payment", "The platform created a subscription that waits for its first payment. Sent to the owner.", []Variable{
			tenant, plan, {"amount", "Amount due.", true},
		}, sampleFirstPayment},
		{"change_waits", "The platform changed the plan, and the payment has to be confirmed. Sent to the owner.", []Variable{
			tenant, plan, {"expires", "Time at which the change is dropped.", true},
		}, sampleChangeWaits},
		{"plan_change_lapsed", "A change of plan at the end of the period was dropped, because the usage exceeds the plan.", []Variable{tenant, plan}, samplePlanChangeLapsed},
		{"receipt", "An invoice was paid. Only sent if listed in TENANTRY_OPTIONAL_MAILS.", []Variable{
			tenant,
			{"number", "Invoice number.", true},
			{"what", "Name of the paid plan or item. Can be empty.", true},
			{"amount", "Paid amount.", true},
			{"paid", "Time of payment.", true},
		}, sampleReceipt},
		{"card_expires", "A card expires in 30 or 7 days. Only sent if listed in TENANTRY_OPTIONAL_MAILS.", []Variable{
			tenant,
			{"last4", "Last four digits of the card.", true},
			{"expires", "Last month in which the card is valid, such as 12/2026.", true},
		}, sampleCardExpires},
		{"renewal_reminder", "A subscription with a cycle of six months or more renews in 7 days. Only sent if listed in TENANTRY_OPTIONAL_MAILS.", []Variable{
			tenant, plan,
			{"renews", "Date of the renewal.", true},
			{"amount", "Amount of the renewal.", true},
		}, sampleRenewalReminder},
		{"last_attempt", "An invoice is about to be collected for the last time. Only sent if listed in TENANTRY_OPTIONAL_MAILS.", []Variable{
			tenant, plan,
			{"amount", "Amount due.", true},
			{"attempt", "Time of the last attempt.", true},
		}, sampleLastAttempt},
		{"webhook_disabled", "A webhook endpoint was disabled because its deliveries failed.", []Variable{
			tenant, {"url", "URL of the endpoint.", false}, {"since", "Time of the first failed delivery.", true},
		}, sampleWebhookDisabled},
	}, invoiceMails(tenant)...)
}

// invoiceMails returns the mails that send invoices.
func invoiceMails(tenant Variable) []Mail {
	variables := []Variable{
		tenant,
		{"number", "Invoice number.", true},
		{"amount", "Amount due.", true},
		{"due", "Due date. Empty if the invoice is paid.", true},
	}
	return []Mail{
		{"invoice", "An invoice to be paid, with its PDF.", variables, sampleInvoice},
		{"invoice_reminder", "A reminder of an unpaid invoice.", variables, sampleInvoiceReminder},
	}
}

func sampleSSOExemptLogin(ctx context.Context, l *Letters, locale string, sparse bool) error {
	e := SSOExemptLogin{Name: "Ada Lovelace", Tenant: "Acme & Sons", At: sampleTime, IP: "192.0.2.7"}
	if sparse {
		e.IP = ""
	}
	return l.SSOExemptLogin(ctx, locale, sampleTo, e)
}

func sampleDomainLost(ctx context.Context, l *Letters, locale string, _ bool) error {
	return l.DomainLost(ctx, locale, sampleTo, DomainLost{
		Tenant: "Acme & Sons", Domain: "example.com", Record: "_tenantry.example.com", Value: "tenantry-verification=mfrggzdfmztwq2lk",
	})
}

func sampleInvitation(ctx context.Context, l *Letters, locale string, sparse bool) error {
	i := Invitation{Token: "t0ken", Tenant: "Acme & Sons", Inviter: "Grace Hopper", Role: "admin", ExpiresAt: sampleTime.AddDate(0, 0, 7)}
	if sparse {
		i.Inviter = ""
	}
	return l.Invitation(ctx, locale, sampleTo, i)
}

func sampleQuota(sparse bool) QuotaAlert {
	a := QuotaAlert{
		Tenant: "Acme", Meter: "Storage", Unit: "GB", Current: money.Total{Units: 80, Millionths: 500_000}, Limit: 100,
		Percent: 80, PeriodEnd: sampleTime.AddDate(0, 1, 12),
	}
	if sparse {
		a.Unit, a.PeriodEnd = "", time.Time{}
	}
	return a
}

func sampleQuotaNear(ctx context.Context, l *Letters, locale string, sparse bool) error {
	return l.QuotaAlert(ctx, locale, sampleTo, sampleQuota(sparse))
}

func sampleQuotaReached(ctx context.Context, l *Letters, locale string, sparse bool) error {
	a := sampleQuota(sparse)
	a.Percent, a.Current = 100, money.Total{Units: 104, Millionths: 250_000}
	return l.QuotaAlert(ctx, locale, sampleTo, a)
}

func sampleTrial(write func(l *Letters, ctx context.Context, locale, to string, e TrialEnds) error) func(context.Context, *Letters, string, bool) error {
	return func(ctx context.Context, l *Letters, locale string, sparse bool) error {
		return write(l, ctx, locale, sampleTo, sampleTrialEnds(sparse))
	}
}

func sampleTrialEnds(sparse bool) TrialEnds {
	e := TrialEnds{Tenant: "Acme", Plan: "Team", EndsAt: sampleTime.AddDate(0, 0, 3), Price: money.Money{AmountCents: 4_900, Currency: "EUR"}, MinorUnits: 2}
	if sparse {
		e.Price = money.Money{}
	}
	return e
}

func samplePayment(isUnconfirmed bool) func(ctx context.Context, l *Letters, locale string, _ bool) error {
	return func(ctx context.Context, l *Letters, locale string, _ bool) error {
		p := PaymentFailed{Tenant: "Acme", Plan: "Team", Amount: money.Money{AmountCents: 123_450, Currency: "EUR"}, MinorUnits: 2}
		if p.IsUnconfirmed = isUnconfirmed; isUnconfirmed {
			p.PaymentURL = "https://invoice.example.com/i/42"
		}
		return l.PaymentFailed(ctx, locale, sampleTo, p)
	}
}

func sampleFirstPayment(ctx context.Context, l *Letters, locale string, _ bool) error {
	return l.FirstPayment(ctx, locale, sampleTo, FirstPayment{
		Tenant: "Acme", Plan: "Team", Amount: money.Money{AmountCents: 123_450, Currency: "EUR"}, MinorUnits: 2, PaymentURL: "https://invoice.example.com/i/42",
	})
}

func sampleChangeWaits(ctx context.Context, l *Letters, locale string, _ bool) error {
	return l.ChangeWaits(ctx, locale, sampleTo, ChangeWaits{
		Tenant: "Acme", Plan: "Team", ExpiresAt: sampleTime, PaymentURL: "https://invoice.example.com/i/42",
	})
}

func samplePlanChangeLapsed(ctx context.Context, l *Letters, locale string, _ bool) error {
	return l.PlanChangeLapsed(ctx, locale, sampleTo, PlanChangeLapsed{Tenant: "Acme", Plan: "Team"})
}

func sampleInvoiceOf(sparse bool) Invoice {
	i := Invoice{
		Tenant: "Acme", Number: "INV-2026-000042", Amount: money.Money{AmountCents: 123_450, Currency: "EUR"}, MinorUnits: 2,
		DueAt: sampleTime.AddDate(0, 0, 30), URL: "https://invoice.example.com/i/42",
	}
	if sparse {
		i.DueAt, i.URL = time.Time{}, ""
	}
	return i
}

func sampleInvoice(ctx context.Context, l *Letters, locale string, sparse bool) error {
	return l.Invoice(ctx, locale, sampleTo, sampleInvoiceOf(sparse))
}

func sampleInvoiceReminder(ctx context.Context, l *Letters, locale string, sparse bool) error {
	return l.InvoiceReminder(ctx, locale, sampleTo, sampleInvoiceOf(sparse))
}

func sampleReceipt(ctx context.Context, l *Letters, locale string, sparse bool) error {
	r := Receipt{Tenant: "Acme", Number: "INV-2026-000042", What: "Team (Platform)", Amount: money.Money{AmountCents: 123_450, Currency: "EUR"}, MinorUnits: 2, PaidAt: sampleTime}
	if sparse {
		r.What = ""
	}
	return l.Receipt(ctx, locale, sampleTo, r)
}

func sampleCardExpires(ctx context.Context, l *Letters, locale string, _ bool) error {
	return l.CardExpires(ctx, locale, sampleTo, CardExpires{Tenant: "Acme", Last4: "4242", Expires: sampleTime})
}

func sampleRenewalReminder(ctx context.Context, l *Letters, locale string, _ bool) error {
	return l.RenewalReminder(ctx, locale, sampleTo, RenewalReminder{
		Tenant: "Acme", Plan: "Team", RenewsAt: sampleTime.AddDate(0, 0, 7), Amount: money.Money{AmountCents: 123_450, Currency: "EUR"}, MinorUnits: 2,
	})
}

func sampleLastAttempt(ctx context.Context, l *Letters, locale string, _ bool) error {
	return l.LastAttempt(ctx, locale, sampleTo, LastAttempt{
		Tenant: "Acme", Plan: "Team", Amount: money.Money{AmountCents: 123_450, Currency: "EUR"}, MinorUnits: 2,
		AttemptAt: sampleTime.AddDate(0, 0, 1), PaymentURL: "https://invoice.example.com/i/42",
	})
}

func sampleWebhookDisabled(ctx context.Context, l *Letters, locale string, _ bool) error {
	return l.WebhookDisabled(ctx, locale, sampleTo, WebhookDisabled{Tenant: "Acme", URL: "https://example.com/hooks", Since: sampleTime.AddDate(0, 0, -5)})
}
