package shape_test

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// rulesOf returns the schema of a body.
func rulesOf[B any](t testing.TB) *shape.Schema {
	t.Helper()
	field, _ := reflect.TypeFor[struct{ Body B }]().FieldByName("Body")
	return shape.NewRegistry(nil, nil).Input(field, "Body")
}

// normalize returns the normal form of a body, or the messages of its invalid fields.
func normalize(t rapid.TB, rules *shape.Schema, body string) (string, map[string]string) {
	t.Helper()
	if !shape.IsReadable(jsontext.Value(body)) {
		t.Fatalf("not readable: %s", body)
	}
	var broken fault.Fields
	normal := rules.Normalize(jsontext.Value(body), &broken)
	return string(normal), messagesOf(broken)
}

func messagesOf(broken fault.Fields) map[string]string {
	if len(broken) == 0 {
		return nil
	}
	messages := map[string]string{}
	for _, field := range broken {
		messages[field.Path] = strings.TrimPrefix(messages[field.Path]+"|"+strings.TrimPrefix(field.Message, "validation."), "|")
	}
	return messages
}

// forms has a field of every format in docs/rules/http.md#values.
type forms struct {
	ID       *uuid.UUID       `json:"id,omitempty"`
	Count    *int64           `json:"count,omitempty"`
	Level    *int32           `json:"level,omitempty" minimum:"-5"`
	Ratio    *float64         `json:"ratio,omitempty" exclusiveMinimum:"0" maximum:"1"`
	Quantity *shape.Quantity  `json:"quantity,omitempty"`
	Price    *shape.UnitPrice `json:"price,omitempty"`
	At       *shape.Time      `json:"at,omitempty"`
	Day      *string          `json:"day,omitempty" format:"date"`
	Active   *bool            `json:"active,omitempty"`
	Country  *string          `json:"country,omitempty" format:"country"`
	Currency *string          `json:"currency,omitempty" format:"currency"`
	URL      *string          `json:"url,omitempty" format:"uri"`
	Email    *string          `json:"email,omitempty" format:"email"`
	Metadata shape.Object     `json:"metadata,omitempty" maxBytes:"400"`
}

