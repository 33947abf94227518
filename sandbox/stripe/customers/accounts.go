package customers

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// The types of payment methods.
const (
	MethodCard  = "card"
	MethodDebit = "sepa_debit"
)

// sepaDebit is a bank account for SEPA Direct Debit.
type sepaDebit struct {
	BankCode      string    `json:"bank_code"`
	BranchCode    string    `json:"branch_code"`
	Country       string    `json:"country"`
	Fingerprint   string    `json:"fingerprint"`
	GeneratedFrom form.Null `json:"generated_from"`
	Last4         string    `json:"last4"`
}

// TestAccount is a test account number of the hosted page. The last four digits determine the
// outcome of a debit.
type TestAccount struct{ iban, fingerprint string }

// ReadIBAN returns the test account with the typed number. If the number is not a test account,
// problem is the message to show.
func ReadIBAN(typed string) (found TestAccount, problem string) {
	iban := strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(typed))
	for _, a := range []TestAccount{
		{"DE89370400440532013000", "sandbox3000pays0"},
		{"DE62370400440532013001", "sandbox3001fails"},
	} {
		if iban == a.iban {
			return a, ""
		}
	}
	if !validIBAN(iban) {
		return TestAccount{}, "This is not a valid IBAN. Use one of the test accounts."
	}
	return TestAccount{}, "No real account is debited here. Use one of the test accounts."
}

// validIBAN checks the two check digits of an account number: if the first four characters are
// moved to the end and letters are replaced by numbers, the result must be 1 modulo 97.
func validIBAN(iban string) bool {
	if len(iban) < 15 || len(iban) > 34 {
		return false
	}
	digits := ""
	for _, r := range iban[4:] + iban[:4] {
		switch {
		case r > unicode.MaxASCII:
			return false
		case unicode.IsDigit(r):
			digits += string(r)
		case unicode.IsUpper(r):
			digits += strconv.Itoa(int(r-'A') + 10)
		default:
			return false
		}
	}
	number, ok := new(big.Int).SetString(digits, 10)
	return ok && number.Mod(number, big.NewInt(97)).Int64() == 1
}

// NewAccount returns a customer's bank account without storing it.
func NewAccount(st *kernel.Step, a TestAccount, cu *Customer) *PaymentMethod {
	pm := newPaymentMethod(st, MethodDebit, cu)
	pm.SepaDebit = &sepaDebit{
		Country: a.iban[:2], BankCode: a.iban[4:12], Fingerprint: a.fingerprint, Last4: a.iban[len(a.iban)-4:],
	}
	return pm
}

// IsDelayed reports whether the outcome of a payment is known only after some days.
func (pm *PaymentMethod) IsDelayed() bool { return pm.SepaDebit != nil }
