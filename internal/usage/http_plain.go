package usage

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/rest/plain"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// ReadPlain implements plain.Reader.
func (u *UsageRecording) ReadPlain(text []byte) bool {
	var read UsageRecording
	o := plain.Read(text)
	for o.Next() {
		switch key := o.Key(); {
		case string(key) == "meter_code" && read.MeterCode == "":
			read.MeterCode = o.Text()
		case string(key) == "quantity" && read.Quantity == nil:
			read.Quantity = &shape.Quantity{Quantity: o.Quantity()}
		case string(key) == "idempotency_key" && read.IdempotencyKey == nil:
			text := o.Text()
			read.IdempotencyKey = &text
		case string(key) == "recorded_at" && read.RecordedAt == nil:
			read.RecordedAt = new(shape.Time)
			if read.RecordedAt.UnmarshalText([]byte(o.Text())) != nil {
				return false
			}
		case string(key) == "metadata" && read.Metadata == nil:
			read.Metadata = o.Flat(maxMetadata)
		default: // unknown, or there twice
			return false
		}
	}
	if !o.Ended() || read.MeterCode == "" {
		return false
	}
	*u = read
	return true
}

// maxMetadata is the tag maxBytes of UsageRecording.
const maxMetadata = 4096

// AppendJSON implements plain.Writer.
func (e *RecordedEvent) AppendJSON(dst []byte) []byte {
	dst = plain.ID(append(dst, `{"id":`...), e.ID)
	dst = plain.Text(append(dst, `,"meter_code":`...), e.MeterCode)
	dst = e.Quantity.Append(append(dst, `,"quantity":`...))
	dst = plain.Time(append(dst, `,"recorded_at":`...), e.RecordedAt.Std())
	return append(dst, '}')
}

// AppendJSON implements plain.Writer.
func (r *BatchResult) AppendJSON(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"index":`...), int64(r.Index), 10)
	dst = strconv.AppendInt(append(dst, `,"status":`...), int64(r.Status), 10)
	if r.ID != nil {
		dst = plain.ID(append(dst, `,"id":`...), *r.ID)
	}
	if r.Code != "" {
		dst = plain.Text(append(dst, `,"code":`...), r.Code)
	}
	if r.Message != "" {
		dst = plain.Text(append(dst, `,"message":`...), r.Message)
	}
	if len(r.Errors) > 0 {
		errs, _ := json.Marshal(r.Errors, json.Deterministic(true), jsontext.AllowInvalidUTF8(true)) // texts alone
		dst = append(append(dst, `,"errors":`...), errs...)
	}
	return append(dst, '}')
}

// AppendJSON implements plain.Writer.
func (q *UsageQuotas) AppendJSON(dst []byte) []byte {
	dst = plain.ID(append(dst, `{"tenant_id":`...), q.TenantID)
	dst = append(dst, `,"meters":[`...)
	for i := range q.Meters {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = q.Meters[i].append(dst)
	}
	return append(dst, `]}`...)
}

func (m *MeterQuota) append(dst []byte) []byte {
	dst = plain.ID(append(dst, `{"meter_id":`...), m.MeterID)
	dst = plain.Text(append(dst, `,"meter_code":`...), m.MeterCode)
	dst = plain.Text(append(dst, `,"meter_name":`...), m.MeterName)
	dst = m.CurrentUsage.Append(append(dst, `,"current_usage":`...))
	dst = plain.IntOrNull(append(dst, `,"quota_limit":`...), m.QuotaLimit)
	dst = plain.FloatOrNull(append(dst, `,"usage_percent":`...), m.UsagePercent)
	dst = plain.Text(append(dst, `,"status":`...), m.Status)
	dst = plain.Text(append(dst, `,"quota_enforcement":`...), m.QuotaEnforcement)
	dst = plain.TextOrNull(append(dst, `,"unit_label":`...), m.UnitLabel)
	return append(dst, '}')
}