// Each key is a JSON value. For accepted values, the value is the normal form; "" means that it is
// unchanged.
func TestForms(t *testing.T) {
	t.Parallel()
	rules := rulesOf[forms](t)
	for field, test := range map[string]struct {
		accepted map[string]string
		refused  map[string]string // expected message
	}{
		"id": {
			accepted: map[string]string{
				`"0190a0b0-0000-7000-8000-000000000001"`: "", `"0190A0B0-0000-7000-8000-00000000000F"`: "",
				`" 0190a0b0-0000-7000-8000-000000000001 "`: `"0190a0b0-0000-7000-8000-000000000001"`,
				`"00000000-0000-0000-0000-000000000000"`:   "",
			},
			refused: map[string]string{
				`"0190a0b0-0000-7000-8000-00000000000"`: "uuid", `"0190a0b0-0000-7000-8000-00000000000g"`: "uuid",
				`"0190a0b000007000-8000-0000-00000000001"`: "uuid", `5`: "string", `null`: "null", `""`: "uuid",
			},
		},
		"count": {
			accepted: map[string]string{
				`0`: "", `-0`: "0", `9223372036854775807`: "", `-9223372036854775808`: "", `1.50e2`: "150", `100E-2`: "1", `12e0`: "12",
			},
			refused: map[string]string{
				`9223372036854775808`: "integer", `-9223372036854775809`: "integer", `1e19`: "integer", `0.1`: "integer", `1e-1`: "integer",
				`true`: "integer", `"1"`: "integer", `[1]`: "integer", `{}`: "integer", `null`: "null",
				`1` + strings.Repeat("0", 64): "integer", `1.` + strings.Repeat("0", 63): "integer", // 65 characters
			},
		},
		"level": {map[string]string{`-5`: "", `2147483647`: ""}, map[string]string{`-6`: "minimum", `2147483648`: "maximum"}},
		"ratio": {
			map[string]string{`1`: "", `0.5`: "", `5e-1`: "", `1e-300`: ""},
			map[string]string{`0`: "above", `-1`: "above", `1.0000001`: "maximum", `1e400`: "maximum", `-1e400`: "above", `"1"`: "number", `true`: "number"},
		},
		"quantity": {
			map[string]string{
				`0`: "", `-0.0`: "0", `0.000001`: "", `1.500000`: "1.5", `1.5000000000`: "1.5", `1e-6`: "0.000001", `15e-1`: "1.5", `1e12`: "1000000000000",
				`-1`: "", `999999999999.999999`: "",
			},
			map[string]string{
				`0.0000001`: "decimals", `1e-7`: "decimals", `1000000000000.000001`: "maximum", `1e13`: "maximum", `"1"`: "number", `null`: "null", `{}`: "number",
			},
		},
		"price": {
			map[string]string{`0`: "", `0.000000000001`: "", `1e12`: "1000000000000", `0.10`: "0.1"},
			map[string]string{`0.0000000000001`: "decimals", `-0.1`: "minimum", `1000000000001`: "maximum", `"1"`: "number"},
		},
		"at": {
			map[string]string{
				`"2026-01-31T08:15:30Z"`: "", `"2026-01-31T08:15:30.5+14:00"`: "", `"0001-01-01T00:00:00Z"`: "", `"9999-12-31T23:59:59.999999Z"`: "",
				`"2024-02-29T00:00:00-00:00"`: "", `" 2026-01-31T08:15:30Z"`: `"2026-01-31T08:15:30Z"`,
			},
			map[string]string{
				`"2026-01-31"`: "datetime", `"2026-01-31T08:15Z"`: "datetime", `"2026-01-31T08:15:30"`: "datetime", `"2026-01-31 08:15:30Z"`: "datetime",
				`"2026-02-29T00:00:00Z"`: "datetime", `"2026-01-31T24:00:00Z"`: "datetime", `"2026-01-31T08:60:00Z"`: "datetime",
				`"2026-01-31T08:15:30+24:00"`: "datetime", `"2026-01-31T08:15:30+00:60"`: "datetime", `"2026-01-31T8:15:30Z"`: "datetime", `"2026-01-31T08:15:30,5Z"`: "datetime",
				`"0000-12-31T00:00:00Z"`: "datetime", `"9999-12-31T23:59:59-00:01"`: "datetime", `"0001-01-01T00:59:59+01:00"`: "datetime",
				`1769847330`: "string", `null`: "null",
			},
		},
		"day": {
			map[string]string{`"2026-01-31"`: "", `"0001-01-01"`: "", `"9999-12-31"`: "", `"2024-02-29"`: "", `" 2026-01-31 "`: `"2026-01-31"`},
			map[string]string{
				`"2026-02-29"`: "date", `"0000-01-01"`: "date", `"26-01-31"`: "date", `"2026-01-31T00:00:00Z"`: "date", `"31.01.2026"`: "date", `""`: "date",
				`"10000-01-01"`: "date", `20260131`: "string",
			},
		},
		"active":  {map[string]string{`true`: "", `false`: ""}, map[string]string{`0`: "boolean", `"false"`: "boolean", `null`: "null", `[]`: "boolean"}},
		"country": {countriesTaken, countriesRefused},
		"currency": {
			map[string]string{`"EUR"`: "", `"XYZ"`: "", `" JPY "`: `"JPY"`, `"eUr"`: `"EUR"`},
			map[string]string{`"EU"`: "currency", `"EURO"`: "currency", `"E1R"`: "currency", `"ÉUR"`: "currency", `"ıdr"`: "currency", `978`: "string"},
		},
		"url": {
			map[string]string{
				`"https://a.example"`: "", `"http://a.example:8080/x?y=z#f"`: "", `"https://[2001:db8::1]/"`: "", `"https://bücher.example/ä"`: "",
				`"HTTPS://a.example"`: "", `"https://127.0.0.1"`: "",
			},
			map[string]string{
				`"ftp://a.example"`: "url", `"https://"`: "url", `"https:///x"`: "url", `"https:a.example"`: "url", `"a.example"`: "url", `"/x"`: "url",
				`"https://u:p@a.example"`: "url", `"https://@a.example"`: "url", `"https://a.example/%zz"`: "url", `"https://a b.example"`: "url",
				`"https://:80"`: "url", `"data:text/html,x"`: "url", `"https://a.example/\u0001"`: "characters", `""`: "url",
			},
		},
		"email": {
			map[string]string{`"ann@b.example"`: "", `"Ann+x@B.example"`: "", `" ann@b.example "`: `"ann@b.example"`, `"ann@bücher.example"`: ""},
			map[string]string{
				`"ann"`: "email", `"ann@"`: "email", `"@b.example"`: "email", `"ann@b"`: "email", `"a n@b.example"`: "email", `"Ann <ann@b.example>"`: "email",
				`"ann@b.example,bob@b.example"`: "email", `"ann@b.example\n"`: "", `"ann\nx@b.example"`: "characters", `5`: "string",
			},
		},
		"metadata": {
			map[string]string{
				`{}`: "", `{"a":null,"b":[],"c":"\n\t"}`: "", `{"a":1.00}`: "", `{"b":1,"a":2}`: "", `{"a":1,"a":2}`: `{"a":2}`,
				`{"a":[{"x":1,"x":{"y":2,"y":3}}]}`: `{"a":[{"x":{"y":3}}]}`, `{"":""}`: "", `{"a":"  b "}`: "", `{"a":1e308}`: "",
			},
			map[string]string{
				`[]`: "object", `"{}"`: "object", `5`: "object", `null`: "null", `{"a":"\u0007"}`: "characters", `{"\u0000":1}`: "characters",
				`{"a":1e309}`: "number", `{"a":[1e-5000]}`: "number", `{"a":` + strings.Repeat("9", 65) + `}`: "number",
			},
		},
	} {
		for value, normal := range test.accepted {
			if normal == "" {
				normal = value
			}
			got, broken := normalize(t, rules, `{"`+field+`":`+value+`}`)
			if got != `{"`+field+`":`+normal+`}` || broken != nil {
				t.Errorf("%s %s: %s %v, want %s", field, value, got, broken, normal)
			}
		}
		for value, message := range test.refused {
			want := map[string]string{field: message}
			if message == "" { // a trailing line break is trimmed before validation
				want = nil
			}
			if _, broken := normalize(t, rules, `{"`+field+`":`+value+`}`); !maps.Equal(broken, want) {
				t.Errorf("%s %s: %v, want %s", field, value, broken, message)
			}
		}
	}
}

