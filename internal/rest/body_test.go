package rest_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

const (
	required = "This field is required."
	notNull  = "This field must not be null."
	chars    = "This contains characters that are not allowed."
	integer  = "This must be an integer."
	number   = "This must be a number."
	boolean  = "This must be true or false."
)

// Valid bodies reach the handler in normal form.
func TestBodyAccepted(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	tests := map[string]struct{ body, want string }{
		"trimmed":              {`{"name":" \u00a0 bolt\t"}`, `{"name":"bolt"}`},
		"password untouched":   {`{"name":"bolt","password":"  ab "}`, `{"name":"bolt","password":"  ab "}`},
		"password of spaces":   {`{"name":"bolt","password":"    "}`, `{"name":"bolt","password":"    "}`},
		"unknown keys ignored": {`{"name":"bolt","x":{"y":[1,"\u0000"]}}`, `{"name":"bolt"}`},
		"the last of a key given twice": {
			`{"name":5,"name":"bolt","maker":{"name":"a","name":"b","website":null}}`,
			`{"name":"bolt","maker":{"name":"b","website":null}}`,
		},
		"the same key in disguise":     {`{"n\u0061me":"bolt"}`, `{"name":"bolt"}`},
		"1.0 is an integer":            {`{"name":"bolt","count":1.0}`, `{"name":"bolt","count":1}`},
		"1e2 is an integer":            {`{"name":"bolt","count":1e2,"small":-2147483648}`, `{"name":"bolt","count":100,"small":-2147483648}`},
		"an exact number":              {`{"name":"bolt","amount":0.3000000}`, `{"name":"bolt","amount":0.3}`},
		"a large exact number":         {`{"name":"bolt","amount":1e12}`, `{"name":"bolt","amount":1000000000000}`},
		"empty is null where nullable": {`{"name":"bolt","note":" "}`, `{"name":"bolt"}`},
		"null where nullable":          {`{"name":"bolt","note":null,"metadata":null}`, `{"name":"bolt"}`},
		"empty stays elsewhere":        {`{"name":"bolt","motto":"  "}`, `{"name":"bolt"}`}, // omitempty of the echo
		"line breaks where allowed":    {`{"name":"bolt","text":"a\r\n\tb"}`, `{"name":"bolt","text":"a\r\n\tb"}`},
		"a replacement character":      {`{"name":"a\ufffdb"}`, `{"name":"a` + "\ufffd" + `b"}`},
		"a surrogate pair":             {`{"name":"\ud83d\ude00!"}`, `{"name":"😀!"}`},
		"length in characters":         {`{"name":"éééééééééé"}`, `{"name":"éééééééééé"}`},
		"datetime with a zone":         {`{"name":"bolt","at":"2026-01-31T08:15:30.1234567+01:00"}`, `{"name":"bolt","at":"2026-01-31T07:15:30.123456Z"}`},
		"upper-case UUID":              {`{"name":"bolt","ref":"0190A0B0-0000-7000-8000-000000000001"}`, `{"name":"bolt","ref":"0190a0b0-0000-7000-8000-000000000001"}`},
		"a map":                        {`{"name":"bolt","titles":{"fr":" é ","en":"e"}}`, `{"name":"bolt","titles":{"en":"e","fr":"é"}}`},
		"metadata as it was written":   {`{"name":"bolt","metadata":{ "b":1.50, "a":{"x":"l\nm"} }}`, `{"name":"bolt","metadata":{"b":1.50,"a":{"x":"l\nm"}}}`},
		"metadata with a key twice": {
			`{"name":"bolt","metadata":{"a":{"x":1},"b":12345678901234567890,"a":{"y":[{"z":1,"z":2}]}}}`,
			`{"name":"bolt","metadata":{"a":{"y":[{"z":2}]},"b":12345678901234567890}}`,
		},
		"metadata 32 deep":   {`{"name":"bolt","metadata":` + nested(32) + `}`, `{"name":"bolt","metadata":` + nested(32) + `}`},
		"anything":           {`{"name":"bolt","anything":[1,null,"x"]}`, `{"name":"bolt","anything":[1,null,"x"]}`},
		"white space around": {"\r\n {\"name\":\"bolt\"}\t ", `{"name":"bolt"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := s.post("/api/v1/gadgets", tt.body)
			if got.Status != http.StatusCreated || got.Body != tt.want {
				t.Errorf("%s\n got %d %s\nwant 201 %s", tt.body, got.Status, got.Body, tt.want)
			}
		})
	}
}

func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
}

func TestBodyRefused(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	one := func(field, message string) map[string]string { return map[string]string{field: message} }
	tests := map[string]struct {
		body string
		want map[string]string
	}{
		"no body":                  {``, one("name", required)},
		"only white space":         {"\n ", one("name", required)},
		"required missing":         {`{}`, one("name", required)},
		"required empty":           {`{"name":"  "}`, one("name", required)},
		"required null":            {`{"name":null}`, one("name", notNull)},
		"keys are case-sensitive":  {`{"Name":"bolt","NAME":"bolt"}`, one("name", required)},
		"optional boolean null":    {`{"name":"bolt","active":null}`, one("active", notNull)},
		"optional array null":      {`{"name":"bolt","tags":null}`, one("tags", notNull)},
		"optional object null":     {`{"name":"bolt","maker":null}`, one("maker", notNull)},
		"boolean as number":        {`{"name":"bolt","active":1}`, one("active", boolean)},
		"boolean as string":        {`{"name":"bolt","active":"true"}`, one("active", boolean)},
		"string as number":         {`{"name":5}`, one("name", "This must be a string.")},
		"number as string":         {`{"name":"bolt","count":"5"}`, one("count", integer)},
		"1.5 for an integer":       {`{"name":"bolt","count":1.5}`, one("count", integer)},
		"an integer out of range":  {`{"name":"bolt","count":0}`, one("count", "This must be at least 1.")},
		"an integer above":         {`{"name":"bolt","count":1001}`, one("count", "This must be at most 1,000.")},
		"beyond int32":             {`{"name":"bolt","small":2147483648}`, one("small", "This must be at most 2,147,483,647.")},
		"a huge exponent":          {`{"name":"bolt","count":1e999999999}`, one("count", integer)},
		"a tiny exponent":          {`{"name":"bolt","count":1e-999999999}`, one("count", integer)},
		"a huge quantity":          {`{"name":"bolt","amount":1e999999999}`, one("amount", "This must be at most 1,000,000,000,000.")},
		"a tiny quantity":          {`{"name":"bolt","amount":1.0000001}`, one("amount", "This must have at most 6 decimals.")},
		"a quantity of zero":       {`{"name":"bolt","amount":0.0}`, one("amount", "This must be greater than 0.")},
		"a float beyond floats":    {`{"name":"bolt","ratio":1e400}`, one("ratio", number)},
		"too short":                {`{"name":" a "}`, one("name", "This must have at least 2 characters.")},
		"too long":                 {`{"name":"12345678901"}`, one("name", "This must have at most 10 characters.")},
		"password too short":       {`{"name":"bolt","password":"abc"}`, one("password", "This must have at least 4 characters.")},
		"password bytes":           {`{"name":"bolt","password":"ééééééé"}`, one("password", "This must have at most 12 characters.")},
		"password empty":           {`{"name":"bolt","password":""}`, one("password", required)},
		"enum":                     {`{"name":"bolt","kind":"gas"}`, one("kind", "This must be one of: solid, liquid.")},
		"enum by case":             {`{"name":"bolt","kind":"Solid"}`, one("kind", "This must be one of: solid, liquid.")},
		"enum of integers":         {`{"name":"bolt","level":3}`, one("level", "This must be one of: 1, 2.")},
		"pattern":                  {`{"name":"bolt","code":"A1"}`, one("code", "This does not have the right format.")},
		"email":                    {`{"name":"bolt","email":"ann@localhost"}`, one("email", "This must be a valid email address.")},
		"email empty, optional":    {`{"name":"bolt","email":" "}`, one("email", "This must be a valid email address.")},
		"datetime empty, optional": {`{"name":"bolt","at":""}`, one("at", "This must be a date and time such as 2026-01-31T08:15:30Z.")},
		"UUID empty, optional":     {`{"name":"bolt","ref":""}`, one("ref", "This must be a UUID.")},
		"country":                  {`{"name":"bolt","country":"XX"}`, one("country", "This must be a two-letter ISO 3166-1 country code.")},
		"currency":                 {`{"name":"bolt","currency":"eu"}`, one("currency", "This must be a three-letter ISO 4217 currency code.")},
		"javascript URL":           {`{"name":"bolt","url":"javascript:alert(1)"}`, one("url", "This must be an absolute http or https URL.")},
		"datetime":                 {`{"name":"bolt","at":"2026-02-30T00:00:00Z"}`, one("at", "This must be a date and time such as 2026-01-31T08:15:30Z.")},
		"date":                     {`{"name":"bolt","day":"2026-2-3"}`, one("day", "This must be a date such as 2026-01-31.")},
		"UUID without dashes":      {`{"name":"bolt","ref":"0190a0b0000070008000000000000001"}`, one("ref", "This must be a UUID.")},
		"UUID in braces":           {`{"name":"bolt","ref":"{0190a0b0-0000-7000-8000-000000000001}"}`, one("ref", "This must be a UUID.")},
		"UUID as URN":              {`{"name":"bolt","ref":"urn:uuid:0190a0b0-0000-7000-8000-000000000001"}`, one("ref", "This must be a UUID.")},
		"an array's item": {
			`{"name":"bolt","prices":[{"cents":1,"currency":"EUR"},{"cents":-1,"currency":"?"},7]}`,
			map[string]string{"prices.1.cents": "This must be at least 0.", "prices.1.currency": "This must be a three-letter ISO 4217 currency code.", "prices.2": "This must be an object."},
		},
		"a nested field":               {`{"name":"bolt","maker":{}}`, map[string]string{"maker.name": required, "maker.website": required}},
		"an array of strings":          {`{"name":"bolt","tags":["a",""," b ",5]}`, one("tags", "The list must have at most 3 entries.")},
		"an empty string in an array":  {`{"name":"bolt","tags":["a"," ",5]}`, map[string]string{"tags.1": required, "tags.2": "This must be a string."}},
		"no items":                     {`{"name":"bolt","tags":[]}`, one("tags", "The list must not be empty.")},
		"an object as array":           {`{"name":"bolt","tags":{"0":"a"}}`, one("tags", "This must be a list.")},
		"a map's value":                {`{"name":"bolt","titles":{"en":5,"fr":null,"it":"too long"}}`, map[string]string{"titles.en": "This must be a string.", "titles.fr": notNull, "titles.it": "This must have at most 5 characters."}},
		"a map's key":                  {`{"name":"bolt","titles":{"\u0001":"x"}}`, one("titles", chars)},
		"NUL":                          {`{"name":"bo\u0000lt"}`, one("name", chars)},
		"a line break":                 {`{"name":"bo\nlt"}`, one("name", chars)},
		"DEL":                          {`{"name":"bo\u007flt"}`, one("name", chars)},
		"NUL in a password":            {`{"name":"bolt","password":"abcd\u0000"}`, one("password", chars)},
		"invalid UTF-8":                {"{\"name\":\"bo\xfflt\"}", one("name", chars)},
		"a lone surrogate":             {`{"name":"bo\ud800lt"}`, one("name", chars)},
		"surrogates reversed":          {`{"name":"bo\ude00\ud83d"}`, one("name", chars)},
		"NUL in metadata":              {`{"name":"bolt","metadata":{"a":["\u0000"]}}`, one("metadata", chars)},
		"NUL in a key of metadata":     {`{"name":"bolt","metadata":{"\u0000":1}}`, one("metadata", chars)},
		"a lone surrogate in metadata": {`{"name":"bolt","metadata":{"a":"\udead"}}`, one("metadata", chars)},
		"a huge exponent in metadata":  {`{"name":"bolt","metadata":{"a":1e999999}}`, one("metadata", number)},
		"a tiny exponent in metadata":  {`{"name":"bolt","metadata":{"a":1e-99999}}`, one("metadata", number)},
		"metadata 33 deep":             {`{"name":"bolt","metadata":` + nested(33) + `}`, one("metadata", "This is nested too deeply.")},
		"metadata as array":            {`{"name":"bolt","metadata":[]}`, one("metadata", "This must be an object.")},
		"anything too deep":            {`{"name":"bolt","anything":` + strings.Repeat("[", 33) + strings.Repeat("]", 33) + `}`, one("anything", "This is nested too deeply.")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{t: t, url: s.url}
			s.post("/api/v1/gadgets", tt.body).broken(tt.want)
		})
	}
}

// All invalid fields are reported at once. The message is the message of the first field in the
// documented order, not in the order of the body.
func TestBodyReportsAllInvalidFields(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	got := s.do("POST", "/api/v1/login", `{"password":5,"email":"x"}`).broken(map[string]string{
		"name": required, "email": "This must be a valid email address.", "password": "This must be a string.",
	})
	if got.Message != required {
		t.Errorf("message %q", got.Message)
	}
	titles := s.post("/api/v1/gadgets", `{"name":"bolt","titles":{"fr":5,"en":null}}`).broken(map[string]string{
		"titles.en": notNull, "titles.fr": "This must be a string.",
	})
	if titles.Message != notNull {
		t.Errorf("message = %q, want the error of the first key by name", titles.Message)
	}
	if got.Code != "" {
		t.Errorf("code %q", got.Code)
	}
}

func TestBodyUnreadable(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	tests := map[string]struct {
		body, contentType string
		want              int
	}{
		"no JSON":                      {`{"name":`, "application/json", 400},
		"garbage after it":             {`{"name":"bolt"} x`, "application/json", 400},
		"two values":                   {`{"name":"bolt"}{}`, "application/json", 400},
		"a byte order mark":            {"\ufeff" + `{"name":"bolt"}`, "application/json", 400},
		"single quotes":                {`{'name':'bolt'}`, "application/json", 400},
		"a comment":                    {`{"name":"bolt"/**/}`, "application/json", 400},
		"a raw control character":      {"{\"name\":\"bo\nlt\"}", "application/json", 400},
		"nested beyond reason":         {strings.Repeat("[", 100_000), "application/json", 400},
		"nested beyond reason, closed": {`{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, "application/json", 400},
		"an array":                     {`[{"name":"bolt"}]`, "application/json", 422},
		"null":                         {`null`, "application/json", 422},
		"a string":                     {`"x"`, "application/json", 422},
		"too large":                    {`{"name":"` + strings.Repeat("x", 1<<20) + `"}`, "application/json", 413},
		"form":                         {`name=bolt`, "application/x-www-form-urlencoded", 415},
		"text":                         {`{"name":"bolt"}`, "text/plain", 415},
		"a broken content type":        {`{"name":"bolt"}`, "application/json; =", 415},
		"no body of a type":            {``, "application/x-www-form-urlencoded", 422},
		"JSON with a charset":          {`{"name":"bolt"}`, "application/json; charset=utf-8", 201},
		"JSON in capitals":             {`{"name":"bolt"}`, "Application/JSON", 201},
		"JSON of a kind":               {`{"name":"bolt"}`, "application/vnd.x+json", 201},
		"no content type":              {`{"name":"bolt"}`, "", 201},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{t: t, url: s.url}
			got := s.do("POST", "/api/v1/gadgets", tt.body, "Authorization: Bearer owner", "Content-Type: "+tt.contentType)
			if got.Status != tt.want {
				t.Fatalf("%d %s, want %d", got.Status, got.Body, tt.want)
			}
			if tt.want >= 400 {
				got.refused(tt.want)
			}
		})
	}
}

