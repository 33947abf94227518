package app

import (
	"maps"
	"strings"
	"testing"
)

const noSuchID = "01990000-0000-7000-8000-000000000000"

// refusal is a change to a valid body, and the fields that it breaks.
type refusal struct {
	change object
	fields []string
}

// slugRefusals are what the rules of slugs and codes refuse.
func slugRefusals(field string) map[string]refusal {
	one := []string{field}
	return map[string]refusal{
		"no " + field:               {object{field: absent}, one},
		field + ": empty":           {object{field: " "}, one},
		field + ": null":            {object{field: nil}, one},
		field + ": a space":         {object{field: "a b"}, one},
		field + ": a slash":         {object{field: "a/b"}, one},
		field + ": no ASCII":        {object{field: "é"}, one},
		field + ": a line break":    {object{field: "a\nb"}, one},
		field + ": too long":        {object{field: strings.Repeat("a", 256)}, one},
		field + ": a number":        {object{field: 5}, one},
		field + ": another's":       {object{field: "taken"}, one},
		"several at once, " + field: {object{field: "a b", "name": object{"fr": "x"}, "is_active": "yes"}, []string{field, "name.en", "is_active"}},
	}
}

// recordRefusals are what the rules of all records refuse.
var recordRefusals = map[string]refusal{
	"no name":                      {object{"name": absent}, []string{"name"}},
	"a name as text":               {object{"name": "Plain"}, []string{"name"}},
	"a name without en":            {object{"name": object{"fr": "x"}}, []string{"name.en"}},
	"an empty name":                {object{"name": object{"en": "  "}}, []string{"name.en"}},
	"en as null":                   {object{"name": object{"en": nil}}, []string{"name.en"}},
	"a long name":                  {object{"name": object{"en": strings.Repeat("é", 256)}}, []string{"name.en"}},
	"a long French name":           {object{"name": object{"en": "x", "fr": strings.Repeat("é", 256)}}, []string{"name.fr"}},
	"an unknown locale":            {object{"name": object{"en": "x", "de": "x"}}, []string{"name.de"}},
	"a locale in capitals":         {object{"name": object{"EN": "x"}}, []string{"name.EN", "name.en"}},
	"a name of two lines":          {object{"name": object{"en": "a\nb"}}, []string{"name.en"}},
	"a name as number":             {object{"name": object{"en": 5}}, []string{"name.en"}},
	"a description without en":     {object{"description": object{"it": "x"}}, []string{"description.en"}},
	"a description as text":        {object{"description": "x"}, []string{"description"}},
	"a long description":           {object{"description": object{"en": strings.Repeat("x", 65536)}}, []string{"description.en"}},
	"a description, other locale":  {object{"description": object{"en": "x", "pt": "x"}}, []string{"description.pt"}},
	"is_active as number":          {object{"is_active": 1}, []string{"is_active"}},
	"is_active as null":            {object{"is_active": nil}, []string{"is_active"}},
	"metadata as list":             {object{"metadata": []any{}}, []string{"metadata"}},
	"metadata as text":             {object{"metadata": "{}"}, []string{"metadata"}},
	"several fields at once, name": {object{"name": object{"en": ""}, "metadata": 5, "is_active": 0}, []string{"name.en", "metadata", "is_active"}},
}

var planRefusals = map[string]refusal{
	"no product":           {object{"product_id": absent}, []string{"product_id"}},
	"product: no UUID":     {object{"product_id": "x"}, []string{"product_id"}},
	"product: unknown":     {object{"product_id": noSuchID}, []string{"product_id"}},
	"no pricing type":      {object{"pricing_type": absent}, []string{"pricing_type"}},
	"pricing type: other":  {object{"pricing_type": "tiered"}, []string{"pricing_type"}},
	"pricing type: case":   {object{"pricing_type": "FLAT"}, []string{"pricing_type"}},
	"no cycle":             {object{"billing_cycle": absent}, []string{"billing_cycle"}},
	"cycle: other":         {object{"billing_cycle": "daily"}, []string{"billing_cycle"}},
	"unit: other":          {object{"interval_unit": "months"}, []string{"interval_unit"}},
	"count: 0":             {object{"interval_count": 0}, []string{"interval_count"}},
	"count: too many":      {object{"billing_cycle": "yearly", "interval_count": 4}, []string{"interval_count"}},
	"trial: negative":      {object{"trial_days": -1}, []string{"trial_days"}},
	"trial: a fraction":    {object{"trial_days": 1.5}, []string{"trial_days"}},
	"trial: too long":      {object{"trial_days": 731}, []string{"trial_days"}},
	"trial: null":          {object{"trial_days": nil}, []string{"trial_days"}},
	"order: negative":      {object{"sort_order": -1}, []string{"sort_order"}},
	"order: beyond 32 bit": {object{"sort_order": 1 << 31}, []string{"sort_order"}},
	"what only the database knows, at once": {
		object{"product_id": noSuchID, "slug": "taken", "interval_count": 1000}, []string{"product_id", "slug", "interval_count"},
	},
}

// Every rule refuses a new record, and, but for what may be left out of one, a
// change of a record.
func TestCatalogRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		product := k.product("taken")
		k.feature("taken")
		k.planOf(product, "taken")
		for kind, c := range map[string]struct {
			valid object
			rules []map[string]refusal
		}{
			"products": {object{"slug": "new", "name": object{"en": "New"}}, []map[string]refusal{slugRefusals("slug"), recordRefusals}},
			"features": {object{"code": "new", "name": object{"en": "New"}}, []map[string]refusal{slugRefusals("code"), recordRefusals}},
			"plans":    {planBody(product, "new"), []map[string]refusal{slugRefusals("slug"), recordRefusals, planRefusals}},
		} {
			id := k.make(kind, c.valid, object{"slug": "own", "code": "own"})
			before := k.on("GET", "/"+kind+"/"+id, nil).want(200).text
			for _, rules := range c.rules {
				for name, r := range rules {
					k.on("POST", "/"+kind, with(c.valid, r.change)).fields(t, kind+": "+name, r.fields...)
					if change, fields := ofPatch(r); len(fields) > 0 {
						k.on("PATCH", "/"+kind+"/"+id, change).fields(t, kind+" changed: "+name, fields...)
					}
				}
			}
			if after := k.on("GET", "/"+kind+"/"+id, nil).want(200).text; after != before {
				t.Errorf("%s: a refused change changed\n%s to\n%s", kind, before, after)
			}
			k.on("POST", "/"+kind, "[]").want(422)
			k.on("POST", "/"+kind, "{").want(400)
			for _, path := range []string{"/" + kind + "/" + noSuchID, "/" + kind + "/1", "/" + kind + "/" + id + "0"} {
				k.on("GET", path, nil).refused(404, "")
				k.on("PATCH", path, object{"name": 5}).refused(404, "")
				k.on("DELETE", path, nil).refused(404, "")
			}
			k.on("PATCH", "/"+kind+"/"+id, object{"slug": "own", "code": "own"}).want(200) // its own is not another's
		}
	})
}

// ofPatch is what a refusal of a new record comes to for a change, where a key
// may be absent, and so may en.
func ofPatch(r refusal) (change object, fields []string) {
	change = with(object{}, r.change)
	for _, field := range r.fields {
		key, locale, _ := strings.Cut(field, ".")
		value, given := change[key]
		texts, _ := value.(object)
		if locale == "en" && key == "name" && texts != nil {
			_, given = texts["en"]
		}
		if given {
			fields = append(fields, field)
		}
	}
	maps.DeleteFunc(change, func(_ string, value any) bool { return value == absent })
	return change, fields
}
