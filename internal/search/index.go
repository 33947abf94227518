package search

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Kind is the type of an indexed object.
type Kind string

// The kinds of objects.
const (
	Tenant  Kind = "tenant"
	Domain  Kind = "domain" // of a tenant
	Plan    Kind = "plan"
	Meter   Kind = "meter"
	Invoice Kind = "invoice"
	APIKey  Kind = "api_key"
)

// Object is an object with its words.
type Object struct {
	Kind     Kind
	ID       uuid.UUID
	TenantID *uuid.UUID // the owner; nil for tenants, plans and meters
	Texts    []string   // names, which are found by their words only
	Wholes   []string   // slugs, codes, numbers and the like, which are also found as a whole
}

// Index stores the words of objects.
type Index struct{ db *sqldb.DB }

// NewIndex returns an Index.
func NewIndex(db *sqldb.DB) Index { return Index{db} }

// words returns the words of texts and wholes. The value of a whole as a single word is true.
func words(texts, wholes []string) map[string]bool {
	found := map[string]bool{}
	var typed []string
	for _, text := range wholes {
		typed = append(typed, spellings(text)...)
	}
	for _, text := range slices.Concat(texts, typed) {
		for _, w := range splitWords(text) {
			found[w] = false
		}
	}
	for _, text := range typed {
		if w := singleWord(text); w != "" {
			found[w] = true
		}
	}
	return found
}

// Put replaces the words of an object. It belongs in the transaction of the change.
func (x Index) Put(ctx context.Context, o Object) error {
	if err := x.Remove(ctx, o.Kind, o.ID); err != nil {
		return err
	}
	found := words(o.Texts, o.Wholes)
	if len(found) == 0 {
		return nil
	}
	var rows []any
	for _, w := range slices.Sorted(maps.Keys(found)) {
		rows = append(rows, w, found[w])
	}
	values, args := sqldb.Values(x.db, 4, rows, "text", "boolean")
	_, err := x.db.Conn(ctx).ExecContext(ctx, `INSERT INTO search_words (kind, id, tenant_id, word, is_whole)
SELECT $1::text, $2::uuid, $3::uuid, w.column1, w.column2 FROM (`+values+`) AS w WHERE true ON CONFLICT DO NOTHING`,
		append([]any{string(o.Kind), o.ID, o.TenantID}, args...)...)
	return sqldb.Wrap(err, "store words")
}

// Remove deletes the words of an object.
func (x Index) Remove(ctx context.Context, kind Kind, id uuid.UUID) error {
	_, err := x.db.Conn(ctx).ExecContext(ctx, `DELETE FROM search_words WHERE kind = $1 AND id = $2`, string(kind), id)
	return sqldb.Wrap(err, "delete words")
}

// RemoveTenant deletes the words of a tenant and of everything that belongs to it, except the
// invoices that this service has issued, which must be retained.
func (x Index) RemoveTenant(ctx context.Context, id uuid.UUID) error {
	if err := x.Remove(ctx, Tenant, id); err != nil {
		return err
	}
	_, err := x.db.Conn(ctx).ExecContext(ctx, `DELETE FROM search_words WHERE tenant_id = $1
AND NOT EXISTS (SELECT 1 FROM invoice_copies c WHERE c.id = search_words.id AND c.is_issued)`, id)
	return sqldb.Wrap(err, "delete words of a tenant")
}

// PutUser replaces the words of a user, and the keys by which lists sort the name.
func (x Index) PutUser(ctx context.Context, id int64, name, email string) error {
	if err := x.RemoveUser(ctx, id); err != nil {
		return err
	}
	fields := map[string]map[string]bool{
		"name": words([]string{name}, nil), "email": words(nil, []string{email}), "id": words(nil, []string{strconv.FormatInt(id, 10)}),
	}
	var rows []any
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		for _, w := range slices.Sorted(maps.Keys(fields[field])) {
			rows = append(rows, field, w, fields[field][w])
		}
	}
	const spanish = "es" // the other locales share an order
	_, err := x.db.Conn(ctx).ExecContext(ctx, `UPDATE users SET name_key = $2, name_key_es = $3 WHERE id = $1`,
		id, i18n.NewCollator(i18n.Default).Key(name), i18n.NewCollator(spanish).Key(name))
	if err != nil {
		return sqldb.Wrap(err, "store sort keys of a user")
	}
	values, args := sqldb.Values(x.db, 2, rows, "text", "text", "boolean")
	_, err = x.db.Conn(ctx).ExecContext(ctx, `INSERT INTO user_words (user_id, field, word, is_whole)
SELECT $1::bigint, w.column1, w.column2, w.column3 FROM (`+values+`) AS w WHERE true ON CONFLICT DO NOTHING`, append([]any{id}, args...)...)
	return sqldb.Wrap(err, "store words of a user")
}

// RemoveUser deletes the words of a user.
func (x Index) RemoveUser(ctx context.Context, id int64) error {
	_, err := x.db.Conn(ctx).ExecContext(ctx, `DELETE FROM user_words WHERE user_id = $1`, id)
	return sqldb.Wrap(err, "delete words of a user")
}