// A body of exactly 1 MiB is accepted, even if it is chunked.
func TestBodyOfOneMiB(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	for _, size := range []int{1 << 20, 1<<20 + 1} {
		body := `{"name":"bolt","x":"` + strings.Repeat("x", size-len(`{"name":"bolt","x":""}`)) + `"}`
		want := http.StatusCreated
		if size > 1<<20 {
			want = http.StatusRequestEntityTooLarge
		}
		chunked, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1/gadgets", io.MultiReader(bytes.NewBufferString(body)))
		if err != nil {
			t.Fatal(err)
		}
		chunked.Header.Set("Authorization", "Bearer owner")
		for _, got := range []answer{s.post("/api/v1/gadgets", body), s.send(chunked)} {
			if got.Status != want {
				t.Errorf("%d bytes: %d %s", size, got.Status, got.Body)
			}
		}
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	for body, want := range map[string]string{
		`{}`:                             `{"id":5,"name":"old","note":"old","tags":"untouched","size":7}`,
		`{"name":"new","note":"x"}`:      `{"id":5,"name":"new","note":"x","tags":"untouched","size":7}`,
		`{"note":null,"size":null}`:      `{"id":5,"name":"old","note":null,"tags":"untouched","size":null}`,
		`{"note":" "}`:                   `{"id":5,"name":"old","note":null,"tags":"untouched","size":7}`,
		`{"tags":[" a","b"],"size":3.0}`: `{"id":5,"name":"old","note":"old","tags":"ab","size":3}`,
	} {
		got := s.do("PATCH", "/api/v1/gadgets/5", body, "Authorization: Bearer owner")
		if got.Status != 200 || got.Body != `{"data":`+want+`}` {
			t.Errorf("%s: %d %s", body, got.Status, got.Body)
		}
	}
	s.do("PATCH", "/api/v1/gadgets/5", `{"name":null,"note":"123456","tags":["a","b","c"],"size":0}`, "Authorization: Bearer owner").broken(map[string]string{
		"name": notNull, "note": "This must have at most 5 characters.", "tags": "The list must have at most 2 entries.", "size": "This must be at least 1.",
	})
	s.do("PATCH", "/api/v1/gadgets/5", `{"name":" ","tags":null}`, "Authorization: Bearer owner").broken(map[string]string{
		"name": required, "tags": notNull,
	})
}
