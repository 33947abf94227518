package i18n_test

import (
	"math"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
)

// each checks the text for every locale, in the order of i18n.Locales.
func each(t *testing.T, got func(locale string) string, want [4]string) {
	t.Helper()
	for i, locale := range i18n.Locales() {
		if text := got(locale); text != want[i] {
			t.Errorf("%s: %q, want %q", locale, text, want[i])
		}
	}
}

func TestInstant(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*60*60)
	each(t, func(locale string) string {
		return i18n.NewFormatter(locale).Instant(time.Date(2026, 8, 1, 1, 30, 59, 0, zone))
	}, [4]string{
		"31 July 2026 at 23:30 UTC", "31 juillet 2026 à 23\u00a0h\u00a030 (UTC)", "31 de julio de 2026 a las 23:30 UTC", "31 luglio 2026 alle ore 23:30 UTC",
	})
	each(t, func(locale string) string {
		return i18n.NewFormatter(locale).Instant(time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC))
	}, [4]string{
		"1 February 2027 at 00:00 UTC", "1er février 2027 à 0\u00a0h\u00a000 (UTC)", "1 de febrero de 2027 a las 00:00 UTC", "1º febbraio 2027 alle ore 00:00 UTC",
	})
}

func TestTotal(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64][4]string{
		0:                         {"0", "0", "0", "0"},
		1:                         {"0.000001", "0,000001", "0,000001", "0,000001"},
		-1_500_000:                {"-1.5", "-1,5", "-1,5", "-1,5"},
		80_500_000:                {"80.5", "80,5", "80,5", "80,5"},
		1_000_000_000_000_000_001: {"1,000,000,000,000.000001", "1\u202f000\u202f000\u202f000\u202f000,000001", "1.000.000.000.000,000001", "1.000.000.000.000,000001"},
	} {
		each(t, func(locale string) string { return i18n.NewFormatter(locale).Millionths(n) }, want)
	}
	most := money.Total{Units: money.MaxTotal - 1, Millionths: 500_000}
	each(t, func(locale string) string { return i18n.NewFormatter(locale).Total(most) }, [4]string{
		"999,999,999,999,999,999.5", "999\u202f999\u202f999\u202f999\u202f999\u202f999,5", "999.999.999.999.999.999,5", "999.999.999.999.999.999,5",
	})
}

func TestMoney(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		money.Money
		minorUnits int
		want       [4]string
	}{
		{money.Money{AmountCents: 123_405, Currency: "EUR"}, 2, [4]string{"€1,234.05", "1\u202f234,05\u00a0€", "1.234,05\u00a0€", "1.234,05\u00a0€"}},
		{money.Money{AmountCents: 900, Currency: "usd"}, 2, [4]string{"$9.00", "9,00\u00a0$US", "9,00\u00a0US$", "9,00\u00a0USD"}},
		{money.Money{AmountCents: 1200, Currency: "JPY"}, 0, [4]string{"¥1,200", "1\u202f200\u00a0JPY", "1.200\u00a0JPY", "1.200\u00a0JPY"}},
		{money.Money{AmountCents: 1_500, Currency: "KWD"}, 3, [4]string{"KWD\u00a01.500", "1,500\u00a0KWD", "1,500\u00a0KWD", "1,500\u00a0KWD"}},
		{money.Money{AmountCents: 5, Currency: "XXQ"}, 2, [4]string{"XXQ\u00a00.05", "0,05\u00a0XXQ", "0,05\u00a0XXQ", "0,05\u00a0XXQ"}},
		{money.Money{AmountCents: -150, Currency: "EUR"}, 2, [4]string{"-€1.50", "-1,50\u00a0€", "-1,50\u00a0€", "-1,50\u00a0€"}},
		{money.Money{AmountCents: math.MaxInt64, Currency: "EUR"}, 0, [4]string{
			"€9,223,372,036,854,775,807", "9\u202f223\u202f372\u202f036\u202f854\u202f775\u202f807\u00a0€", "9.223.372.036.854.775.807\u00a0€", "9.223.372.036.854.775.807\u00a0€",
		}},
	} {
		each(t, func(locale string) string { return i18n.NewFormatter(locale).Money(tt.Money, tt.minorUnits) }, tt.want)
	}
}

func TestUnitPrice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		minor, currency string
		minorUnits      int
		want            [4]string
	}{
		{"1250", "EUR", 2, [4]string{"€12.50", "12,50\u00a0€", "12,50\u00a0€", "12,50\u00a0€"}},
		{"0.000000000001", "EUR", 2, [4]string{"€0.00000000000001", "0,00000000000001\u00a0€", "0,00000000000001\u00a0€", "0,00000000000001\u00a0€"}},
		{"-7.5", "EUR", 2, [4]string{"-€0.075", "-0,075\u00a0€", "-0,075\u00a0€", "-0,075\u00a0€"}},
		{"7", "EUR", 2, [4]string{"€0.07", "0,07\u00a0€", "0,07\u00a0€", "0,07\u00a0€"}},
		{"1200.5", "JPY", 0, [4]string{"¥1,200.5", "1\u202f200,5\u00a0JPY", "1.200,5\u00a0JPY", "1.200,5\u00a0JPY"}},
		{"nonsense", "EUR", 2, [4]string{"nonsense", "nonsense", "nonsense", "nonsense"}},
	} {
		each(t, func(locale string) string {
			return i18n.NewFormatter(locale).UnitPrice(tt.minor, tt.currency, tt.minorUnits)
		}, tt.want)
	}
}

func TestDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][4]string{
		"0": {"0", "0", "0", "0"}, "-0.5": {"-0.5", "-0,5", "-0,5", "-0,5"}, "-1234.50": {"-1,234.50", "-1\u202f234,50", "-1.234,50", "-1.234,50"}, "x": {"x", "x", "x", "x"},
	} {
		each(t, func(locale string) string { return i18n.NewFormatter(locale).Decimal(text) }, want)
	}
}
