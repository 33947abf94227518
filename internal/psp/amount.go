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

// The provider has rules of its own, which are not those of ISO 4217
// (https://docs.stripe.com/currencies, zero-decimal, three-decimal and special
// cases).
const (
	zeroDecimal  = "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF"
	threeDecimal = "BHD JOD KWD OMR TND"
	// Counted in hundredths for historical reasons, though there are no such coins.
	wholeOnly = "ISK UGX"
)

// MinorUnits returns how many decimals the provider's amounts of a currency have: 0,
// 2 or 3. A currency that is configured otherwise here cannot be charged: its
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

// CheckMinorUnits returns ErrMinorUnits for a currency whose amounts have another
// number of decimals here than at the provider.
func CheckMinorUnits(currency string, minorUnits int) error {
	if want := MinorUnits(currency); minorUnits != want {
		return ErrMinorUnits.Wrap(fmt.Errorf("%s has %d decimals here and %d at the provider", currency, minorUnits, want))
	}
	return nil
}

// CheckAmount returns ErrAmount for amounts that the provider refuses: a negative one,
// one that does not end in 0 where there are three decimals, and a fraction of a
// currency that has whole units but is counted in hundredths.
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
