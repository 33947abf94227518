package blackbox_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// refusal is a change that makes a valid body invalid, and the invalid fields.
type refusal struct {
	change apptest.Object
	fields []string
}

// slugRefusals are the invalid values of slugs and codes.
func slugRefusals(field string) map[string]refusal {
	one := []string{field}
	return map[string]refusal{
		"no " + field:               {apptest.Object{field: apptest.Absent}, one},
		field + ": empty":           {apptest.Object{field: " "}, one},
		field + ": null":            {apptest.Object{field: nil}, one},
		field + ": a space":         {apptest.Object{field: "a b"}, one},
		field + ": a slash":         {apptest.Object{field: "a/b"}, one},
		field + ": no ASCII":        {apptest.Object{field: "é"}, one},
		field + ": a line break":    {apptest.Object{field: "a\nb"}, one},
		field + ": too long":        {apptest.Object{field: strings.Repeat("a", 256)}, one},
		field + ": a number":        {apptest.Object{field: 5}, one},
		field + ": another's":       {apptest.Object{field: "taken"}, one},
		"several at once, " + field: {apptest.Object{field: "a b", "name": apptest.Object{"fr": "x"}, "is_active": "yes"}, []string{field, "name.en", "is_active"}},
	}
}

// recordRefusals are the invalid values of fields that all records share.
var recordRefusals = map[string]refusal{
	"no name":                      {apptest.Object{"name": apptest.Absent}, []string{"name"}},
	"a name as text":               {apptest.Object{"name": "Plain"}, []string{"name"}},
	"a name without en":            {apptest.Object{"name": apptest.Object{"fr": "x"}}, []string{"name.en"}},
	"an empty name":                {apptest.Object{"name": apptest.Object{"en": "  "}}, []string{"name.en"}},
	"en as null":                   {apptest.Object{"name": apptest.Object{"en": nil}}, []string{"name.en"}},
	"a long name":                  {apptest.Object{"name": apptest.Object{"en": strings.Repeat("é", 256)}}, []string{"name.en"}},
	"a long French name":           {apptest.Object{"name": apptest.Object{"en": "x", "fr": strings.Repeat("é", 256)}}, []string{"name.fr"}},
	"an unknown locale":            {apptest.Object{"name": apptest.Object{"en": "x", "de": "x"}}, []string{"name.de"}},
	"a locale in capitals":         {apptest.Object{"name": apptest.Object{"EN": "x"}}, []string{"name.EN", "name.en"}},
	"a name of two lines":          {apptest.Object{"name": apptest.Object{"en": "a\nb"}}, []string{"name.en"}},
	"a name as number":             {apptest.Object{"name": apptest.Object{"en": 5}}, []string{"name.en"}},
	"a description without en":     {apptest.Object{"description": apptest.Object{"it": "x"}}, []string{"description.en"}},
	"a description as text":        {apptest.Object{"description": "x"}, []string{"description"}},
	"a long description":           {apptest.Object{"description": apptest.Object{"en": strings.Repeat("x", 65536)}}, []string{"description.en"}},
	"a description, other locale":  {apptest.Object{"description": apptest.Object{"en": "x", "pt": "x"}}, []string{"description.pt"}},
	"is_active as number":          {apptest.Object{"is_active": 1}, []string{"is_active"}},
	"is_active as null":            {apptest.Object{"is_active": nil}, []string{"is_active"}},
	"metadata as list":             {apptest.Object{"metadata": []any{}}, []string{"metadata"}},
	"metadata as text":             {apptest.Object{"metadata": "{}"}, []string{"metadata"}},
	"several fields at once, name": {apptest.Object{"name": apptest.Object{"en": ""}, "metadata": 5, "is_active": 0}, []string{"name.en", "metadata", "is_active"}},
}

