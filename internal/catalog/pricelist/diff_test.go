package pricelist_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/catalog/pricelist"
)

// The displayed differences of a record, line by line.
func TestDifferences(t *testing.T) {
	t.Parallel()
	price, other := "price_1", "price_2"
	sixty := strings.Repeat("é", 60)
	for name, tt := range map[string]struct {
		compare func(d *pricelist.Differences)
		want    []string
	}{
		"nothing":            {func(*pricelist.Differences) {}, nil},
		"equal fields":       {func(d *pricelist.Differences) { d.Field("type", "flat", "flat"); d.Field("unit", "", "") }, nil},
		"equal texts":        {func(d *pricelist.Differences) { d.Text("name", "A", "A") }, nil},
		"equal switches":     {func(d *pricelist.Differences) { d.Bool("on", true, true); d.Bool("on", false, false) }, nil},
		"equal links":        {func(d *pricelist.Differences) { same := "price_1"; d.Link("prices.EUR", &price, &same) }, nil},
		"no links":           {func(d *pricelist.Differences) { d.Link("prices.EUR", nil, nil) }, nil},
		"a field":            {func(d *pricelist.Differences) { d.Field("prices.EUR", "900", "1200") }, []string{"prices.EUR 900 → 1200"}},
		"a new field":        {func(d *pricelist.Differences) { d.Field("prices.EUR", "", "1200") }, []string{"prices.EUR none → 1200"}},
		"a field that goes":  {func(d *pricelist.Differences) { d.Field("prices.EUR", "900", "") }, []string{"prices.EUR 900 → none"}},
		"a text":             {func(d *pricelist.Differences) { d.Text("name.en", "A", "B") }, []string{`name.en "A" → "B"`}},
		"a new text":         {func(d *pricelist.Differences) { d.Text("name.en", "", "B") }, []string{`name.en none → "B"`}},
		"a text that goes":   {func(d *pricelist.Differences) { d.Text("name.en", "A", "") }, []string{`name.en "A" → none`}},
		"a text of two":      {func(d *pricelist.Differences) { d.Text("name.en", "A", "B\n\"C\"") }, []string{`name.en "A" → "B\n\"C\""`}},
		"a text called none": {func(d *pricelist.Differences) { d.Text("name.en", "none", "") }, []string{`name.en "none" → none`}},
		"on":                 {func(d *pricelist.Differences) { d.Bool("is_active", false, true) }, []string{"is_active false → true"}},
		"off":                {func(d *pricelist.Differences) { d.Bool("is_active", true, false) }, []string{"is_active true → false"}},
		"a link":             {func(d *pricelist.Differences) { d.Link("prices.EUR", nil, &price) }, []string{"prices.EUR.psp_price_id none → price_1"}},
		"a link that goes":   {func(d *pricelist.Differences) { d.Link("prices.EUR", &price, nil) }, []string{"prices.EUR.psp_price_id price_1 → none"}},
		"another link":       {func(d *pricelist.Differences) { d.Link("prices.EUR", &price, &other) }, []string{"prices.EUR.psp_price_id price_1 → price_2"}},
		"as long as shown":   {func(d *pricelist.Differences) { d.Field("f", "", sixty) }, []string{"f none → " + sixty}},
		"longer than shown":  {func(d *pricelist.Differences) { d.Field("f", sixty+"é", "") }, []string{"f " + strings.Repeat("é", 59) + "… → none"}},
		"a long text":        {func(d *pricelist.Differences) { d.Text("f", "", sixty+"xy") }, []string{`f none → "` + strings.Repeat("é", 59) + `…"`}},
		"several, in order": {func(d *pricelist.Differences) {
			d.Bool("z", true, false)
			d.Text("m", "same", "same")
			d.Field("a", "1", "2")
		}, []string{"z true → false", "a 1 → 2"}},
		// Texts that differ only beyond the displayed part still differ.
		"far behind": {
			func(d *pricelist.Differences) { d.Field("f", sixty+"1", sixty+"2") },
			[]string{"f " + strings.Repeat("é", 59) + "… → " + strings.Repeat("é", 59) + "…"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d pricelist.Differences
			tt.compare(&d)
			if d.IsEmpty() != (len(tt.want) == 0) {
				t.Errorf("None() = %t", d.IsEmpty())
			}
			var changes pricelist.Changes
			if changed := changes.Change("plan", "x", d); changed != (len(tt.want) > 0) {
				t.Errorf("Change() = %t", changed)
			}
			var want pricelist.Changes
			for _, field := range tt.want {
				want = append(want, "~ plan x: "+field)
			}
			if diff := cmp.Diff(want, changes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	var changes pricelist.Changes
	var same, renamed pricelist.Differences
	renamed.Text("name.en", "A", "B")
	renamed.Field("sort_order", "1", "2")
	changes.Add("feature", "sso")
	changes.Change("plan", "free", same)
	changes.Change("plan", "team", renamed)
	changes.Remove("meter", "calls")
	want := pricelist.Changes{`+ feature sso`, `~ plan team: name.en "A" → "B"`, `~ plan team: sort_order 1 → 2`, `- meter calls`}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
}

// Export writes a boolean only if it is false, and a link only if the price is linked.
func TestDefaultsOfAFile(t *testing.T) {
	t.Parallel()
	if on, off := pricelist.BoolOrNil(true), pricelist.BoolOrNil(false); on != nil || off == nil || *off {
		t.Errorf("switches: %v, %v", on, off)
	}
	id, quota := "price_1", int64(5)
	if link := pricelist.LinkTo(nil); link.Given || link.PSPPriceID != nil {
		t.Errorf("no link: %+v", link)
	}
	if link := pricelist.LinkTo(&id); !link.Given || *link.PSPPriceID != id {
		t.Errorf("a link: %+v", link)
	}
	if unlimited, limited := (pricelist.Grant{}).Type(), (pricelist.Grant{Quota: &quota}).Type(); unlimited != "boolean" || limited != "quota" {
		t.Errorf("types: %s, %s", unlimited, limited)
	}
}

func TestProblemErrorSaysWhere(t *testing.T) {
	t.Parallel()
	for want, problem := range map[string]pricelist.ProblemError{
		"the file is empty":            {Message: "the file is empty"},
		"line 3: there must be one":    {Line: 3, Message: "there must be one"},
		"meters[0].code appears twice": {Path: "meters[0].code", Message: "appears twice"},
		"line 12: plans is not known":  {Line: 12, Path: "plans", Message: "is not known"},
	} {
		if got := problem.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
