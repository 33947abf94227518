package customers

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// PaymentMethods are the cards and bank accounts of all customers.
var PaymentMethods = kernel.Kind[PaymentMethod]{Name: "payment_method", Prefix: "pm", Label: "PaymentMethod", Path: "/v1/payment_methods"}

// PaymentMethod is a card or a bank account of a customer. Its last four digits identify the test
// number, which determines how renewals behave.
type PaymentMethod struct {
	kernel.Header
	AllowRedisplay string            `json:"allow_redisplay"`
	BillingDetails BillingDetails    `json:"billing_details"`
	Card           *card             `json:"card,omitempty"`
	Customer       *string           `json:"customer"` // null for a method that was used once and not saved
	Metadata       map[string]string `json:"metadata"`
	SepaDebit      *sepaDebit        `json:"sepa_debit,omitempty"`
	Type           string            `json:"type"`
}

// BillingDetails are the contact details of the owner of a payment method.
type BillingDetails struct {
	Address form.Address `json:"address"`
	Email   *string      `json:"email"`
	Name    *string      `json:"name"`
	Phone   *string      `json:"phone"`
	TaxID   form.Null    `json:"tax_id"`
}

type card struct {
	Brand             string       `json:"brand"`
	Checks            CardChecks   `json:"checks"`
	Country           string       `json:"country"`
	DisplayBrand      string       `json:"display_brand"`
	ExpMonth          int          `json:"exp_month"`
	ExpYear           int          `json:"exp_year"`
	Fingerprint       string       `json:"fingerprint"`
	Funding           string       `json:"funding"`
	GeneratedFrom     form.Null    `json:"generated_from"`
	Last4             string       `json:"last4"`
	Networks          cardNetworks `json:"networks"`
	RegulatedStatus   string       `json:"regulated_status"`
	ThreeDSecureUsage struct {
		Supported bool `json:"supported"`
	} `json:"three_d_secure_usage"`
	Wallet form.Null `json:"wallet"`
}

// CardChecks are the results of the bank's card checks.
type CardChecks struct {
	AddressLine1      form.Null `json:"address_line1_check"`
	AddressPostalCode form.Null `json:"address_postal_code_check"`
	CVC               string    `json:"cvc_check"`
}

type cardNetworks struct {
	Available []string  `json:"available"`
	Preferred form.Null `json:"preferred"`
}

// TestCard is a test card number of the hosted pages.
type TestCard struct {
	number, fingerprint string
	Declines            bool // whether the bank declines it immediately
	Authenticates       bool // whether the cardholder has to authenticate each payment (3-D Secure)
}

// authenticationCardLast4 is the last four digits of the card that requires authentication for each payment.
const authenticationCardLast4 = "3184"

// ReadCard returns the test card with the typed number. If the number is not a test card, problem
// is the message to show.
func ReadCard(typed string) (found TestCard, problem string) {
	number := strings.NewReplacer(" ", "", "-", "").Replace(typed)
	for _, c := range []TestCard{
		{number: "4242424242424242", fingerprint: "sandbox4242pays0"},
		{number: "4000000000000002", fingerprint: "sandbox0002none0", Declines: true},
		{number: "4000000000000341", fingerprint: "sandbox0341once0"}, // declined at renewals
		{number: "4000002760003184", fingerprint: "sandbox3184asks0", Authenticates: true},
		{number: "4000000000005126", fingerprint: "sandbox5126back0"}, // refunds succeed, then fail
		{number: "4000000000007726", fingerprint: "sandbox7726wait0"}, // refunds are pending, then succeed
	} {
		if number == c.number {
			return c, ""
		}
	}
	switch {
	case number == "":
		return TestCard{}, "Enter a card number."
	case !form.Digits(number) || len(number) < 12 || len(number) > 19 || !luhn(number):
		return TestCard{}, "This is not a valid card number. Use one of the test cards."
	}
	return TestCard{}, "No real card is charged here. Use one of the test cards."
}

// Describe describes the card or account for display.
func (pm *PaymentMethod) Describe() string {
	if pm.SepaDebit != nil {
		return "SEPA debit from account ending in " + pm.SepaDebit.Last4
	}
	return fmt.Sprintf("Visa ending in %s, expires %02d/%d", pm.Card.Last4, pm.Card.ExpMonth, pm.Card.ExpYear)
}

// Presence is whether the buyer is present when a card is charged.
type Presence bool

// The buyer is present on a hosted page, and absent at a renewal or a retry.
const (
	BuyerPresent Presence = true
	BuyerAbsent  Presence = false
)

// Declines reports whether the bank declines the card. The card ending in 0341 is accepted only
// while the buyer is present.
func (pm *PaymentMethod) Declines(present Presence) bool {
	return pm.Card != nil && pm.Card.Last4 == "0341" && present == BuyerAbsent
}

// Authenticates reports whether the cardholder has to authenticate each payment, whether the buyer
// is present or not.
func (pm *PaymentMethod) Authenticates() bool {
	return pm.Card != nil && pm.Card.Last4 == authenticationCardLast4
}

// luhn checks the check digit of a card number.
func luhn(number string) bool {
	sum := 0
	for i := range len(number) {
		digit := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if digit *= 2; digit > 9 {
				digit -= 9
			}
		}
		sum += digit
	}
	return sum%10 == 0
}

// NewCard returns a customer's card without storing it.
func NewCard(st *kernel.Step, c TestCard, cu *Customer) *PaymentMethod {
	pm := newPaymentMethod(st, MethodCard, cu)
	pm.Card = &card{
		Brand: "visa", DisplayBrand: "visa", Country: "US", Funding: "credit",
		Checks:   CardChecks{CVC: "pass"},
		ExpMonth: 12, ExpYear: time.Unix(st.Now, 0).UTC().Year() + 4,
		Fingerprint: c.fingerprint, Last4: c.number[len(c.number)-4:],
		Networks: cardNetworks{Available: []string{"visa"}}, RegulatedStatus: "unregulated",
	}
	pm.Card.ThreeDSecureUsage.Supported = true
	return pm
}

// Attach stores a new payment method and attaches it to its customer.
func (pm *PaymentMethod) Attach(ctx context.Context, st *kernel.Step) error {
	return st.Create(ctx, "payment_method.attached", pm)
}

// StoreUnsaved stores a payment method that pays once and is not attached to the customer.
func (pm *PaymentMethod) StoreUnsaved(ctx context.Context, st *kernel.Step) error {
	pm.Customer, pm.AllowRedisplay = nil, "unspecified"
	return kernel.Put(ctx, st.Q, pm)
}

// newPaymentMethod returns a payment method with the fields that cards and bank accounts share.
func newPaymentMethod(st *kernel.Step, kind string, cu *Customer) *PaymentMethod {
	pm := &PaymentMethod{
		Header: PaymentMethods.Start(st.Now), AllowRedisplay: "limited", Customer: &cu.ID,
		BillingDetails: BillingDetails{Email: cu.Email, Name: cu.Name, Phone: cu.Phone},
		Metadata:       map[string]string{}, Type: kind,
	}
	if cu.Address != nil {
		pm.BillingDetails.Address = *cu.Address
	}
	return pm
}
