package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/safehttp"
)

// noon is the time of the tests in this file.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is a clock that stands still.
type at time.Time

func (a at) Now() time.Time { return time.Time(a) }

var _ clock.Clock = at{}

// answered returns the result of an attempt with a response status.
func answered(status, attempt int) result {
	return result{
		task: task{attempt: attempt, endpoint: Endpoint{Enabled: true}}, made: true,
		attempt: Attempt{At: noon, StatusCode: &status},
	}
}

// unanswered returns the result of an attempt without a response.
func unanswered(attempt int) result {
	r := answered(0, attempt)
	r.attempt.StatusCode, r.attempt.Error = nil, new("timeout")
	return r
}

func TestSuccessfulResponses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct{ isOK, isGone bool }{
		100: {false, false},
		199: {false, false},
		200: {true, false},
		204: {true, false},
		299: {true, false},
		300: {false, false},
		301: {false, false},
		307: {false, false},
		400: {false, false},
		404: {false, false},
		410: {false, true},
		500: {false, false},
		503: {false, false},
	} {
		r := answered(status, 0)
		if r.isOK() != want.isOK || r.isGone() != want.isGone {
			t.Errorf("%d: ok %v, gone %v", status, r.isOK(), r.isGone())
		}
	}
	none := unanswered(0)
	if none.isOK() || none.isGone() {
		t.Error("a missing response counts as a response")
	}
	if unsent := (result{}); unsent.isOK() || unsent.isGone() {
		t.Error("an unsent delivery counts as answered")
	}
}

