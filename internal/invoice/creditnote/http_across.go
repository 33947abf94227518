package creditnote

import (
	"context"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// AdminCreditNote is a credit note in the list across tenants.
type AdminCreditNote struct {
	CreditNoteView
	Tenant sheet.NamedTenant `json:"tenant"`
}

// AdminCreditNotePage is a page of the list across tenants.
type AdminCreditNotePage struct {
	Data  []AdminCreditNote   `json:"data"`
	Meta  AdminCreditNoteMeta `json:"meta"`
	Links page.Links          `json:"links"`
}

// AdminCreditNoteMeta is the position of a page in the list across tenants, with the sums of the
// whole list.
type AdminCreditNoteMeta struct {
	CurrentPage int64            `json:"current_page"`
	LastPage    int64            `json:"last_page"`
	PerPage     int64            `json:"per_page"`
	Total       int64            `json:"total"`
	Totals      []CreditNoteSums `json:"totals" doc:"Sums of all pages, by currency."`
}

// CreditNoteSums are the sums of the credit notes in a currency, in minor units.
type CreditNoteSums struct {
	Currency string `json:"currency"`
	Count    int64  `json:"count" doc:"Number of credit notes."`
	Total    int64  `json:"total" doc:"Sum of the totals, in minor units of the currency."`
}

// AcrossList returns the filters and the sort orders of the list across tenants.
func (*HTTP) AcrossList() page.Spec {
	return page.Spec{
		Filters: map[string]page.Filter{
			"status":        {Kind: page.AnyOf, Exprs: []string{"n.status"}, Values: []string{"issued", "void"}},
			"tenant":        {Kind: page.UUID, Exprs: []string{"n.tenant_id"}},
			"currency":      page.Currencies("n.currency"),
			"issued_from":   {Kind: page.DayFrom, Exprs: []string{"n.issue_date"}},
			"issued_to":     {Kind: page.DayTo, Exprs: []string{"n.issue_date"}},
			"refund_status": {Kind: page.Enum, Exprs: []string{"n.refund_status"}, Values: []string{"pending", "succeeded", "failed"}},
		},
		Sorts: map[string]string{"issue_date": "n.issue_date"}, DefaultSort: "-issue_date", Tiebreak: "n.id", CSV: true,
	}
}

// ListAcross handles GET /admin/credit-notes.
func (h *HTTP) ListAcross(ctx context.Context, _ *struct{}) (*rest.Body[AdminCreditNotePage], error) {
	q, err := h.AcrossList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	var totals []CreditNoteSums
	list := sheet.List[AdminCreditNote]{Name: "credit-notes", Decimals: h.decimals, Read: func(ctx context.Context, q page.Query) (_ []AdminCreditNote, _ int64, err error) {
		if !q.IsExport() {
			if totals, err = h.svc.store.sumAcross(ctx, q); err != nil {
				return nil, 0, err
			}
		}
		return h.readAcross(ctx, q, totals)
	}}
	return sheet.Answer(ctx, list, q, func(entries []AdminCreditNote, total int64) (AdminCreditNotePage, error) {
		p := page.New(q, h.publicURL+"/api/v1/admin/credit-notes", entries, total)
		m := p.Meta
		return AdminCreditNotePage{p.Data, AdminCreditNoteMeta{m.CurrentPage, m.LastPage, m.PerPage, m.Total, totals}, p.Links}, nil
	})
}

func (h *HTTP) readAcross(ctx context.Context, q page.Query, totals []CreditNoteSums) ([]AdminCreditNote, int64, error) {
	count := int64(0)
	for _, t := range totals {
		count += t.Count
	}
	entries, total, err := h.svc.store.pageAcross(ctx, q, count)
	if err != nil {
		return nil, 0, err
	}
	views := make([]AdminCreditNote, len(entries))
	for i, e := range entries {
		v := view(e.Note)
		if v.PDFURL != nil {
			url := "/api/v1/admin/tenants/" + e.TenantID.String() + "/credit-notes/" + e.ID.String() + "/pdf"
			v.PDFURL = &url
		}
		views[i] = AdminCreditNote{v, e.tenant}
	}
	return views, total, nil
}
