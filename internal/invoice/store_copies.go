package invoice

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
)

var errNoCopy = errors.New("the invoice was not copied")

// putCopy stores the copy of an invoice that was just read from the provider, for the lists across
// tenants. inv is the provider's invoice, converted. If isIssuing is set, the copy of an issued
// invoice is the invoice that this service has issued. The caller must hold the tenant's lock in a
// transaction.
func (s store) putCopy(ctx context.Context, inv Invoice, in psp.Invoice, isIssuing bool) error {
	if isIssuing && inv.Status != StatusDraft {
		issued, err := s.invoice(ctx, inv.TenantID, inv.ID)
		if errors.Is(err, errNotFound) {
			return nil // it is about to be issued
		}
		if err != nil {
			return err
		}
		inv = issued
	}
	body, err := json.Marshal(inv)
	if err != nil {
		return sqldb.Wrap(err, "encode copy of invoice")
	}
	p := invoicesql.PutCopyParams{
		ID: inv.ID, TenantID: inv.TenantID, Status: string(inv.Status), Currency: inv.Total.Currency, TotalCents: inv.Total.AmountCents,
		IssueDate: inv.IssueDate, DueDate: inv.DueDate, Body: body, IsIssued: isIssuing && inv.Status != StatusDraft,
	}
	if inv.Status == StatusOpen {
		p.DueCents = in.Open
	}
	if inv.Status != StatusDraft {
		p.NumberKey = strings.ToUpper(inv.Number)
	}
	return s.replaceCopy(ctx, p)
}

// replaceCopy stores a copy, the sums of the tenant and the words of the number.
func (s store) replaceCopy(ctx context.Context, p invoicesql.PutCopyParams) error {
	old, err := s.q(ctx).Copy(ctx, p.ID)
	err = sqldb.WrapAbsent(err, "read copy of invoice", errNoCopy)
	if err != nil && !errors.Is(err, errNoCopy) {
		return err
	}
	if err == nil {
		if err := s.addToSums(ctx, p, old, -1); err != nil {
			return err
		}
	}
	if err := s.q(ctx).PutCopy(ctx, p); err != nil {
		return sqldb.Wrap(err, "store copy of invoice")
	}
	now := invoicesql.CopyRow{NumberKey: p.NumberKey, Currency: p.Currency, TotalCents: p.TotalCents, DueCents: p.DueCents}
	if err := s.addToSums(ctx, p, now, 1); err != nil || p.NumberKey == old.NumberKey {
		return err
	}
	return search.NewIndex(s.db).Put(ctx, search.Object{Kind: search.Invoice, ID: p.ID, TenantID: &p.TenantID, Wholes: []string{p.NumberKey}})
}

// addToSums adds a copy to the sums of its tenant, or subtracts it if sign is -1.
func (s store) addToSums(ctx context.Context, of invoicesql.PutCopyParams, c invoicesql.CopyRow, sign int64) error {
	err := s.q(ctx).AddToSums(ctx, invoicesql.AddToSumsParams{
		TenantID: of.TenantID, Currency: c.Currency, Invoices: sign, TotalCents: sign * c.TotalCents, DueCents: sign * c.DueCents,
	})
	return sqldb.Wrap(err, "add to the sums of invoices")
}

// voidCopy marks the copy of an invoice as void, if the copy exists.
func (s store) voidCopy(ctx context.Context, of Invoice) error {
	old, err := s.q(ctx).Copy(ctx, of.ID)
	if err = sqldb.WrapAbsent(err, "read copy of invoice", errNoCopy); errors.Is(err, errNoCopy) {
		return nil
	}
	if err != nil {
		return err
	}
	err = s.q(ctx).AddToSums(ctx, invoicesql.AddToSumsParams{TenantID: of.TenantID, Currency: old.Currency, DueCents: -old.DueCents})
	if err != nil {
		return sqldb.Wrap(err, "take an invoice off the open amount")
	}
	return sqldb.Wrap(s.q(ctx).VoidCopy(ctx, invoicesql.VoidCopyParams{TenantID: of.TenantID, ID: of.ID}), "mark copy of invoice as void")
}

// deleteCopy deletes the copy of an invoice that no longer exists, if there is one.
func (s store) deleteCopy(ctx context.Context, of Invoice) error {
	old, err := s.q(ctx).Copy(ctx, of.ID)
	if err = sqldb.WrapAbsent(err, "read copy of invoice", errNoCopy); errors.Is(err, errNoCopy) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.addToSums(ctx, invoicesql.PutCopyParams{TenantID: of.TenantID}, old, -1); err != nil {
		return err
	}
	if err := s.q(ctx).DeleteCopy(ctx, invoicesql.DeleteCopyParams{TenantID: of.TenantID, ID: of.ID}); err != nil {
		return sqldb.Wrap(err, "delete copy of invoice")
	}
	return search.NewIndex(s.db).Remove(ctx, search.Invoice, of.ID)
}

// forgetCopies deletes the copies of a tenant's invoices that this service has not issued.
func (s store) forgetCopies(ctx context.Context, tenantID uuid.UUID) error {
	for _, step := range []func(context.Context, uuid.UUID) error{s.q(ctx).ForgetCopies, s.q(ctx).DeleteSums, s.q(ctx).SumCopies} {
		if err := step(ctx, tenantID); err != nil {
			return sqldb.Wrap(err, "delete copies of invoices")
		}
	}
	return nil
}