func TestNextAttempt(t *testing.T) {
	t.Parallel()
	for n, delay := range delays {
		earliest, latest := delay*8/10, delay*12/10
		shortest, longest := latest, earliest
		for range 500 {
			next := unanswered(n).nextAttempt()
			if next == nil {
				t.Fatalf("no attempt after attempt %d", n+1)
			}
			wait := next.Sub(noon)
			shortest, longest = min(shortest, wait), max(longest, wait)
		}
		if shortest < earliest || longest > latest {
			t.Errorf("after attempt %d it waits from %s to %s", n+1, shortest, longest)
		}
		if longest-shortest < delay/5 {
			t.Errorf("after attempt %d, deliveries that failed together are retried together: %s to %s", n+1, shortest, longest)
		}
	}
	for name, r := range map[string]result{
		"after the last attempt": unanswered(len(delays)),
		"after a success":        answered(200, 0),
		"after a 410":            answered(410, 0),
	} {
		if r.nextAttempt() != nil {
			t.Errorf("%s: retried", name)
		}
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	interrupted := unanswered(2)
	interrupted.interrupted = true
	unsent := result{task: task{attempt: 2}}
	for name, tt := range map[string]struct {
		r       result
		enabled bool
		status  string
		attempt int
		made    int
		again   bool
	}{
		"a success":                       {answered(200, 0), true, delivered, 1, 1, false},
		"a success at the last attempt":   {answered(200, 9), true, delivered, 10, 1, false},
		"a success, disabled meanwhile":   {answered(200, 0), false, delivered, 1, 1, false},
		"a failure":                       {answered(500, 0), true, pending, 1, 1, true},
		"a failure, disabled meanwhile":   {answered(500, 0), false, failed, 1, 1, false},
		"no answer":                       {unanswered(3), true, pending, 4, 1, true},
		"the last failure":                {unanswered(9), true, failed, 10, 1, false},
		"gone":                            {answered(410, 0), true, failed, 1, 1, false},
		"the service stops":               {interrupted, true, pending, 2, 0, true},
		"the service stops, disabled":     {interrupted, false, failed, 2, 0, false},
		"to a disabled endpoint":          {unsent, false, failed, 2, 0, false},
		"a redirect is not a success":     {answered(302, 0), true, pending, 1, 1, true},
		"first attempt of a new delivery": {answered(200, 0), true, delivered, 1, 1, false},
		"a failure of the ninth attempt":  {answered(503, 8), true, pending, 9, 1, true},
	} {
		o := outcomeOf(tt.r, tt.enabled)
		if o.status != tt.status || o.attempt != tt.attempt || len(o.attempts) != tt.made || (o.nextAttempt != nil) != tt.again {
			t.Errorf("%s: %+v", name, o)
		}
	}
	many := answered(500, 0)
	for i := range maxAttempts + 3 {
		many.attempts = append(many.attempts, Attempt{DurationMS: int64(i)})
	}
	kept := outcomeOf(many, true).attempts
	if len(kept) != maxAttempts || kept[maxAttempts-1].StatusCode == nil || kept[0].DurationMS != 4 {
		t.Errorf("%d attempts are kept, the first is %+v", len(kept), kept[0])
	}
}

// later moves a result to a later time.
func later(r result, d time.Duration) result {
	r.attempt.At = r.attempt.At.Add(d)
	return r
}

func TestHealth(t *testing.T) {
	t.Parallel()
	before := noon.Add(-time.Hour)
	minute := noon.Add(time.Minute)
	interrupted := unanswered(0)
	interrupted.interrupted = true
	for name, tt := range map[string]struct {
		was       *time.Time // start of failures before the batch
		results   []result
		since     *time.Time // start of failures after the batch
		delivered *time.Time
		noted     bool
		isGone    bool
	}{
		"the first failure":          {nil, []result{unanswered(0)}, &noon, nil, true, false},
		"another failure":            {&before, []result{unanswered(0)}, &before, nil, false, false},
		"a success":                  {nil, []result{answered(200, 0)}, nil, &noon, true, false},
		"the first success":          {&before, []result{answered(200, 0)}, nil, &noon, true, false},
		"a failure after a success":  {&before, []result{answered(200, 0), later(unanswered(0), time.Minute)}, &minute, &noon, true, false},
		"a success after a failure":  {nil, []result{unanswered(0), later(answered(200, 0), time.Minute)}, nil, &minute, true, false},
		"successes in another order": {nil, []result{later(answered(200, 0), time.Minute), answered(200, 0)}, nil, &minute, true, false},
		"gone":                       {nil, []result{answered(410, 0)}, &noon, nil, true, true},
		"gone, and a success":        {nil, []result{answered(410, 0), answered(200, 0)}, nil, &noon, true, true},
		"the service stops":          {nil, []result{interrupted}, nil, nil, false, false},
		"nothing was sent":           {&before, []result{{}}, &before, nil, false, false},
	} {
		h := &health{Endpoint: Endpoint{failingSince: tt.was}}
		for _, r := range tt.results {
			h.recordResult(r)
		}
		if diff := cmp.Diff(tt.since, h.failingSince); diff != "" {
			t.Errorf("%s: failing since %s", name, diff)
		}
		if diff := cmp.Diff(tt.delivered, h.delivered); diff != "" {
			t.Errorf("%s: last delivery %s", name, diff)
		}
		if h.noted != tt.noted || h.isGone != tt.isGone {
			t.Errorf("%s: noted %v, gone %v", name, h.noted, h.isGone)
		}
	}
}

func TestKindsOfErrors(t *testing.T) {
	t.Parallel()
	wrapped := func(err error) error { return fmt.Errorf("somewhere: %w", err) }
	for want, causes := range map[string][]error{
		"address_not_allowed": {safehttp.ErrForbidden, &net.OpError{Op: "dial", Err: wrapped(safehttp.ErrForbidden)}, &net.DNSError{IsNotFound: true}, &net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}}},
		"timeout":             {context.DeadlineExceeded, wrapped(context.DeadlineExceeded), &net.OpError{Op: "dial", Err: context.DeadlineExceeded}},
		"tls_failed": {
			&tls.CertificateVerificationError{Err: errors.New("x")},
			tls.RecordHeaderError{Msg: "x"},
			tls.AlertError(40),
			&net.OpError{Op: "remote error", Err: tls.AlertError(40)}, http.ErrSchemeMismatch,
		},
		"connection_failed": {io.EOF, io.ErrUnexpectedEOF, &net.OpError{Op: "read", Err: errors.New("reset")}},
		"invalid_answer":    {errors.New("malformed HTTP response")},
	} {
		for _, err := range causes {
			if got := kindOf(err); got != want {
				t.Errorf("%v is %s, want %s", err, got, want)
			}
			if got := kindOf(wrapped(err)); got != want {
				t.Errorf("%v, wrapped, is %s, want %s", err, got, want)
			}
		}
	}
}

