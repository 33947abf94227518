package shape_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	jsonexp "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// In nested lists and objects, each invalid value is reported with its path, in the order of fields
// and items.
func TestPaths(t *testing.T) {
	t.Parallel()
	type cell struct {
		Name  string     `json:"name" minLength:"1"`
		Texts [][]string `json:"texts,omitempty" maxItems:"2"`
		Inner []struct {
			Count int32 `json:"count"`
		} `json:"inner,omitempty"`
	}
	type body struct {
		Rows   []cell                        `json:"rows" minItems:"1"`
		Titles map[string]shape.Texts        `json:"titles,omitempty"`
		Maps   map[string]map[string]float64 `json:"maps,omitempty"`
	}
	rules := rulesOf[body](t)
	for text, want := range map[string]map[string]string{
		`{}`:                        {"rows": "required"},
		`{"rows":[]}`:               {"rows": "min_items"},
		`{"rows":{}}`:               {"rows": "array"},
		`{"rows":[null]}`:           {"rows.0": "null"},
		`{"rows":[[]]}`:             {"rows.0": "object"},
		`{"rows":[{"name":"a"}]}`:   nil,
		`{"rows":[{"name":" "}]}`:   {"rows.0.name": "required"},
		`{"rows":[{"name":"a"},1]}`: {"rows.1": "object"},
		`{"rows":[{"name":"a","texts":[["a",1],[null],"x"]}]}`:                                          {"rows.0.texts": "max_items"},
		`{"rows":[{"name":"a","texts":[["a",1],"x"]}]}`:                                                 {"rows.0.texts.0.1": "string", "rows.0.texts.1": "array"},
		`{"rows":[{"name":"a","texts":[[null]]}]}`:                                                      {"rows.0.texts.0.0": "null"},
		`{"rows":[{"name":"a"},{"inner":[{"count":1},{"count":2147483648},{"count":-2147483649},{}]}]}`: {"rows.1.name": "required", "rows.1.inner.1.count": "maximum", "rows.1.inner.2.count": "minimum", "rows.1.inner.3.count": "required"},
		`{"rows":[{"name":"a"}],"titles":{"x":{"fr":"a"},"y":{"en":"a","xx":"b"}}}`:                     {"titles.x.en": "required", "titles.y.xx": "unsupported"},
		`{"rows":[{"name":"a"}],"maps":{"a":{"b":"1","c":1},"d":null}}`:                                 {"maps.a.b": "number", "maps.d": "null"},
		`{"rows":[{"name":"a"}],"maps":{"a.b":{"c":true}}}`:                                             {"maps.a.b.c": "number"},
	} {
		if _, broken := normalize(t, rules, text); !maps.Equal(broken, want) {
			t.Errorf("%s: %v, want %v", text, broken, want)
		}
	}
}

// An invalid item of an individually validated list never rejects the request.
func TestEach(t *testing.T) {
	t.Parallel()
	type item struct {
		Name  string   `json:"name" minLength:"1" maxLength:"3"`
		Count int      `json:"count,omitempty" minimum:"1"`
		Tags  []string `json:"tags,omitempty"`
	}
	type body struct {
		Items []shape.Item[item] `json:"items" maxItems:"9"`
	}
	rules := rulesOf[body](t)
	normal, broken := normalize(t, rules, `{"items":[{"name":" a "},{"name":"long","count":0,"tags":[1]},7,null,[],{},{"name":"b","count":2.0}]}`)
	if broken != nil {
		t.Fatalf("the request is refused: %v", broken)
	}
	var got body
	if err := jsonexp.Unmarshal([]byte(normal), &got); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		item   item
		broken map[string]string
	}{
		{item: item{Name: "a"}},
		{broken: map[string]string{"name": "max_length", "count": "minimum", "tags.0": "string"}},
		{},
		{},
		{},
		{broken: map[string]string{"name": "required"}},
		{item: item{Name: "b", Count: 2}},
	}
	for i, each := range got.Items {
		var refusal *fault.Error
		errors.As(each.Err, &refusal)
		switch {
		case i >= 2 && i <= 4:
			if !errors.Is(each.Err, shape.ErrNotObject) {
				t.Errorf("%d: %v, want ErrNotObject", i, each.Err)
			}
		case want[i].broken == nil:
			if each.Err != nil || !cmp.Equal(each.Value, want[i].item) {
				t.Errorf("%d: %+v", i, each)
			}
		case refusal == nil || !maps.Equal(messagesOf(refusal.Fields), want[i].broken) || !cmp.Equal(each.Value, item{}):
			t.Errorf("%d: %+v, %v", i, each, each.Err)
		}
	}
	for text, message := range map[string]string{`{"items":{}}`: "array", `{"items":null}`: "null", `{"items":[{},{},{},{},{},{},{},{},{},{}]}`: "max_items", `{}`: "required"} {
		if _, broken := normalize(t, rules, text); !maps.Equal(broken, map[string]string{"items": message}) {
			t.Errorf("%s: %v, want %s", text, broken, message)
		}
	}
}

