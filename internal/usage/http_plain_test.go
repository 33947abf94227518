package usage

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest/plain"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// general is a recording that is read in the general way.
type general UsageRecording

// bodies are recordings, and whether they are in the plain form.
var bodies = map[string]bool{
	`{"meter_code":"api-calls"}`: true,
	`{"meter_code":"api-calls","quantity":1,"idempotency_key":"k-1","metadata":{"source":"bench"}}`: true,
	`{"meter_code": "a b", "quantity": 0.25, "recorded_at": "2026-01-31T08:15:30.1234567+01:00"}`:   true,
	`{"quantity":1000000000000,"meter_code":"a","metadata":{}}`:                                     true,
	`{"meter_code":"a","quantity":1.1000000}`:                                                       true,
	`{"meter_code":"a","metadata":{"a":-1,"b":true,"c":null,"":" x ","d":0,"e":123456789012345}}`:   true,
	`{"meter_code":"a","metadata":{"a":{"b":1}}}`:                                                   false,
	`{"meter_code":"a","metadata":{"a":1,"a":2}}`:                                                   false,
	`{"meter_code":"a","metadata":{"a": 1}}`:                                                        false,
	`{"meter_code":"a","metadata":{"a":01}}`:                                                        false,
	`{"meter_code":"a","metadata":{"a":1e400}}`:                                                     false,
	`{"meter_code":"a","metadata":{"a":1.5}}`:                                                       false,
	`{"meter_code":"a","metadata":{"a":[]}}`:                                                        false,
	`{"meter_code":"a","metadata":[]}`:                                                              false,
	`{"meter_code":"a","metadata":null}`:                                                            false,
	`{"meter_code":"a","metadata":{"a":"` + strings.Repeat("x", 4096) + `"}}`:                       false,
	`{"meter_code":"a","metadata":{"a":"` + strings.Repeat("x", 4096-len(`{"a":""}`)) + `"}}`:       true,
	`{"meter_code":" a"}`:                                false,
	`{"meter_code":"a "}`:                                false,
	`{"meter_code":""}`:                                  false,
	`{"meter_code":"é"}`:                                 false,
	`{"meter_code":"a\u0062"}`:                           false,
	"{\"meter_code\":\"a\x7f\"}":                         false,
	`{"meter_code":"` + strings.Repeat("x", 255) + `"}`:  true,
	`{"meter_code":"` + strings.Repeat("x", 256) + `"}`:  false,
	`{"meter_code":"a","meter_code":"b"}`:                false,
	`{"meter_code":"a","quantity":1,"quantity":2}`:       false,
	`{"meter_code":"a","quantity":1e3}`:                  false,
	`{"meter_code":"a","quantity":-1}`:                   false,
	`{"meter_code":"a","quantity":01}`:                   false,
	`{"meter_code":"a","quantity":1.}`:                   false,
	`{"meter_code":"a","quantity":0.0000001}`:            false,
	`{"meter_code":"a","quantity":1000000000000.000001}`: false,
	`{"meter_code":"a","quantity":"1"}`:                  false,
	`{"meter_code":"a","quantity":null}`:                 false,
	`{"meter_code":"a","idempotency_key":null}`:          false,
	`{"meter_code":"a","idempotency_key":""}`:            false,
	`{"meter_code":"a","recorded_at":"yesterday"}`:       false,
	`{"meter_code":"a","other":1}`:                       false,
	`{"meter_code":"a"} `:                                false,
	`{"meter_code":"a",}`:                                false,
	`{"meter_code":"a"`:                                  false,
	`{"meter_code":"a"}{}`:                               false,
	`{,"meter_code":"a"}`:                                false,
	`{}`:                                                 false, `[]`: false, ``: false, `{`: false,
}

