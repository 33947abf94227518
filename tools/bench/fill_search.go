//go:build linux

package main

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// objectsOfTx is the number of objects whose words are written in a transaction.
const objectsOfTx = 2000

// copies creates the invoice copies that the lists across tenants read, and their sums.
func (f *filler) copies(ctx context.Context) error {
	body := `'{"Number":"' || i.number || '"}'`
	if f.db.Dialect() == sqldb.Postgres {
		body = "CAST(" + body + " AS jsonb)"
	}
	if err := f.exec(ctx, `INSERT INTO invoice_copies (id, tenant_id, status, number_key, currency, total_cents, due_cents, issue_date, is_issued, due_date, body)
SELECT i.id, i.tenant_id, i.status, upper(i.number), i.currency, i.total_cents, CASE WHEN i.status = 'open' THEN i.total_cents ELSE 0 END, i.issue_date, true, i.issue_date, `+body+` FROM invoices i WHERE NOT EXISTS (SELECT 1 FROM invoice_copies c WHERE c.id = i.id)`); err != nil {
		return err
	}
	if err := f.exec(ctx, `DELETE FROM invoice_sums`); err != nil {
		return err
	}
	return f.exec(ctx, `INSERT INTO invoice_sums (tenant_id, currency, invoices, total_cents, due_cents)
SELECT c.tenant_id, c.currency, count(*), CAST(sum(c.total_cents) AS bigint), CAST(sum(c.due_cents) AS bigint) FROM invoice_copies c GROUP BY c.tenant_id, c.currency`)
}

// words creates the search index of tenants, users and invoices.
func (f *filler) words(ctx context.Context) error {
	index := search.NewIndex(f.db)
	var writes []func(ctx context.Context) error
	err := f.queryRows(ctx, `SELECT id, name, slug FROM tenants`, func(scan func(...any) error) error {
		o := search.Object{Kind: search.Tenant, Texts: make([]string, 1), Wholes: make([]string, 1)}
		err := scan(&o.ID, &o.Texts[0], &o.Wholes[0])
		writes = append(writes, func(ctx context.Context) error { return index.Put(ctx, o) })
		return err
	})
	if err != nil {
		return err
	}
	err = f.queryRows(ctx, `SELECT id, name, email FROM users`, func(scan func(...any) error) error {
		var id int64
		var name, email string
		err := scan(&id, &name, &email)
		writes = append(writes, func(ctx context.Context) error { return index.PutUser(ctx, id, name, email) })
		return err
	})
	if err != nil {
		return err
	}
	err = f.queryRows(ctx, `SELECT id, tenant_id, number_key FROM invoice_copies`, func(scan func(...any) error) error {
		o := search.Object{Kind: search.Invoice, TenantID: new(uuid.UUID), Wholes: make([]string, 1)}
		err := scan(&o.ID, o.TenantID, &o.Wholes[0])
		writes = append(writes, func(ctx context.Context) error { return index.Put(ctx, o) })
		return err
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(writes, objectsOfTx) {
		if err := f.db.Tx(ctx, func(ctx context.Context) error {
			for _, write := range some {
				if err := write(ctx); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