var (
	countriesTaken = map[string]string{
		`"FR"`: "", `"US"`: "", `"GB"`: "", `"XK"`: "", `"GG"`: "", `"HK"`: "", `"PR"`: "", `"AQ"`: "", `"SS"`: "", `" IT"`: `"IT"`,
	}
	countriesRefused = map[string]string{
		`"fr"`: "country", `"UK"`: "country", `"EU"`: "country", `"AN"`: "country", `"SU"`: "country", `"ZZ"`: "country", `"AA"`: "country",
		`"XA"`: "country", `"FRA"`: "country", `"F"`: "country", `"419"`: "country", `"DD"`: "country", `"UN"`: "country", `250`: "string",
	}
)

// The number of countries detects codes that package language lacks, which samples would miss. ISO
// 3166-1 has 249 codes, plus XK.
func TestCountries(t *testing.T) {
	t.Parallel()
	count := 0
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			if shape.IsCountry(string([]rune{a, b})) {
				count++
			}
		}
	}
	if count != 250 {
		t.Errorf("%d countries", count)
	}
}

// textsOf returns the texts of a value or of a list of values.
func textsOf(t *testing.T, value jsontext.Value) []string {
	t.Helper()
	var text string
	var texts []string
	if json.Unmarshal(value, &text) == nil {
		return []string{text}
	}
	if json.Unmarshal(value, &texts) == nil {
		return texts
	}
	return []string{string(value)}
}