var planRefusals = map[string]refusal{
	"no product":           {apptest.Object{"product_id": apptest.Absent}, []string{"product_id"}},
	"product: no UUID":     {apptest.Object{"product_id": "x"}, []string{"product_id"}},
	"product: unknown":     {apptest.Object{"product_id": apptest.NoSuchID}, []string{"product_id"}},
	"no pricing type":      {apptest.Object{"pricing_type": apptest.Absent}, []string{"pricing_type"}},
	"pricing type: other":  {apptest.Object{"pricing_type": "tiered"}, []string{"pricing_type"}},
	"pricing type: case":   {apptest.Object{"pricing_type": "FLAT"}, []string{"pricing_type"}},
	"no cycle":             {apptest.Object{"billing_cycle": apptest.Absent}, []string{"billing_cycle"}},
	"cycle: other":         {apptest.Object{"billing_cycle": "daily"}, []string{"billing_cycle"}},
	"unit: other":          {apptest.Object{"interval_unit": "months"}, []string{"interval_unit"}},
	"count: 0":             {apptest.Object{"interval_count": 0}, []string{"interval_count"}},
	"count: too many":      {apptest.Object{"billing_cycle": "yearly", "interval_count": 4}, []string{"interval_count"}},
	"trial: negative":      {apptest.Object{"trial_days": -1}, []string{"trial_days"}},
	"trial: a fraction":    {apptest.Object{"trial_days": 1.5}, []string{"trial_days"}},
	"trial: too long":      {apptest.Object{"trial_days": 731}, []string{"trial_days"}},
	"trial: null":          {apptest.Object{"trial_days": nil}, []string{"trial_days"}},
	"order: negative":      {apptest.Object{"sort_order": -1}, []string{"sort_order"}},
	"order: beyond 32 bit": {apptest.Object{"sort_order": 1 << 31}, []string{"sort_order"}},
	"what only the database knows, at once": {
		apptest.Object{"product_id": apptest.NoSuchID, "slug": "taken", "interval_count": 1000}, []string{"product_id", "slug", "interval_count"},
	},
}

// Every validation rule applies to new records. It also applies to updates, except that fields can
// be absent.
func TestCatalogRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("taken")
		k.CreateFeature("taken")
		k.CreatePlan(product, "taken")
		for kind, c := range map[string]struct {
			valid apptest.Object
			rules []map[string]refusal
		}{
			"products": {apptest.Object{"slug": "new", "name": apptest.Object{"en": "New"}}, []map[string]refusal{slugRefusals("slug"), recordRefusals}},
			"features": {apptest.Object{"code": "new", "name": apptest.Object{"en": "New"}}, []map[string]refusal{slugRefusals("code"), recordRefusals}},
			"plans":    {apptest.PlanBody(product, "new"), []map[string]refusal{slugRefusals("slug"), recordRefusals, planRefusals}},
		} {
			id := k.Create(kind, c.valid, apptest.Object{"slug": "own", "code": "own"})
			before := k.AdminCall("GET", "/"+kind+"/"+id, nil).Want(200).Text
			for _, rules := range c.rules {
				for name, r := range rules {
					k.AdminCall("POST", "/"+kind, apptest.WithChanges(c.valid, r.change)).As(kind + ": " + name).WantInvalid(r.fields...)
					if change, fields := ofPatch(r); len(fields) > 0 {
						k.AdminCall("PATCH", "/"+kind+"/"+id, change).As(kind + " changed: " + name).WantInvalid(fields...)
					}
				}
			}
			if after := k.AdminCall("GET", "/"+kind+"/"+id, nil).Want(200).Text; after != before {
				t.Errorf("%s: a refused change changed\n%s to\n%s", kind, before, after)
			}
			k.AdminCall("POST", "/"+kind, "[]").Want(422)
			k.AdminCall("POST", "/"+kind, "{").Want(400)
			for _, path := range []string{"/" + kind + "/" + apptest.NoSuchID, "/" + kind + "/1", "/" + kind + "/" + id + "0"} {
				k.AdminCall("GET", path, nil).WantRefused(404, "")
				k.AdminCall("PATCH", path, apptest.Object{"name": 5}).WantRefused(404, "")
				k.AdminCall("DELETE", path, nil).WantRefused(404, "")
			}
			k.AdminCall("PATCH", "/"+kind+"/"+id, apptest.Object{"slug": "own", "code": "own"}).Want(200) // keeping its own slug is not a conflict
		}
	})
}

// ofPatch converts a refusal of a new record to a refusal of an update, which can omit keys and the
// English text.
func ofPatch(r refusal) (change apptest.Object, fields []string) {
	change = apptest.WithChanges(apptest.Object{}, r.change)
	for _, field := range r.fields {
		key, locale, _ := strings.Cut(field, ".")
		value, given := change[key]
		texts, _ := value.(apptest.Object)
		if locale == "en" && key == "name" && texts != nil {
			_, given = texts["en"]
		}
		if given {
			fields = append(fields, field)
		}
	}
	maps.DeleteFunc(change, func(_ string, value any) bool { return value == apptest.Absent })
	return change, fields
}
