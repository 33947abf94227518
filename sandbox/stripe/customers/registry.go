package customers

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// RegistryPath is the path of the control of the VAT number registry.
const RegistryPath = kernel.OwnRoot + "/registry"

// registrations are the configured answers of the registry, by normalized value.
var registrations = kernel.Kind[registration]{Name: "sandbox.registration", Label: "registration"}

// registration is the registry's answer for a value.
type registration struct {
	kernel.Header
	Status string  `json:"status"`
	Name   *string `json:"name"`
}

// registryEntry is the body of the control.
type registryEntry struct {
	Value  string  `json:"value"`
	Status string  `json:"status"`
	Name   *string `json:"name"`
}

// ChangeRegistry returns the handler of PUT /sandbox/stripe/registry. The answer applies to
// existing and future tax IDs with the value.
func ChangeRegistry(e *kernel.Engine) http.HandlerFunc {
	statuses := []string{verified, unverified, pending, unavailable}
	return func(w http.ResponseWriter, r *http.Request) {
		var entry registryEntry
		if !kernel.ReadControl(w, r, &entry) {
			return
		}
		wrong := map[string]string{}
		if plainTaxID(entry.Value) == "" {
			wrong["value"] = "The value is required."
		}
		if !slices.Contains(statuses, entry.Status) {
			wrong["status"] = "The status must be one of " + strings.Join(statuses, ", ") + "."
		}
		if len(wrong) > 0 {
			kernel.RefuseControl(w, wrong)
			return
		}
		err := e.Settle(r.Context())
		if err == nil {
			err = e.Write(r.Context(), func(ctx context.Context, st *kernel.Step) error { return register(ctx, st, entry) })
		}
		if err != nil {
			kernel.FailControl(w, r, e.Log(), err)
			return
		}
		kernel.WriteControl(w, http.StatusOK, kernel.Data{Data: entry})
	}
}

// register stores an answer and updates the tax IDs with the value.
func register(ctx context.Context, st *kernel.Step, entry registryEntry) error {
	plain := plainTaxID(entry.Value)
	head := kernel.Header{ID: plain, Object: registrations.Name, Created: st.Now}
	if err := kernel.Put(ctx, st.Q, registration{Header: head, Status: entry.Status, Name: entry.Name}); err != nil {
		return err
	}
	ids, err := taxIDKind.FindWhere(ctx, st.Q, `upper(replace(replace(replace(doc ->> '$.value', ' ', ''), '.', ''), '-', '')) = ?`, plain)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := answerRegistry(ctx, st, id); err != nil {
			return err
		}
	}
	return nil
}

// RegistryAnswers is the action of TimerRegistryAnswers.
func RegistryAnswers(ctx context.Context, st *kernel.Step, id string) error {
	found, err := taxIDKind.Find(ctx, st.Q, id)
	if errors.Is(err, kernel.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return answerRegistry(ctx, st, found)
}

// answerRegistry sets the verification of a tax ID. It uses the configured answer for the value, or
// else the answer of a test value, or else unverified.
func answerRegistry(ctx context.Context, st *kernel.Step, id *TaxID) error {
	plain := plainTaxID(id.Value)
	v := verification{Status: unverified}
	if status, ok := testTaxIDs[plain]; ok {
		v.Status = status
	}
	known, err := registrations.Find(ctx, st.Q, plain)
	switch {
	case err == nil:
		v.Status = known.Status
		if v.Status == verified {
			v.VerifiedName = known.Name
		}
	case !errors.Is(err, kernel.ErrNotFound):
		return err
	}
	before := *id
	id.Verification = &v
	return st.Change(ctx, "customer.tax_id.updated", before, id)
}
