package hook_test

import (
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
)

// Type names are part of the API contract.
func TestTypes(t *testing.T) {
	t.Parallel()
	seen := map[hook.Type]bool{}
	form := regexp.MustCompile(`^[a-z_]+\.[a-z_]+$`)
	for _, one := range hook.Types() {
		if seen[one] || !form.MatchString(string(one)) {
			t.Errorf("%s", one)
		}
		seen[one] = true
	}
	if len(seen) != 27 {
		t.Errorf("%d types", len(seen))
	}
	hook.Types()[0] = "changed"
	if hook.Types()[0] != hook.TenantCreated {
		t.Error("the list can be changed from outside")
	}
}

// kept is an outbox that stores the last event.
type kept struct{ hook.Event }

var errFull = errors.New("full")

func (k *kept) Add(_ context.Context, e hook.Event) error {
	k.Event = e
	return errFull
}

func TestPublish(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	if err := hook.Publish(t.Context(), nil, hook.InvoicePaid, id, nil); err != nil {
		t.Errorf("without an outbox: %v", err)
	}
	var k kept
	if err := hook.Publish(t.Context(), &k, hook.InvoicePaid, id, hook.StaticData("resource")); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	data, err := k.Data(t.Context())
	if k.Type != hook.InvoicePaid || k.TenantID == nil || *k.TenantID != id || data != "resource" || err != nil {
		t.Errorf("%+v %v %v", k.Event, data, err)
	}
}