// bare returns a sender without a database.
func bare() *sender {
	return newSender(&Service{deps: Deps{Clock: at(noon), Machine: at(noon), Log: slog.New(slog.DiscardHandler)}})
}

// A slow endpoint has a smaller share of attempts than a healthy one, and all endpoints together
// respect the limit of the instance.
func TestShares(t *testing.T) {
	t.Parallel()
	d := bare()
	healthy, hanging, busy := uuid.New(), uuid.New(), uuid.New()
	d.slow[hanging] = true
	d.flying[busy], d.total = maxOfEndpoint-3, maxOfEndpoint-3
	d.wake(healthy, hanging, busy)
	rooms, err := d.listCapacities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[uuid.UUID]int{}
	for _, r := range rooms {
		got[r.endpoint] = r.room
	}
	if diff := cmp.Diff(map[uuid.UUID]int{healthy: maxOfEndpoint, hanging: maxOfSlow, busy: 3}, got); diff != "" {
		t.Error(diff)
	}
	// An endpoint without room is checked again once it has room.
	d.flying[hanging] = maxOfSlow
	d.wake(hanging)
	if rooms, _ := d.listCapacities(t.Context()); len(rooms) != 0 || !d.more[hanging] {
		t.Errorf("%v, more %v", rooms, d.more)
	}
	d.total += maxOfSlow
	d.finishAttempt(hanging, unanswered(0))
	if !d.due[hanging] || !d.slow[hanging] {
		t.Errorf("due %v, slow %v", d.due, d.slow)
	}
	d.finishAttempt(hanging, answered(200, 0))
	if d.slow[hanging] || d.flying[hanging] != 0 {
		t.Errorf("after a quick answer: slow %v, flying %v", d.slow, d.flying)
	}
	// The limit of the instance.
	full := bare()
	full.total = maxFlying - 5
	full.wake(healthy, busy)
	sum := 0
	rooms, _ = full.listCapacities(t.Context())
	for _, r := range rooms {
		sum += r.room
	}
	if sum != 5 {
		t.Errorf("%d attempts allowed, want 5", sum)
	}
}

// All endpoints of a tenant on one host share a limit. Other tenants and hosts have separate
// limits.
func TestAttemptsToOneHost(t *testing.T) {
	t.Parallel()
	d := bare()
	ids := []uuid.UUID{uuid.New(), uuid.New(), uuid.New(), uuid.New()}
	to := map[uuid.UUID]string{ids[0]: "a x.test", ids[1]: "a x.test", ids[2]: "b x.test", ids[3]: "a y.test"}
	d.toHost["a x.test"] = 3
	rooms := d.limitPerHost([]capacity{{ids[0], 10}, {ids[1], 10}, {ids[2], 16}, {ids[3], 2}}, to)
	if want := []capacity{{ids[0], 10}, {ids[1], 3}, {ids[2], 16}, {ids[3], 2}}; !slices.Equal(rooms, want) {
		t.Errorf("%v, want %v", rooms, want)
	}
	d.toHost["a x.test"] = maxOfHost
	if rooms := d.limitPerHost([]capacity{{ids[0], 1}}, to); len(rooms) != 0 || !d.more[ids[0]] {
		t.Errorf("%v at the limit of the host", rooms)
	}
	d.flying[ids[0]], d.total = 1, 1
	r := answered(200, 0)
	r.destination = "a x.test"
	d.finishAttempt(ids[0], r)
	if d.toHost["a x.test"] != maxOfHost-1 {
		t.Errorf("%d attempts run after an attempt has ended", d.toHost["a x.test"])
	}
}

