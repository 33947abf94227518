package sheet

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "plain": "plain", "a-b": "a-b", "1+1": "1+1", "x = y": "x = y", "ada@example.com": "ada@example.com", "2026-11-28": "2026-11-28",
		"=1": "'=1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\t=1": "'\t'=1", "\rx": "'\rx", " =1": " '=1", `"=1"`: `"'=1"`,
		"a,=1": "a,'=1", "a;=1": "a;'=1", "a\t=1": "a\t'=1", "a; =1;+2": "a; '=1;'+2", "a|@x": "a|'@x", "a;\"=1": "a;\"'=1", "a\n-1": "a\n'-1",
		"\uff1d1": "'\uff1d1", "\uff0b1": "'\uff0b1", "\uff0d1": "'\uff0d1", "\uff20x": "'\uff20x", "a\uff0c\uff1d1": "a\uff0c'\uff1d1", "a\uff1b=1": "a\uff1b'=1",
		"\u3000=1": "\u3000'=1",
	} {
		if got := Text(text); got != want {
			t.Errorf("%+q: %+q, want %+q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`{"a":1,"=b":-2}`: `{"a":1,"\u003db":-2}`, `{"a":"x;=1"}`: `{"a":"x;\u003d1"}`, `{"a":"x,\uff1d1"}`: `{"a":"x,\uff1d1"}`, `[1,-2]`: `[1,-2]`, `{"a":"b-c"}`: `{"a":"b-c"}`,
		"{\"a\":\"x,\uff1d1\"}": `{"a":"x,\uff1d1"}`,
	} {
		if got := JSON(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Every field is quoted and can be parsed back.
func TestAppendRow(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	AppendRow(&b, "id", "1.5", "", `say "a", b`, "two\nlines")
	if want := "\"id\",\"1.5\",\"\",\"say \"\"a\"\", b\",\"two\nlines\"\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		fields := rapid.SliceOfN(rapid.StringMatching(`[a-z",;= \n]*`), 2, 4).Draw(t, "fields")
		AppendRow(&b, fields...)
		got, err := csv.NewReader(&b).Read()
		if diff := cmp.Diff(fields, got); err != nil || diff != "" {
			t.Fatalf("%v %s", err, diff)
		}
		value := rapid.MapOf(rapid.StringMatching(`[a-z",;=\x{ff1d}+ -]*`), rapid.StringMatching(`[a-z",;=\x{ff1d}@\\ -]*`)).Draw(t, "value")
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]string
		if err := json.Unmarshal([]byte(JSON(string(text))), &back); err != nil || !cmp.Equal(value, back) {
			t.Fatalf("%s: %v, %v", text, back, err)
		}
		if strings.Contains(JSON(string(text)), ";=") {
			t.Fatalf("a formula in %s", JSON(string(text)))
		}
	})
}