// Query values are text, and have the same meaning as in a body.
func TestCheckText(t *testing.T) {
	t.Parallel()
	type params struct {
		Count  int             `query:"count" minimum:"1" maximum:"9"`
		Amount shape.Quantity  `query:"amount"`
		Active bool            `query:"active"`
		At     shape.Time      `query:"at"`
		Owner  uuid.UUID       `query:"owner"`
		Sort   string          `query:"sort" enum:"name,-name"`
		Text   string          `query:"text" maxLength:"3"`
		Names  []string        `query:"names" enum:"a,b"`
		Prices shape.UnitPrice `query:"price"`
	}
	var declared []shape.Property
	for field := range reflect.TypeFor[params]().Fields() {
		declared = append(declared, shape.Property{
			Name: field.Tag.Get("query"), Required: field.Name == "Count", Schema: shape.NewRegistry(nil, nil).Input(field, ""),
		})
	}
	for query, want := range map[string]struct {
		normal map[string][]string
		broken map[string]string
	}{
		"count=1":                   {normal: map[string][]string{"count": {"1"}}},
		"count=5&count=2.0":         {normal: map[string][]string{"count": {"2"}}},
		"":                          {normal: map[string][]string{}, broken: map[string]string{"count": "required"}},
		"count=":                    {normal: map[string][]string{}, broken: map[string]string{"count": "required"}},
		"count= ":                   {normal: map[string][]string{}, broken: map[string]string{"count": "required"}},
		"count=0":                   {normal: map[string][]string{}, broken: map[string]string{"count": "minimum"}},
		"count=10":                  {normal: map[string][]string{}, broken: map[string]string{"count": "maximum"}},
		"count=1 2":                 {normal: map[string][]string{}, broken: map[string]string{"count": "integer"}},
		"count=true":                {normal: map[string][]string{}, broken: map[string]string{"count": "integer"}},
		"count=1&amount=0.50":       {normal: map[string][]string{"count": {"1"}, "amount": {"0.5"}}},
		"count=1&amount=.5":         {normal: map[string][]string{"count": {"1"}}, broken: map[string]string{"amount": "number"}},
		"count=1&amount=NaN":        {normal: map[string][]string{"count": {"1"}}, broken: map[string]string{"amount": "number"}},
		"count=1&amount=1e-7":       {normal: map[string][]string{"count": {"1"}}, broken: map[string]string{"amount": "decimals"}},
		"count=1&price=-1":          {normal: map[string][]string{"count": {"1"}}, broken: map[string]string{"price": "minimum"}},
		"count=1&active=1":          {normal: map[string][]string{"count": {"1"}, "active": {"true"}}},
		"count=1&active=0":          {normal: map[string][]string{"count": {"1"}, "active": {"false"}}},
		"count=1&active=True":       {normal: map[string][]string{"count": {"1"}}, broken: map[string]string{"active": "boolean"}},
		"count=1&at=2026-01-31":     {normal: map[string][]string{"count": {"1"}}, broken: map[string]string{"at": "datetime"}},
		"count=1&owner=1":           {normal: map[string][]string{"count": {"1"}}, broken: map[string]string{"owner": "uuid"}},
		"count=1&sort=-name":        {normal: map[string][]string{"count": {"1"}, "sort": {"-name"}}},
		"count=1&sort=NAME":         {normal: map[string][]string{"count": {"1"}}, broken: map[string]string{"sort": "enum"}},
		"count=1&text= ééé ":        {normal: map[string][]string{"count": {"1"}, "text": {"ééé"}}},
		"count=1&text=éééé":         {normal: map[string][]string{"count": {"1"}}, broken: map[string]string{"text": "max_length"}},
		"count=1&text=\"\\":         {normal: map[string][]string{"count": {"1"}, "text": {`"\`}}},
		"count=1&text=a\tb":         {normal: map[string][]string{"count": {"1"}}, broken: map[string]string{"text": "characters"}},
		"count=1&text=\xff":         {normal: map[string][]string{"count": {"1"}}, broken: map[string]string{"text": "characters"}},
		"count=1&text=\ufffd":       {normal: map[string][]string{"count": {"1"}, "text": {"\ufffd"}}},
		"count=1&names=a, b&names=": {normal: map[string][]string{"count": {"1"}, "names": {"a", "b"}}},
		"count=1&names=b&names=a":   {normal: map[string][]string{"count": {"1"}, "names": {"b", "a"}}},
		"count=1&names=a,c,d":       {normal: map[string][]string{"count": {"1"}, "names": {"a"}}, broken: map[string]string{"names": "enum|enum"}},
	} {
		values := map[string][]string{}
		for pair := range strings.SplitSeq(query, "&") {
			if name, value, found := strings.Cut(pair, "="); found {
				values[name] = append(values[name], value)
			}
		}
		var broken fault.Fields
		got := map[string][]string{}
		for _, p := range declared {
			if value := p.ParseTexts(values[p.Name], &broken); value != nil {
				got[p.Name] = textsOf(t, value)
			}
		}
		if diff := cmp.Diff(want.normal, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", query, diff)
		}
		if diff := cmp.Diff(want.broken, messagesOf(broken)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", query, diff)
		}
	}
}

// A time in any zone is written in one format of fixed length and parsed back as the same
// microsecond.
func TestTimeForm(t *testing.T) {
	t.Parallel()
	least := time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(r *rapid.T) {
		seconds := rapid.Int64Range(0, 9998*365*24*3600).Draw(r, "seconds")
		zone := time.FixedZone("", rapid.IntRange(-14*3600, 14*3600).Draw(r, "zone")/60*60)
		at := time.Unix(least.Unix()+seconds, rapid.Int64Range(0, 999_999_999).Draw(r, "nanoseconds")).In(zone)
		text, err := json.Marshal(shape.T(at))
		if err != nil || len(text) != len(`"2026-01-31T08:15:30.123456Z"`) || !strings.HasSuffix(string(text), `Z"`) {
			r.Fatalf("%s, %v", text, err)
		}
		for _, form := range []string{string(text), `"` + at.Format(time.RFC3339Nano) + `"`} {
			var back shape.Time
			if err := json.Unmarshal([]byte(form), &back); err != nil || !back.Std().Equal(at.Truncate(time.Microsecond)) || back.Std().Location() != time.UTC {
				r.Fatalf("%s is read as %s, %v", form, back.Std(), err)
			}
		}
	})
	if got, err := json.Marshal(shape.TP(nil)); err != nil || string(got) != "null" {
		t.Errorf("no time is %s, %v", got, err)
	}
}

// An accepted quantity is exact to the last digit, and its normal form is stable.
func TestQuantityIsExact(t *testing.T) {
	t.Parallel()
	rules := rulesOf[forms](t)
	rapid.Check(t, func(r *rapid.T) {
		whole := rapid.StringMatching(`0|[1-9][0-9]{0,11}`).Draw(r, "whole")
		decimals := rapid.StringMatching(`[0-9]{1,6}`).Draw(r, "decimals")
		text := whole + "." + decimals
		normal, broken := normalize(r, rules, `{"quantity":`+text+`}`)
		want := strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
		if whole == "0" && strings.Trim(decimals, "0") == "" {
			want = "0"
		}
		if broken != nil || normal != `{"quantity":`+want+`}` {
			r.Fatalf("%s: %s %v, want %s", text, normal, broken, want)
		}
	})
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"1": 1, "42": 42, "9223372036854775807": 9223372036854775807} {
		if got, err := shape.IntID(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "+1", "01", " 1", "1 ", "1.0", "0x1", "1_0", "9223372036854775808", "١"} {
		if _, err := shape.IntID(text); !errors.Is(err, shape.ErrNotFound) {
			t.Errorf("%q: %v", text, err)
		}
	}
	id := uuid.MustParse("0190a0b0-0000-7000-8000-00000000000f")
	for text, known := range map[string]bool{
		id.String(): true, strings.ToUpper(id.String()): true, strings.ReplaceAll(id.String(), "-", ""): false, "{" + id.String() + "}": false,
		"urn:uuid:" + id.String(): false, id.String() + " ": false, "": false, strings.Repeat("x", 36): false,
	} {
		if got, err := shape.ParseID(text); known != (err == nil) || known && got != id || !known && !errors.Is(err, shape.ErrNotFound) {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// A free-form object is returned as it is stored, and an empty value as null.
func TestObject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{ "b" : 1.50 , "a" : [ ] }`: `{"b":1.50,"a":[]}`, `{}`: `{}`, `null`: `null`, `{"n":12345678901234567890}`: `{"n":12345678901234567890}`,
	} {
		var o shape.Object
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(o); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}

// All text in a body is stored in NFC. A password is kept as typed, its length is counted in NFKC,
// and it matches a confirmation in another form.
func TestTextIsNFC(t *testing.T) {
	t.Parallel()
	rules := rulesOf[struct {
		Name     string            `json:"name,omitempty" format:"name" maxLength:"2"`
		Texts    []string          `json:"texts,omitempty"`
		Titles   map[string]string `json:"titles,omitempty"`
		Metadata shape.Object      `json:"metadata,omitempty" maxBytes:"400"`
		Password string            `json:"password,omitempty" format:"password" minLength:"3"`
		Again    string            `json:"password_confirmation,omitempty" format:"password"`
	}](t)
	for body, want := range map[string]string{
		`{"name":"e\u0301 "}`:                     `{"name":"\u00e9"}`,
		"{\"name\":\"e\u0301a\u0308\"}":           `{"name":"\u00e9\u00e4"}`, // two characters from four code points
		`{"texts":["A\u030a","\u212b","\ufb01"]}`: `{"texts":["\u00c5","\u00c5","\ufb01"]}`,
		`{"titles":{"e\u0301":"e\u0301"}}`:        `{"titles":{"\u00e9":"\u00e9"}}`,

		`{"metadata":{"e\u0301":1.50,"\u00e9":["e\u0301",{"x":"e\u0301","y":null}]}}`:       `{"metadata":{"\u00e9":["\u00e9",{"x":"\u00e9","y":null}]}}`,
		`{"metadata":{"a":1.50,"b":"\u00e9"}}`:                                              `{"metadata":{"a":1.50,"b":"\u00e9"}}`,
		`{"password":"e\u0301e\u0301e\u0301","password_confirmation":"\u00e9\u00e9\u00e9"}`: `{"password":"e\u0301e\u0301e\u0301","password_confirmation":"\u00e9\u00e9\u00e9"}`,
	} {
		normal, broken := normalize(t, rules, body)
		var got, wanted map[string]any
		if err := errors.Join(json.Unmarshal([]byte(normal), &got), json.Unmarshal([]byte(want), &wanted)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, got); broken != nil || diff != "" {
			t.Errorf("%s: %+q %v\n%s", body, normal, broken, diff)
		}
		if again, _ := normalize(t, rules, normal); again != normal {
			t.Errorf("%s becomes %s", normal, again)
		}
	}
	for body, want := range map[string]map[string]string{
		`{"name":"e\u0301e\u0301e\u0301"}`:                 {"name": "max_length"},
		`{"password":"e\u0301a"}`:                          {"password": "min_length"},
		`{"password":"abc","password_confirmation":"abd"}`: {"password_confirmation": "confirmed"},
	} {
		if _, broken := normalize(t, rules, body); !cmp.Equal(broken, want) {
			t.Errorf("%s: %v, want %v", body, broken, want)
		}
	}
}
