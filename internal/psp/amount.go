package psp

import (
	"fmt"
	"strings"

	"github.com/tenantry/tenantry/internal/fault"
)

// ErrAmount refuses an amount that the provider cannot charge in its currency.
var ErrAmount = fault.Coded(fault.Invalid, fault.PSPAmountUnsupported)

// ErrMinorUnits refuses a currency whose amounts have another number of decimals
// here than at the provider. Its code is ErrAmount's: no amount can be charged.
var ErrMinorUnits = &fault.Error{
	Kind: fault.Invalid, Code: fault.PSPAmountUnsupported, Message: "error.psp_minor_units",
}

// The provider's rules are its own and not ISO 4217's
// (https://docs.stripe.com/currencies, zero-decimal, three-decimal and special
// cases).
const (
	zeroDecimal  = "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF"
	threeDecimal = "BHD JOD KWD OMR TND"
	// Counted in hundredths for history's sake though there are no such coins.
	wholeOnly = "ISK UGX"
)

// MinorUnits tells how many decimals the provider's amounts of a currency have:
// 0, 2 or 3. A currency that is configured otherwise here cannot be charged: its
// figures would be off by a factor of ten or a hundred.
func MinorUnits(currency string) int {
	switch {
	case isOneOf(currency, zeroDecimal):
		return 0
	case isOneOf(currency, threeDecimal):
		return 3
	default:
		return 2
	}
}

// CheckMinorUnits refuses with ErrMinorUnits a currency whose amounts have so many
// decimals here and another number at the provider.
func CheckMinorUnits(currency string, minorUnits int) error {
	if want := MinorUnits(currency); minorUnits != want {
		return ErrMinorUnits.Wrap(fmt.Errorf("%s has %d decimals here and %d at the provider", currency, minorUnits, want))
	}
	return nil
}

// CheckAmount refuses with ErrAmount what the provider would: a negative amount,
// a last digit other than 0 where there are three decimals, and a fraction of
// the currencies that are whole but counted in hundredths.
func CheckAmount(currency string, minor int64) error {
	step := int64(1)
	switch {
	case isOneOf(currency, threeDecimal):
		step = 10
	case isOneOf(currency, wholeOnly):
		step = 100
	}
	if minor < 0 || minor%step != 0 {
		return ErrAmount.Wrap(fmt.Errorf("%d %s is not a multiple of %d", minor, currency, step))
	}
	return nil
}

func isOneOf(currency, list string) bool {
	currency = strings.ToUpper(currency)
	return len(currency) == 3 && !strings.Contains(currency, " ") && strings.Contains(list, currency)
}
