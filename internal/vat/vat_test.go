package vat_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/vat"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for country, numbers := range map[string]struct{ good, bad []string }{
		"AT": {[]string{"ATU12345678"}, []string{"AT12345678", "ATU1234567", "ATU123456789"}},
		"BE": {[]string{"BE0123456789", "BE1123456789"}, []string{"BE2123456789", "BE123456789"}},
		"BG": {[]string{"BG123456789", "BG1234567890"}, []string{"BG12345678", "BG12345678901"}},
		"CY": {[]string{"CY12345678X"}, []string{"CY123456789", "CY1234567X"}},
		"CZ": {[]string{"CZ12345678", "CZ123456789", "CZ1234567890"}, []string{"CZ1234567", "CZ12345678901"}},
		"DE": {[]string{"DE123456789", "de 123 456 789", "DE-123.456.789", "DE–123 456 789"}, []string{"DE12345678", "DE1234567890", "123456789", "FR123456789", "DE１２３４５６７８９", ""}},
		"DK": {[]string{"DK12345678"}, []string{"DK123456789"}},
		"EE": {[]string{"EE123456789"}, []string{"EE12345678"}},
		"ES": {[]string{"ESB12345678", "ES12345678Z", "ESX1234567L"}, []string{"ES123456789", "ESBB2345678"}},
		"FI": {[]string{"FI12345678"}, []string{"FI1234567"}},
		"FR": {[]string{"FR 83 404 833 048", "FRXX123456789", "FR1A123456789"}, []string{"FR123", "FR8340483304A"}},
		"GR": {[]string{"EL123456789"}, []string{"GR123456789", "EL12345678"}},
		"HR": {[]string{"HR12345678901"}, []string{"HR1234567890"}},
		"HU": {[]string{"HU12345678"}, []string{"HU123456789"}},
		"IE": {[]string{"IE1234567A", "IE1234567AB", "IE1A23456B"}, []string{"IE12345678", "IE1234567ABC"}},
		"IT": {[]string{"IT12345678901"}, []string{"IT123"}},
		"LT": {[]string{"LT123456789", "LT123456789012"}, []string{"LT1234567890"}},
		"LU": {[]string{"LU12345678"}, []string{"LU1234567"}},
		"LV": {[]string{"LV12345678901"}, []string{"LV1234567890"}},
		"MT": {[]string{"MT12345678"}, []string{"MT123456789"}},
		"NL": {[]string{"NL123456789B01", "nl123456789b01"}, []string{"NL123456789", "NL123456789C01"}},
		"PL": {[]string{"PL1234567890"}, []string{"PL123456789"}},
		"PT": {[]string{"PT123456789"}, []string{"PT12345678"}},
		"RO": {[]string{"RO12", "RO1234567890"}, []string{"RO1", "RO12345678901"}},
		"SE": {[]string{"SE123456789012"}, []string{"SE12345678901"}},
		"SI": {[]string{"SI12345678"}, []string{"SI1234567", "ſi12345678"}},
		"SK": {[]string{"SK1234567890"}, []string{"SK123456789"}},
		"GB": {[]string{"GB123456789", "GB123456789012"}, []string{"GB1", "GB1234567890", "XI123456789"}},
		"CH": {[]string{"CHE123456789", "CHE-123.456.789 MWST", "CHE123456789TVA", "CHE123456789IVA"}, []string{"CH123456789", "CHE12345678", "CHE123456789HR"}},
	} {
		for _, number := range numbers.good {
			if _, ok := vat.Parse(number, country, false); !ok {
				t.Errorf("%s: %q is refused", country, number)
			}
		}
		for _, number := range numbers.bad {
			if _, ok := vat.Parse(number, country, false); ok {
				t.Errorf("%s: %q is accepted", country, number)
			}
		}
	}
	for number, want := range map[string]string{
		" de 123.456-789 ":       "DE123456789",
		"fr 83 404\u00a0833 048": "FR83404833048",
	} {
		if got, ok := vat.Parse(number, vat.CountryOf(number), false); got != want || !ok {
			t.Errorf("%q: %q %v, want %q", number, got, ok, want)
		}
	}
}

func TestParseTestValues(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"000000000", "111111111", "222222222"} {
		for country, want := range map[string]bool{"FR": true, "DE": true, "GR": true, "GB": true, "CH": false, "US": false, "": false} {
			if _, ok := vat.Parse(number, country, true); ok != want {
				t.Errorf("%s in %q: %v", number, country, ok)
			}
			if _, ok := vat.Parse(number, country, false); ok {
				t.Errorf("%s in %q is accepted with a live key", number, country)
			}
		}
	}
	if _, ok := vat.Parse("333333333", "FR", true); ok {
		t.Error("a number without prefix that is not a test value is accepted")
	}
}

func TestCountries(t *testing.T) {
	t.Parallel()
	for country, want := range map[string]vat.Scheme{
		"DE": vat.Union, "GR": vat.Union, "GB": vat.UnitedKingdom, "CH": vat.Switzerland,
		"EL": vat.NoScheme, "US": vat.NoScheme, "NO": vat.NoScheme, "de": vat.NoScheme, "": vat.NoScheme,
	} {
		if got := vat.SchemeOf(country); got != want {
			t.Errorf("scheme of %q: %q", country, got)
		}
		if got := vat.IsInEU(country); got != (want == vat.Union) {
			t.Errorf("%q in the union: %v", country, got)
		}
	}
	for number, want := range map[string]string{
		"DE123456789": "DE", " fr12345678901": "FR", "EL123456789": "GR", "CHE123456789": "CH", "GB1": "GB",
		"GR123456789": "", "B12345678": "", "1": "", "": "", "US12": "",
	} {
		if got := vat.CountryOf(number); got != want {
			t.Errorf("country of %q: %q, want %q", number, got, want)
		}
	}
	if !vat.IsForeign("DE123456789", "US") || !vat.IsForeign("DE123456789", "FR") || vat.IsForeign("DE123456789", "DE") || vat.IsForeign("12-3456789", "US") {
		t.Error("a foreign number is not recognized, or a domestic number counts as foreign")
	}
}