// A slow response counts as a failure for the share of attempts.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	d, id := bare(), uuid.New()
	for _, tt := range []struct {
		took time.Duration
		slow bool
	}{{time.Second, false}, {slow, false}, {slow + time.Millisecond, true}, {timeout, true}, {0, false}} {
		r := answered(200, 0)
		r.attempt.DurationMS = tt.took.Milliseconds()
		d.flying[id], d.total = 1, 1
		d.finishAttempt(id, r)
		if d.slow[id] != tt.slow {
			t.Errorf("after %s: slow %v", tt.took, d.slow[id])
		}
	}
}

// Production accepts only https. The sandbox also accepts local addresses.
func TestEndpointURLs(t *testing.T) {
	t.Parallel()
	production := &Service{}
	sandbox := &Service{deps: Deps{Reachable: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}
	for url, want := range map[string]struct{ production, sandbox bool }{
		"https://example.com/hooks":      {true, true},
		"https://example.com:8443/?a=b":  {true, true},
		"https://93.184.216.34/":         {true, true},
		"http://example.com/":            {false, true},
		"http://127.0.0.1:8080/in":       {false, true},
		"https://127.0.0.1:8080/in":      {false, true},
		"http://localhost/":              {false, true},
		"https://localhost/":             {false, true},
		"https://10.1.2.3/":              {false, false},
		"http://172.16.0.1/":             {false, false},
		"http://192.168.0.1/":            {false, false},
		"http://169.254.169.254/":        {false, false},
		"http://100.64.0.1/":             {false, false},
		"http://0.0.0.0/":                {false, false},
		"http://[fd00::1]/":              {false, false},
		"http://[::ffff:192.168.0.1]/":   {false, false},
		"https://user:pass@example.com/": {false, false},
		"ftp://example.com/":             {false, false},
		"https:///path":                  {false, false},
		"https://2130706433/":            {false, false},
		"https://0x7f.1/":                {false, false},
	} {
		if got := production.checkURL(url) == nil; got != want.production {
			t.Errorf("%s in production: %v", url, got)
		}
		if got := sandbox.checkURL(url) == nil; got != want.sandbox {
			t.Errorf("%s in the sandbox: %v", url, got)
		}
	}
}

func TestChosenTypes(t *testing.T) {
	t.Parallel()
	for _, one := range hook.Types() {
		if !isSubscribed([]string{everything}, one) || !isSubscribed([]string{"x", string(one)}, one) || isSubscribed([]string{"x"}, one) || isSubscribed(nil, one) {
			t.Errorf("%s", one)
		}
	}
	for name, tt := range map[string]struct{ given, want []string }{
		"none":                 {nil, []string{}},
		"one":                  {[]string{"invoice.paid"}, []string{"invoice.paid"}},
		"twice":                {[]string{"invoice.paid", "tenant.created", "invoice.paid"}, []string{"invoice.paid", "tenant.created"}},
		"all":                  {[]string{"*"}, []string{"*"}},
		"all next to another":  {[]string{"invoice.paid", "*"}, []string{"*"}},
		"unknown":              {[]string{"invoice.paid", "invoice.*"}, nil},
		"of another case":      {[]string{"Invoice.paid"}, nil},
		"with blanks":          {[]string{" invoice.paid"}, nil},
		"an empty one":         {[]string{""}, nil},
		"unknown next to all":  {[]string{"*", "x"}, nil},
		"the one for tests":    {[]string{"webhook.test"}, []string{"webhook.test"}},
		"in the order that is": {[]string{"tenant.updated", "api_key.created"}, []string{"tenant.updated", "api_key.created"}},
	} {
		terms := Terms{Types: tt.given}
		if err := checkTypes(&terms); (err == nil) != (tt.want != nil) {
			t.Errorf("%s: %v", name, err)
		} else if err == nil {
			if diff := cmp.Diff(tt.want, terms.Types); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}
