package entitlement

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// FormerTerms is what a tenant's subscription said about its billing periods until it
// was changed or ended. From it follows which windows of quotas were interrupted
// (rules: usage#interrupted-windows).
type FormerTerms struct {
	BillingAnchor      time.Time `json:"billing_anchor"`
	IntervalUnit       string    `json:"interval_unit"`
	IntervalCount      int32     `json:"interval_count"`
	CurrentPeriodStart time.Time `json:"current_period_start"` // of its last period
	CurrentPeriodEnd   time.Time `json:"current_period_end"`   // as it would have been
	Until              time.Time `json:"until"`
}

// EncodeFormer returns former terms as they are stored, nil for none.
func EncodeFormer(former []FormerTerms) (sqldb.JSON, error) {
	if len(former) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(former)
	if err != nil {
		return nil, fmt.Errorf("encode former terms: %w", err)
	}
	return text, nil
}

// DecodeFormer reads former terms as they are stored.
func DecodeFormer(text sqldb.JSON) ([]FormerTerms, error) {
	if text == nil {
		return nil, nil
	}
	var former []FormerTerms
	if err := json.Unmarshal(text, &former); err != nil {
		return nil, fmt.Errorf("decode former terms: %w", err)
	}
	return former, nil
}
