package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/webhook/webhooksql"
)

// insertExchanges stores the exchanges of the recorded deliveries and deletes earlier ones beyond
// maxExchanges.
func (s store) insertExchanges(ctx context.Context, all []outcome, recorded []uuid.UUID) error {
	var rows []any
	for _, o := range all {
		x := o.exchange
		if x == nil || !slices.Contains(recorded, o.delivery) {
			continue
		}
		sent, err := json.Marshal(x.requestHeaders)
		if err != nil {
			return fmt.Errorf("encode headers: %w", err)
		}
		var headers, body any
		isTruncated := false
		if x.response != nil {
			received, err := json.Marshal(x.response.headers)
			if err != nil {
				return fmt.Errorf("encode headers: %w", err)
			}
			headers, body, isTruncated = string(received), x.response.body, x.response.isTruncated
		}
		rows = append(rows, o.delivery, x.number, x.url, string(sent), headers, body, isTruncated)
		if x.number > maxExchanges {
			err := s.q(ctx).DeleteOldExchanges(ctx, webhooksql.DeleteOldExchangesParams{DeliveryID: o.delivery, Until: int32(x.number - maxExchanges)})
			if err != nil {
				return sqldb.Wrap(err, "delete old webhook exchanges")
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	// Values may repeat the last row. ON CONFLICT ignores the repetition.
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "integer", "text", "text", "text", "bytea", "boolean")
	_, err := s.db.Conn(ctx).ExecContext(ctx, `
INSERT INTO webhook_exchanges (delivery_id, number, url, request_headers, response_headers, response_body, is_truncated)
`+values+` ON CONFLICT DO NOTHING`, args...)
	return sqldb.Wrap(err, "insert webhook exchanges")
}

// exchanges returns the stored exchanges of a delivery, oldest first.
func (s store) exchanges(ctx context.Context, deliveryID uuid.UUID) ([]exchange, error) {
	rows, err := s.q(ctx).Exchanges(ctx, deliveryID)
	if err != nil {
		return nil, sqldb.Wrap(err, "read webhook exchanges")
	}
	list := make([]exchange, len(rows))
	for i, row := range rows {
		list[i] = exchange{number: int(row.Number), url: row.URL}
		if err := json.Unmarshal([]byte(row.RequestHeaders), &list[i].requestHeaders); err != nil {
			return nil, fmt.Errorf("decode headers: %w", err)
		}
		if row.ResponseHeaders == nil {
			continue
		}
		list[i].response = &response{body: row.ResponseBody, isTruncated: row.IsTruncated}
		if err := json.Unmarshal([]byte(*row.ResponseHeaders), &list[i].response.headers); err != nil {
			return nil, fmt.Errorf("decode headers: %w", err)
		}
	}
	return list, nil
}

// eventBody returns the body of an event, as it is sent.
func (s store) eventBody(ctx context.Context, eventID uuid.UUID) (string, error) {
	body, err := s.q(ctx).EventBody(ctx, eventID)
	return body, sqldb.WrapAbsent(err, "read webhook event", errNotFound)
}

// deliveryOfAny returns a delivery with its endpoint and tenant, or errNotFound.
func (s store) deliveryOfAny(ctx context.Context, id uuid.UUID) (deliveryOfAny, error) {
	row, err := s.q(ctx).DeliveryOfAny(ctx, id)
	if err != nil {
		return deliveryOfAny{}, sqldb.WrapAbsent(err, "read webhook delivery", errNotFound)
	}
	attempts, err := readAttempts(row.Attempts)
	return deliveryOfAny{
		Delivery: Delivery{
			ID: row.ID, EventID: row.EventID, Type: row.Type, Status: row.Status, Attempts: attempts,
			NextAttemptAt: row.NextAttemptAt, CreatedAt: row.CreatedAt,
		},
		EndpointID: row.EndpointID, URL: row.URL, TenantID: row.TenantID, TenantName: row.TenantName,
	}, err
}
