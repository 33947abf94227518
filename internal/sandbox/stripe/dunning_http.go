package stripe

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

const dunningPath = apiRoot + "/dunning"

// dunningSettings is what the control shows and takes.
type dunningSettings struct {
	// Outcome is what a subscription becomes when the last retry has failed.
	Outcome string `json:"outcome"`
}

// showDunning answers GET /sandbox/stripe/dunning.
func showDunning(e *engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		kept, err := readDunning(r.Context(), e.read())
		if err != nil {
			failControl(w, r, e.log(), err)
			return
		}
		writeDunning(w, kept.Outcome)
	}
}

// changeDunning answers PUT /sandbox/stripe/dunning. It holds for retries that
// fail from now on.
func changeDunning(e *engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		settings := dunningSettings{Outcome: subscriptionCanceled}
		if !readControl(w, r, &settings) {
			return
		}
		if !slices.Contains(dunningOutcomes(), settings.Outcome) {
			refuseControl(w, map[string]string{"outcome": "The outcome must be one of " + strings.Join(dunningOutcomes(), ", ") + "."})
			return
		}
		err := e.settle(r.Context()) // what was due before is decided by the setting before
		if err == nil {
			err = e.write(r.Context(), func(ctx context.Context, st *step) error {
				id := header{ID: dunningRecords.name, Object: dunningRecords.name, Created: st.now}
				return put(ctx, st.q, dunning{header: id, Outcome: settings.Outcome})
			})
		}
		if err != nil {
			failControl(w, r, e.log(), err)
			return
		}
		writeDunning(w, settings.Outcome)
	}
}

func writeDunning(w http.ResponseWriter, outcome string) {
	writeControl(w, http.StatusOK, data{struct {
		dunningSettings
		RetryDays []int64 `json:"retry_days"`
	}{dunningSettings{outcome}, retryDays()}})
}
