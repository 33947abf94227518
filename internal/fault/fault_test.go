package fault_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/tenantry/tenantry/internal/fault"
)

func TestCopiesMatchTheirSentinel(t *testing.T) {
	t.Parallel()
	sentinel := fault.NewCoded(fault.Conflict, fault.QuotaExceeded)
	other := fault.NewCoded(fault.Conflict, fault.BillingNotReady)
	for name, err := range map[string]error{
		"itself":  sentinel,
		"with":    sentinel.With("limit", 5),
		"wrapped": sentinel.Wrap(io.EOF),
		"both":    fmt.Errorf("record usage: %w", sentinel.With("limit", 5).Wrap(io.EOF).With("meter", "api")),
	} {
		if !errors.Is(err, sentinel) || errors.Is(err, other) || errors.Is(err, fault.New(fault.Conflict, "error.QUOTA_EXCEEDED")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !errors.Is(sentinel.Wrap(io.EOF), io.EOF) || errors.Is(sentinel, io.EOF) {
		t.Error("Wrap lost the cause, or added it to the sentinel")
	}
}

func TestWithDoesNotChangeTheSentinel(t *testing.T) {
	t.Parallel()
	sentinel := fault.New(fault.NotFound, "error.not_found")
	first := sentinel.With("a", 1)
	second := first.With("b", 2)
	if len(sentinel.Extra) != 0 || !reflect.DeepEqual(first.Extra, map[string]any{"a": 1}) ||
		!reflect.DeepEqual(second.Extra, map[string]any{"a": 1, "b": 2}) {
		t.Errorf("%v %v %v", sentinel.Extra, first.Extra, second.Extra)
	}
	if wrapped := sentinel.Wrap(io.EOF); wrapped.Unwrap() == nil || sentinel.Unwrap() != nil {
		t.Error("the sentinel got a cause")
	}
}

func TestErrorIsForTheLog(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"error.not_found":                         fault.New(fault.NotFound, "error.not_found"),
		"error.QUOTA_EXCEEDED: EOF":               fault.NewCoded(fault.TooMany, fault.QuotaExceeded).Wrap(io.EOF),
		"invalid name.en: validation.required":    fault.OnField("name.en", "validation.required"),
		"invalid a: validation.x: unexpected EOF": fault.OnField("a", "validation.x").Wrap(io.ErrUnexpectedEOF),
	} {
		if err.Error() != want {
			t.Errorf("%s, want %s", err, want)
		}
	}
}

// Commands print the cause of a failed call to the payment provider, without the key of the message.
func TestTextOfAProviderFailure(t *testing.T) {
	t.Parallel()
	failed := fault.NewCoded(fault.Provider, fault.PSPError)
	for err, want := range map[error]string{
		failed.Wrap(io.EOF): "EOF",
		fmt.Errorf("check plan: %w", failed.Wrap(io.EOF).With("meter", "api")): "check plan: EOF",
		failed: "error.psp_error",
		fault.NewCoded(fault.Conflict, fault.QuotaExceeded).Wrap(io.EOF): "error.QUOTA_EXCEEDED: EOF",
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	var fields fault.Fields
	if err := fields.Err(); err != nil {
		t.Errorf("no fields: %v", err)
	}
	fields.Add("b", "validation.required")
	fields.Add("a", "validation.email")
	var refusal *fault.Error
	if !errors.As(fields.Err(), &refusal) || refusal.Kind != fault.Invalid ||
		len(refusal.Fields) != 2 || refusal.Fields[0].Path != "b" || refusal.Fields[1].Message != "validation.email" {
		t.Errorf("%+v", refusal)
	}
	if errors.Is(fields.Err(), fault.OnField("b", "validation.required")) {
		t.Error("different validation errors match")
	}
}
