package i18n_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
)

func TestQuantitiesHaveTheirUnitsAsTheLanguageWritesThem(t *testing.T) {
	t.Parallel()
	one, half, many := money.Total{Units: 1}, money.Total{Units: 1, Millionths: 500_000}, money.Total{Units: 1_234}
	for _, c := range []struct {
		label string
		n     money.Total
		want  string // in en, fr, es, it
	}{
		{"calls", one, "1 call / 1 appel / 1 llamada / 1 chiamata"},
		{"calls", half, "1.5 calls / 1,5 appel / 1,5 llamadas / 1,5 chiamate"},
		{"calls", money.Total{}, "0 calls / 0 appel / 0 llamadas / 0 chiamate"},
		{"calls", many, "1,234 calls / 1^234 appels / 1.234 llamadas / 1.234 chiamate"},
		{"calls", money.Total{Units: 2_000_000}, "2,000,000 calls / 2^000^000 appels / 2.000.000 llamadas / 2.000.000 chiamate"},
		{"Appel", many, "1,234 calls / 1^234 appels / 1.234 llamadas / 1.234 chiamate"},
		{"appels d'API", one, "1 API call / 1 appel d’API / 1 llamada a la API / 1 chiamata API"},
		{"GB", half, "1.5 GB / 1,5 Go / 1,5 GB / 1,5 GB"},
		{"KB", one, "1 kB / 1 ko / 1 kB / 1 kB"},
		{"Gigabytes", one, "1 gigabyte / 1 gigaoctet / 1 gigabyte / 1 gigabyte"},
		{"hours", money.Total{Units: 2}, "2 hours / 2 heures / 2 horas / 2 ore"},
		{"h", one, "1 h / 1 h / 1 h / 1 h"},
		{"gb", one, "1 gb / 1 gb / 1 gb / 1 gb"},
		{"kWh", one, "1 kWh / 1 kWh / 1 kWh / 1 kWh"},
		{"widgets", one, "1 (widgets) / 1 (widgets) / 1 (widgets) / 1 (widgets)"},
		{"widgets", money.Total{}, "0 widgets / 0 (widgets) / 0 widgets / 0 widgets"},
		{" ", one, "1 / 1 / 1 / 1"},
	} {
		var got []string
		for _, locale := range i18n.Locales() {
			text := i18n.UnitText(locale, c.n, c.label)
			if !strings.Contains(c.label, " ") && strings.Contains(text, " ") {
				t.Errorf("%s of %q: a line may end within %q", c.n, c.label, text)
			}
			got = append(got, text)
		}
		if set := strings.NewReplacer("\u00a0", " ", "\u202f", "^").Replace(strings.Join(got, " / ")); set != c.want {
			t.Errorf("%s of %q: %q, want %q", c.n, c.label, set, c.want)
		}
	}
}

// A name means the same unit in all languages.
func TestNoNameMeansTwoUnits(t *testing.T) {
	t.Parallel()
	known := map[string]string{}
	i18n.UnitNames(func(name, key string) {
		if other, ok := known[name]; ok && other != key {
			t.Errorf("%q is %s and %s", name, other, key)
		}
		known[name] = key
	})
	if len(known) < 100 {
		t.Errorf("only %d names were found", len(known))
	}
}
