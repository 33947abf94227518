package currency

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/catalog"
)

// Each ISO currency meets the validation rules for new currencies and is listed once.
func TestISOCurrenciesObeyTheRules(t *testing.T) {
	t.Parallel()
	listed, err := isoCurrencies()
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`^[A-Z]{3}$`)
	byCode := map[string]catalog.Currency{}
	symbols := map[string]string{}
	for _, c := range listed {
		if !code.MatchString(c.Code) {
			t.Errorf("code %q", c.Code)
		}
		if _, twice := byCode[c.Code]; twice {
			t.Errorf("%s is listed twice", c.Code)
		}
		byCode[c.Code] = c
		if n := utf8.RuneCountInString(c.Name); n < 1 || n > 100 || c.Name != strings.TrimSpace(c.Name) {
			t.Errorf("%s: name %q", c.Code, c.Name)
		}
		if n := utf8.RuneCountInString(c.Symbol); n < 1 || n > 10 || c.Symbol != strings.TrimSpace(c.Symbol) {
			t.Errorf("%s: symbol %q", c.Code, c.Symbol)
		}
		if c.MinorUnits != 0 && c.MinorUnits != 2 && c.MinorUnits != 3 {
			t.Errorf("%s: %d decimals", c.Code, c.MinorUnits)
		}
		if !c.IsActive {
			t.Errorf("%s is not active", c.Code)
		}
		if other, taken := symbols[c.Symbol]; taken {
			t.Errorf("%s and %s have one symbol", other, c.Code)
		}
		symbols[c.Symbol] = c.Code
	}
	if !slices.IsSortedFunc(listed, func(a, b catalog.Currency) int { return cmp.Compare(a.Code, b.Code) }) {
		t.Error("not sorted by code")
	}
	for decimals, codes := range map[int32]string{
		0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
		2: "AUD BRL CAD CHF CNY CZK DKK EUR GBP HUF IDR INR MXN NOK PLN SEK TRY TWD USD ZAR",
		3: "BHD IQD JOD KWD LYD OMR TND",
	} {
		for code := range strings.FieldsSeq(codes) {
			if c, ok := byCode[code]; !ok || c.MinorUnits != decimals {
				t.Errorf("%s: %+v, want %d decimals", code, c, decimals)
			}
		}
	}
	for code := range strings.FieldsSeq("BOV CHE CHW CLF COU MXV USN UYI UYW XAG XAU XBA XDR XPD XPT XSU XTS XUA XXX DEM FRF HRK ITL") {
		if _, there := byCode[code]; there {
			t.Errorf("%s is not a currency for amounts", code)
		}
	}
}
