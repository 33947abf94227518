package requestlog

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// A page is read in the order of an index. Failed requests, which are few, have their own index.
func TestPagesAreReadInOrder(t *testing.T) {
	t.Parallel()
	indexes := map[string]string{} // by statement
	tenant := uuid.New()
	for _, tt := range []struct {
		tenant        *uuid.UUID
		query, status string
		index         string
	}{
		{&tenant, "", "", "request_logs_tenant_id_idx"},
		{&tenant, "filter[method]=GET&from=2026-01-01&to=2026-02-01", "", "request_logs_tenant_id_idx"},
		{&tenant, "filter[route]=x", "", "request_logs_tenant_id_route_idx"},
		{&tenant, "filter[api_key]=" + uuid.NewString(), "", "request_logs_api_key_id_idx"},
		{&tenant, "", "2xx", "request_logs_tenant_id_idx"},
		{&tenant, "", "5xx", "request_logs_tenant_id_status_idx"},
		{&tenant, "", "404", "request_logs_tenant_id_status_idx"},
		{nil, "", "", "request_logs_at_idx"},
		{nil, "", "4xx", "request_logs_at_status_idx"},
		{nil, "filter[route]=x&filter[tenant]=" + tenant.String(), "", "request_logs_tenant_id_route_idx"},
		{nil, "filter[api_key]=" + uuid.NewString(), "", "request_logs_api_key_id_idx"},
		{nil, "filter[tenant]=" + tenant.String(), "", "request_logs_tenant_id_idx"},
		{nil, "filter[tenant]=" + tenant.String(), "5xx", "request_logs_tenant_id_status_idx"},
	} {
		query, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		sel, err := parseSelection(tt.tenant, AdminList(), query, Part{Status: tt.status, PerPage: 25})
		if err != nil {
			t.Fatal(err)
		}
		indexes[listStatement(sel, 26).Text] = tt.index
	}
	var texts []string
	for text := range indexes {
		texts = append(texts, text)
	}
	for _, p := range dbtest.PlansOf(t, texts) {
		if p.Sorts || !slices.ContainsFunc(p.Steps, func(step string) bool { return strings.Contains(step, indexes[p.Statement]) }) {
			t.Errorf("%s: not in the order of %s:\n%s\n%s", p.Database, indexes[p.Statement], p.Statement, strings.Join(p.Steps, "\n"))
		}
	}
}
