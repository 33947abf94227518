package testkit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit"
)

// recorder records the call that ends a test, and panics to end the caller.
type recorder struct {
	testing.TB
	ended, text string
}

func (*recorder) Helper() {}

func (r *recorder) Skip(args ...any) { r.end("skip", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) { r.end("fail", fmt.Sprintf(format, args...)) }

func (r *recorder) end(how, text string) {
	r.ended, r.text = how, text
	panic(r)
}

func TestSkip(t *testing.T) {
	for list, want := range map[string]string{
		"": "skip", "redis": "skip", "postgres": "fail", "redis,postgres": "fail", "postgresql": "skip",
	} {
		t.Setenv(testkit.RequireVariable, list)
		r := record(t, func(r *recorder) { testkit.Skip(r, "postgres", errors.New("no\ninitdb")) })
		if r.ended != want || !strings.HasSuffix(r.text, "postgres is missing (no initdb). To install it: apt-get install postgresql, or set TENANTRY_TEST_DATABASE_URL") {
			t.Errorf("%q: %s with %q, want %s", list, r.ended, r.text, want)
		}
	}
}

func TestProgram(t *testing.T) {
	t.Setenv(testkit.RequireVariable, "")
	if path := testkit.Program(t, "redis", "no-such-program", "go"); !strings.HasSuffix(path, "go") {
		t.Errorf("found %q", path)
	}
	if r := record(t, func(r *recorder) { testkit.Program(r, "redis", "no-such-program") }); r.ended != "skip" || !strings.Contains(r.text, "no-such-program") {
		t.Errorf("%s with %q", r.ended, r.text)
	}
	if r := record(t, func(r *recorder) { testkit.Program(r, "no-such-counterpart") }); r.ended != "fail" {
		t.Errorf("an unknown counterpart: %s with %q", r.ended, r.text)
	}
}

// record calls f until it ends the test.
func record(t *testing.T, f func(r *recorder)) (r *recorder) {
	r = &recorder{TB: t}
	defer func() { _ = recover() }()
	f(r)
	return r
}
