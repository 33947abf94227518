package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// The events about usage that the provider accepted and later found invalid. They are thin events:
// the notification contains only an ID, by which the report is read.
const (
	EventErrors  = "v1.billing.meter.error_report_triggered"
	EventNoMeter = "v1.billing.meter.no_meter_found"
)

// UsageErrorReports reads the provider's reports about usage that it accepted and later found invalid
// (rules: usage#billing).
type UsageErrorReports struct{ Client *psp.Client }

// UsageError is the reason why the provider does not count a report that it accepted.
type UsageError struct {
	Identifier string // of the report
	Reason     string // a code and a sentence
}

// UsageErrors reads the report of an EventErrors or EventNoMeter event. The report only contains
// samples. total is the number of invalid reports.
func (r UsageErrorReports) UsageErrors(ctx context.Context, eventID string) (samples []UsageError, total int, err error) {
	found, _, err := psp.Call(ctx, r.Client, "get usage errors", func(ctx context.Context, api *calls.API) (usageErrors, error) {
		e, err := api.V2CoreEvents.Retrieve(ctx, eventID, nil)
		if err != nil {
			return usageErrors{}, convertToV1(err)
		}
		switch e := e.(type) {
		case *stripe.V1BillingMeterErrorReportTriggeredEvent:
			return usageErrorsOf(e.Data.Reason)
		case *stripe.V1BillingMeterNoMeterFoundEvent:
			return usageErrorsOf(e.Data.Reason)
		default:
			return usageErrors{}, fmt.Errorf("unexpected event type %T", e)
		}
	})
	return found.samples(), found.ErrorCount, err
}

// convertToV1 converts an error of API version 2 to version 1, which the other code handles.
func convertToV1(err error) error {
	e, ok := errors.AsType[*stripe.V2RawError](err)
	if !ok {
		return err
	}
	return &stripe.Error{HTTPStatusCode: e.HTTPStatusCode, Code: stripe.ErrorCode(e.Code), Msg: e.Message, RequestID: e.RequestID}
}

// usageErrors holds the reasons of both kinds of events. The library has two identical types for
// them.
type usageErrors struct {
	ErrorCount int `json:"error_count"`
	ErrorTypes []struct {
		Code         string `json:"code"`
		SampleErrors []struct {
			ErrorMessage string `json:"error_message"`
			Request      struct {
				Identifier string `json:"identifier"`
			} `json:"request"`
		} `json:"sample_errors"`
	} `json:"error_types"`
}

func usageErrorsOf(reason any) (usageErrors, error) {
	var e usageErrors
	text, err := json.Marshal(reason)
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	return e, err
}

func (e usageErrors) samples() []UsageError {
	var samples []UsageError
	for _, kind := range e.ErrorTypes {
		for _, s := range kind.SampleErrors {
			samples = append(samples, UsageError{Identifier: s.Request.Identifier, Reason: kind.Code + ": " + s.ErrorMessage})
		}
	}
	return samples
}
