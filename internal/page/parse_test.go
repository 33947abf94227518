package page_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/page"
)

// things has a filter of every kind.
var things = page.Spec{
	Filters: map[string]page.Filter{
		"code":   {Kind: page.ExactMatch, Exprs: []string{"code"}},
		"name":   {Kind: page.PartialMatch, Exprs: []string{"name"}},
		"active": {Kind: page.Bool, Exprs: []string{"active"}},
		"owner":  {Kind: page.UUID, Exprs: []string{"owner"}},
		"type":   {Kind: page.Enum, Exprs: []string{"type"}, Values: []string{"flat", "seat"}},
		"after":  {Kind: page.DateFrom, Exprs: []string{"at"}},
		"before": {Kind: page.DateTo, Exprs: []string{"at"}},
	},
	Sorts:       map[string]string{"code": "code", "at": "at"},
	DefaultSort: "-at",
	Tiebreak:    "id",
	Includes:    []string{"plans", "plansCount", "plans.prices"},
}

func TestNotAllowedIsMalformed(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]struct{ message, name string }{
		"filter[nope]=1":                {"error.filter_not_allowed", "nope"},
		"filter[nope]=":                 {"error.filter_not_allowed", "nope"},
		"filter[NAME]=1":                {"error.filter_not_allowed", "NAME"},
		"filter[]=1":                    {"error.filter_not_allowed", ""},
		"filter=1":                      {"error.filter_not_allowed", "filter"},
		"filter[name=1":                 {"error.filter_not_allowed", "name"},
		"filter[name][]=1":              {"error.filter_not_allowed", "name]["},
		"filter[name]]=1":               {"error.filter_not_allowed", "name]"},
		"sort=nope":                     {"error.sort_not_allowed", "nope"},
		"sort=code,-nope":               {"error.sort_not_allowed", "-nope"},
		"sort=code&sort=nope":           {"error.sort_not_allowed", "nope"},
		"sort=--code":                   {"error.sort_not_allowed", "--code"},
		"sort=-":                        {"error.sort_not_allowed", "-"},
		"sort=code;drop":                {"error.sort_not_allowed", "code;drop"},
		"sort[]=code":                   {"error.sort_not_allowed", "sort[]"},
		"include=nope":                  {"error.include_not_allowed", "nope"},
		"include=plans,nope":            {"error.include_not_allowed", "nope"},
		"include=plans&include=nope":    {"error.include_not_allowed", "nope"},
		"include=plans.nope":            {"error.include_not_allowed", "plans.nope"},
		"include=PLANS":                 {"error.include_not_allowed", "PLANS"},
		"include[]=plans":               {"error.include_not_allowed", "include[]"},
		"page=zero&sort=nope&include=x": {"error.sort_not_allowed", "nope"}, // 400 takes precedence over 422
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			query := strings.ReplaceAll(query, ";", "%3B")
			_, err := parse(t, things, query)
			var refusal *fault.Error
			if !errors.As(err, &refusal) || refusal.Kind != fault.Malformed {
				t.Fatalf("error = %v, want a malformed request", err)
			}
			if refusal.Message != want.message || refusal.Args["name"] != want.name {
				t.Errorf("rejected with %s of %q, want %s of %q", refusal.Message, refusal.Args["name"], want.message, want.name)
			}
		})
	}
}

// User input in an error must be valid in JSON and have a limited length.
func TestNotAllowedRepeatsSanely(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"filter[%ff%fe]=1", "sort=" + strings.Repeat("é", 500), "include=a%00b"} {
		_, err := parse(t, things, query)
		var refusal *fault.Error
		if !errors.As(err, &refusal) {
			t.Fatalf("Parse(%q) = %v", query, err)
		}
		name, _ := refusal.Args["name"].(string)
		if !utf8.ValidString(name) || len(name) > 64 {
			t.Errorf("Parse(%q) repeats %q", query, name)
		}
		if _, err := json.Marshal(name); err != nil {
			t.Error(err)
		}
	}
}

