package subscriptions

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// DunningPath is the path of the dunning setting.
const DunningPath = kernel.OwnRoot + "/dunning"

// dunningSettings is the body of the control.
type dunningSettings struct {
	// Outcome is the status of a subscription after the last failed attempt.
	Outcome string `json:"outcome"`
}

// ShowDunning returns the handler of GET /sandbox/stripe/dunning.
func ShowDunning(e *kernel.Engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		kept, err := readDunning(r.Context(), e.Read())
		if err != nil {
			kernel.FailControl(w, r, e.Log(), err)
			return
		}
		writeDunning(w, kept.Outcome)
	}
}

// ChangeDunning returns the handler of PUT /sandbox/stripe/dunning. The setting applies to attempts
// that fail from now on.
func ChangeDunning(e *kernel.Engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		settings := dunningSettings{Outcome: StatusCanceled}
		if !kernel.ReadControl(w, r, &settings) {
			return
		}
		if !slices.Contains(dunningOutcomes(), settings.Outcome) {
			kernel.RefuseControl(w, map[string]string{"outcome": "The outcome must be one of " + strings.Join(dunningOutcomes(), ", ") + "."})
			return
		}
		err := e.Settle(r.Context()) // attempts that are already due use the old setting
		if err == nil {
			err = e.Write(r.Context(), func(ctx context.Context, st *kernel.Step) error {
				id := kernel.Header{ID: dunningRecords.Name, Object: dunningRecords.Name, Created: st.Now}
				return kernel.Put(ctx, st.Q, dunning{Header: id, Outcome: settings.Outcome})
			})
		}
		if err != nil {
			kernel.FailControl(w, r, e.Log(), err)
			return
		}
		writeDunning(w, settings.Outcome)
	}
}

func writeDunning(w http.ResponseWriter, outcome string) {
	kernel.WriteControl(w, http.StatusOK, kernel.Data{Data: struct {
		dunningSettings
		RetryDays []int64 `json:"retry_days"`
	}{dunningSettings{outcome}, retryDays()}})
}