func TestConfirmation(t *testing.T) {
	t.Parallel()
	rules := rulesOf[struct {
		Password     string  `json:"password" format:"password" minLength:"3"`
		Confirmation *string `json:"password_confirmation,omitempty" format:"password"`
	}](t)
	for text, want := range map[string]map[string]string{
		`{"password":"abc","password_confirmation":"abc"}`:      nil,
		`{"password":"abc","password_confirmation":"\u0061bc"}`: nil,
		`{"password":"abc"}`: nil,
		`{"password":"abc","password_confirmation":"abd"}`:  {"password_confirmation": "confirmed"},
		`{"password":"abc","password_confirmation":"abc "}`: {"password_confirmation": "confirmed"},
		`{"password":"abc","password_confirmation":"ABC"}`:  {"password_confirmation": "confirmed"},
		`{"password":"ab","password_confirmation":"x"}`:     {"password": "min_length", "password_confirmation": "confirmed"},
		`{"password":"ab","password_confirmation":"ab"}`:    {"password": "min_length"},
		`{"password":"","password_confirmation":"x"}`:       {"password": "required"},
		`{"password":5,"password_confirmation":"x"}`:        {"password": "string"},
		`{"password_confirmation":"x"}`:                     {"password": "required"},
		`{"password":"abc","password_confirmation":null}`:   {"password_confirmation": "null"},
	} {
		if _, broken := normalize(t, rules, text); !maps.Equal(broken, want) {
			t.Errorf("%s: %v, want %v", text, broken, want)
		}
	}
}

func TestOpt(t *testing.T) {
	t.Parallel()
	type body struct {
		Name shape.Opt[string]     `json:"name,omitzero"`
		Note shape.Opt[string]     `json:"note,omitzero" nullable:"true"`
		At   shape.Opt[shape.Time] `json:"at,omitzero" nullable:"true"`
	}
	rules := rulesOf[body](t)
	old := "old"
	for text, want := range map[string]struct {
		name string
		note *string
		set  bool
	}{
		`{}`:                        {"kept", &old, false},
		`{"note":null}`:             {"kept", nil, true},
		`{"note":""}`:               {"kept", nil, true},
		`{"name":"","note":" x "}`:  {"", ptr("x"), true},
		`{"name":"n"}`:              {"n", &old, false},
		`{"note":"a","note":null}`:  {"kept", nil, true},
		`{"note":null,"note":"b"}`:  {"kept", ptr("b"), true},
		`{"NOTE":null,"unknown":1}`: {"kept", &old, false},
	} {
		normal, broken := normalize(t, rules, text)
		var got body
		if err := jsonexp.Unmarshal([]byte(normal), &got); err != nil || broken != nil {
			t.Fatalf("%s: %v %v", text, err, broken)
		}
		if got.Name.OrValue("kept") != want.name || !cmp.Equal(got.Note.Or(&old), want.note) || got.Note.Set != want.set {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for text, want := range map[string]map[string]string{
		`{"name":null}`: {"name": "null"}, `{"name":1}`: {"name": "string"}, `{"at":"now"}`: {"at": "datetime"}, `{"note":[]}`: {"note": "string"},
	} {
		if _, broken := normalize(t, rules, text); !maps.Equal(broken, want) {
			t.Errorf("%s: %v, want %v", text, broken, want)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestPeek(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"email":" a@b.example "}`:                "a@b.example",
		`{"\u0065mail":"\u0061"}`:                  "a",
		`{"email":"a","email":"b"}`:                "b",
		`{"email":"a","email":5}`:                  "",
		`{"email":null}`:                           "",
		`{"Email":"a"}`:                            "",
		`{"x":{"email":"a"},"y":["email","a"]}`:    "",
		`{}`:                                       "",
		`{"x":[[[{"email":"no"}]]],"email":"yes"}`: "yes",
	} {
		if got, _ := shape.Peek(jsontext.Value(text), "email"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A field rule that is not enforced panics at startup.
func TestRulesThatNothingEnforces(t *testing.T) {
	t.Parallel()
	for name, compile := range map[string]func(){
		"uniqueItems": func() {
			rulesOf[struct {
				Tags []string `json:"tags" uniqueItems:"true"`
			}](t)
		},
		"exclusiveMaximum": func() {
			rulesOf[struct {
				Ratio float64 `json:"ratio" exclusiveMaximum:"1"`
			}](t)
		},
		"format": func() {
			rulesOf[struct {
				Host string `json:"host" format:"hostname"`
			}](t)
		},
		"a time without a fixed fraction": func() {
			type inner struct {
				At time.Time `json:"at"`
			}
			rulesOf[struct {
				Inner inner `json:"inner"`
			}](t)
		},
		"an Each of texts": func() {
			rulesOf[struct {
				Items []shape.Item[string] `json:"items"`
			}](t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			compile()
		})
	}
}
