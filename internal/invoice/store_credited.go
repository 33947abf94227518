package invoice

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// addCredited sets the credited amounts of the lines of invoices.
func (s store) addCredited(ctx context.Context, tenantID uuid.UUID, invoices []Invoice) error {
	var ids []uuid.UUID
	lines := map[uuid.UUID]*Line{}
	for i, inv := range invoices {
		if inv.Credited.AmountCents == 0 {
			continue
		}
		ids = append(ids, inv.ID)
		for n := range inv.Lines {
			lines[inv.Lines[n].ID] = &invoices[i].Lines[n]
		}
	}
	if len(ids) == 0 {
		return nil
	}
	among, args := sqldb.InCondition(s.db, 2, "uuid", ids)
	return s.db.QueryAll(ctx, sqldb.Query{
		Doing: "read credited lines",
		Text: `SELECT l.line_id, sum(l.amount_cents)::bigint
FROM credit_note_lines l JOIN credit_notes n ON n.tenant_id = l.tenant_id AND n.id = l.credit_note_id
WHERE n.tenant_id = $1 AND n.status = 'issued' AND l.line_id IS NOT NULL AND n.invoice_id ` + among + `
GROUP BY l.line_id`,
		Args: append([]any{tenantID}, args...),
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			var cents int64
			if err := scan(&id, &cents); err != nil {
				return err
			}
			if line := lines[id]; line != nil {
				line.Credited = cents
			}
			return nil
		},
	})
}
