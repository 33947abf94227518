package entitlement

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// FormerTerms are the billing terms of a tenant's subscription until it was changed or ended. They
// determine which quota windows were interrupted (rules: usage#interrupted-windows).
type FormerTerms struct {
	BillingAnchor      time.Time `json:"billing_anchor"`
	IntervalUnit       string    `json:"interval_unit"`
	IntervalCount      int32     `json:"interval_count"`
	CurrentPeriodStart time.Time `json:"current_period_start"` // of the last period under these terms
	CurrentPeriodEnd   time.Time `json:"current_period_end"`   // as originally planned
	Until              time.Time `json:"until"`
}

// EncodeFormer encodes former terms for storage. It returns nil for an empty list.
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

// DecodeFormer decodes stored former terms.
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