func TestBadValuesAreInvalid(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]fault.Field{
		"page=0":                      {{Path: "page", Message: "validation.minimum", Args: map[string]any{"min": 1}}},
		"page=-3":                     {{Path: "page", Message: "validation.minimum", Args: map[string]any{"min": 1}}},
		"page=1.0":                    {{Path: "page", Message: "validation.integer"}},
		"page=one":                    {{Path: "page", Message: "validation.integer"}},
		"page=9999999999999999999999": {{Path: "page", Message: "validation.integer"}},
		"per_page=101":                {{Path: "per_page", Message: "validation.maximum", Args: map[string]any{"max": int64(100)}}},
		"per_page=0":                  {{Path: "per_page", Message: "validation.minimum", Args: map[string]any{"min": 1}}},
		"filter[active]=yes":          {{Path: "filter.active", Message: "validation.boolean"}},
		"filter[active]=TRUE":         {{Path: "filter.active", Message: "validation.boolean"}},
		"filter[owner]=1":             {{Path: "filter.owner", Message: "validation.uuid"}},
		"filter[owner]=urn:uuid:0197a1b2-0000-7000-8000-000000000001": {{Path: "filter.owner", Message: "validation.uuid"}},
		"filter[type]=usage":                       {{Path: "filter.type", Message: "validation.enum", Args: map[string]any{"values": "flat, seat"}}},
		"filter[after]=today":                      {{Path: "filter.after", Message: "validation.datetime"}},
		"filter[after]=2026-02-30":                 {{Path: "filter.after", Message: "validation.datetime"}},
		"filter[before]=0000-01-01":                {{Path: "filter.before", Message: "validation.datetime"}},
		"filter[before]=9999-12-31T23:00:00-02:00": {{Path: "filter.before", Message: "validation.datetime"}},
		"filter[name]=a%00b":                       {{Path: "filter.name", Message: "validation.characters"}},
		"filter[code]=%ff":                         {{Path: "filter.code", Message: "validation.characters"}},
		"filter[name]=" + strings.Repeat("x", 256): {{Path: "filter.name", Message: "validation.max_length", Args: map[string]any{"max": 255}}},
		"filter[type]=x&page=0&filter[active]=x": {
			{Path: "page", Message: "validation.minimum", Args: map[string]any{"min": 1}},
			{Path: "filter.active", Message: "validation.boolean"},
			{Path: "filter.type", Message: "validation.enum", Args: map[string]any{"values": "flat, seat"}},
		},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, things, query)
			var refusal *fault.Error
			if !errors.As(err, &refusal) || refusal.Kind != fault.Invalid {
				t.Fatalf("error = %v, want invalid fields", err)
			}
			if diff := cmp.Diff(want, refusal.Fields); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestIncludes(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"":                                 "",
		"include=":                         "",
		"include=plans":                    "plans",
		"include=plansCount,plans":         "plans plansCount",
		"include=plansCount&include=plans": "plans plansCount",
		"include=+plans+,,":                "plans",
		"include=plans.prices":             "plans plans.prices",
	} {
		q := mustParse(t, things, query)
		var got []string
		for _, name := range things.Includes {
			if q.Includes(name) {
				got = append(got, name)
			}
		}
		wanted := strings.Fields(want)
		if diff := cmp.Diff(len(wanted), len(got)); diff != "" {
			t.Errorf("%q includes %q, want %q", query, got, wanted)
		}
		for _, name := range wanted {
			if !q.Includes(name) {
				t.Errorf("%q does not include %q", query, name)
			}
		}
	}
}

func TestBrokenSpecs(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]page.Spec{
		"an unknown default sort": {DefaultSort: "nope", Tiebreak: "id"},
		"no tiebreak":             {},
	} {
		_, err := spec.Parse(nil)
		var refusal *fault.Error
		if err == nil || errors.As(err, &refusal) {
			t.Errorf("%s: error = %v, want an error that is not a *fault.Error", name, err)
		}
	}
}