func TestReadPlain(t *testing.T) {
	t.Parallel()
	for body, want := range bodies {
		before := UsageRecording{MeterCode: "before"}
		read := before
		if got := read.ReadPlain([]byte(body)); got != want {
			t.Errorf("%s: %t", body, got)
		} else if !got && !reflect.DeepEqual(read, before) {
			t.Errorf("%s was not plain and changed %+v", body, read)
		}
	}
}

// FuzzReadPlain holds that what is read from the plain form keeps to every rule and is what
// the general way reads.
func FuzzReadPlain(f *testing.F) {
	for body := range bodies {
		f.Add([]byte(body))
	}
	registry := shape.NewRegistry("#/components/schemas/", nil)
	field, _ := reflect.TypeFor[struct{ Body general }]().FieldByName("Body")
	rules := shape.Compile(registry, huma.SchemaFromField(registry, field, "Recording"), field.Type)
	f.Fuzz(func(t *testing.T, body []byte) {
		var read UsageRecording
		if !read.ReadPlain(body) {
			return
		}
		raw := jsontext.Value(body)
		if !shape.Readable(raw) {
			t.Fatalf("no JSON: %s", body)
		}
		var broken fault.Fields
		normal := rules.Normalize(raw, &broken)
		if len(broken) > 0 {
			t.Fatalf("%s: %v", body, broken)
		}
		var want general
		if err := json.Unmarshal(normal, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(UsageRecording(want), read, cmp.Comparer(func(a, b shape.Time) bool { return a.Std().Equal(b.Std()) })); diff != "" {
			t.Fatalf("%s: %s", body, diff)
		}
		if got, want := read.recording(), UsageRecording(want).recording(); !cmp.Equal(got, want) {
			t.Fatalf("%s: %+v, want %+v", body, got, want)
		}
	})
}

// FuzzAppendJSON holds that answers write themselves as package json writes them.
func FuzzAppendJSON(f *testing.F) {
	f.Add("api-calls", "Calls", int64(5), int64(250_000), int64(100), 5.25, int64(1_700_000_000_123_456), uint8(7))
	f.Add("é\"\\\n\xff", "", int64(money.MaxTotal), int64(0), int64(math.MinInt64), 1e300, int64(-1), uint8(0xff))
	f.Add("", "<&\u2028>", int64(0), int64(1), int64(0), 1e-9, int64(0), uint8(3))
	f.Fuzz(func(t *testing.T, code, name string, units, millionths, limit int64, percent float64, micros int64, has uint8) {
		if math.IsNaN(percent) || math.IsInf(percent, 0) || units < 0 || millionths < 0 {
			return // no such figures
		}
		at := time.UnixMicro(micros)
		if y := at.UTC().Year(); y < 1 || y > 9999 {
			return
		}
		id := uuid.NewSHA1(uuid.Nil, []byte(code+name))
		m := MeterQuota{
			MeterID: id, MeterCode: code, MeterName: name, CurrentUsage: shape.Total{Total: money.NewTotal(units, millionths)},
			Status: Status(code), QuotaEnforcement: Enforcement(name),
		}
		r := BatchResult{Index: int(int32(limit)), Status: int(has), Code: code, Message: name}
		if has&1 != 0 {
			m.QuotaLimit, m.UsagePercent, m.UnitLabel = &limit, &percent, &code
			r.ID, r.Errors = &id, map[string][]string{"quantity": {name, code}, "meter_code": nil}
		}
		q := UsageQuotas{TenantID: id}
		for range has >> 1 & 3 {
			q.Meters = append(q.Meters, m)
		}
		e := RecordedEvent{ID: id, MeterCode: code, Quantity: shape.Quantity{Quantity: money.Quantity(limit)}, RecordedAt: shape.T(at)}
		for _, w := range []plain.Writer{&q, &r, &e} {
			want, err := json.Marshal(w, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
			if err != nil {
				t.Fatal(err)
			}
			if got := w.AppendJSON([]byte("before")); string(got) != "before"+string(want) {
				t.Errorf("%s\nwant %s", got, want)
			}
		}
	})
}
