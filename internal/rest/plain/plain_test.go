package plain_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/rest/plain"
)

// Values are appended as package json writes them.
func TestAppend(t *testing.T) {
	t.Parallel()
	want := func(got []byte, value any) {
		t.Helper()
		text, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(text) {
			t.Errorf("%s, want %s", got, text)
		}
	}
	for _, text := range []string{"", "a", "é😀", "\"\\/\b\f\n\r\t\x00\x7f", "<&>\u2028", "a\xffb"} {
		want(plain.Text(nil, text), text)
		want(plain.TextOrNull(nil, &text), text)
		want(plain.Texts(nil, []string{text, "b"}), []string{text, "b"})
	}
	want(plain.TextOrNull(nil, nil), (*string)(nil))
	want(plain.Texts(nil, nil), []string{})
	for _, f := range []float64{
		0, 1, -1, 0.5, 99.99, 1e-6, 9.99e-7, 1e-7, 1e20, 999999999999999999999, 1e21, -1e21, 5e-324, math.MaxFloat64, 1.0 / 3,
	} {
		want(plain.FloatOrNull(nil, &f), f)
	}
	want(plain.FloatOrNull(nil, nil), nil)
	for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		want(plain.IntOrNull(nil, &n), n)
	}
	want(plain.IntOrNull(nil, nil), nil)
	for _, id := range []uuid.UUID{uuid.Nil, uuid.Max, uuid.NewSHA1(uuid.Nil, nil)} {
		want(plain.ID(nil, id), id)
	}
	at := time.Date(2026, 1, 31, 9, 15, 30, 123_456_789, time.FixedZone("", 3600))
	if got := string(plain.Time([]byte("at "), at)); got != `at "2026-01-31T08:15:30.123456Z"` {
		t.Error(got)
	}
}

// read reads an object with the members t (text), q (quantity) and f (flat, up to 40 bytes),
// and returns what they have; "" for an object that is not plain.
func read(text string) string {
	o := plain.Read([]byte(text))
	var out []string
	for o.Next() {
		switch string(o.Key()) {
		case "t":
			out = append(out, o.Text())
		case "q":
			out = append(out, o.Quantity().String())
		case "f":
			out = append(out, string(o.Flat(40)))
		default:
			return ""
		}
	}
	if !o.Ended() {
		return ""
	}
	return fmt.Sprint(out)
}

func TestRead(t *testing.T) {
	t.Parallel()
	var seventeen []string
	for i := range 17 {
		seventeen = append(seventeen, fmt.Sprintf(`"%x":1`, i))
	}
	for text, want := range map[string]string{
		`{}`: `[]`, `{"t":"a b"}`: `[a b]`, `{"t": "a", "q": 1.50}`: `[a 1.5]`, `{"q":0,"f":{},"t":"~"}`: `[0 {} ~]`,
		`{"f":{"a":"x","b":-12,"c":true}}`: `[{"a":"x","b":-12,"c":true}]`, `{"f":{"a":null,"":false}}`: `[{"a":null,"":false}]`,
		// Not plain: spaces elsewhere, escapes, other characters, and what is not JSON.
		`{ }`: "", `{"t" :"a"}`: "", `{"t":  "a"}`: "", `{"t":"a" }`: "", "{\"t\":\t\"a\"}": "", `{"t":"a"} `: "", ` {}`: "",
		`{"t":"\n"}`: "", `{"\u0074":"a"}`: "", `{"t":"é"}`: "", `{"t":""}`: "", `{"t":" a"}`: "", `{"t":"a "}`: "",
		`{"t":a}`: "", `{"t"}`: "", `{"t":}`: "", `{t:"a"}`: "", `{"t":"a"`: "", `{"t":"a`: "", `{"t":"a",}`: "", `{,}`: "", `{"t":"a""t":"b"}`: "", `[]`: "", ``: "",
		`{"q":.5}`: "", `{"q":1.}`: "", `{"q":00}`: "", `{"q":-1}`: "", `{"q":1e1}`: "", `{"q":1.2.3}`: "", `{"q":"1"}`: "", `{"q":1.0000001}`: "", `{"q":}`: "",
		`{"f":{"a": 1}}`: "", `{"f":{"a":1, "b":1}}`: "", `{"f":{"a":1,"a":1}}`: "", `{"f":{"a":{}}}`: "", `{"f":{"a":[]}}`: "", `{"f":{"a":1.5}}`: "",
		`{"f":{"a":01}}`: "", `{"f":{"a":-}}`: "", `{"f":{"a":1234567890123456}}`: "", `{"f":{"a":tru}}`: "", `{"f":{"a":nulll}}`: "", `{"f":{"a":1}`: "", `{"f":1}`: "",
		`{"f":{"a":"` + strings.Repeat("x", 32) + `"}}`: `[{"a":"` + strings.Repeat("x", 32) + `"}]`,
		`{"f":{"a":"` + strings.Repeat("x", 33) + `"}}`: "",
		`{"f":{` + strings.Join(seventeen, ",") + `}}`:  "",
	} {
		if got := read(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
