package catalog_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

const adminProducts = "/api/v1/admin/products"

func TestAdminShapes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, db)
		s.apply(t, shop)
		exec(t, db, "UPDATE products SET metadata = '{\"a\":1}' WHERE slug = 'main'")
		golden(t, "admin_products", s.admin(t, adminProducts, 200))
		golden(t, "admin_products_include", s.admin(t, adminProducts+"?include=plans,plansCount&filter[name]=main", 200))
		id := data(t, s.admin(t, adminProducts+"?filter[name]=main", 200))[0]["id"].(string)
		golden(t, "admin_product", s.admin(t, adminProducts+"/"+id, 200))
		s.admin(t, adminProducts+"/"+strings.ToUpper(id), 200)

		exec(t, db, "UPDATE products SET deleted_at = created_at WHERE slug = 'main'")
		s.admin(t, adminProducts+"/"+id, http.StatusNotFound)
		if got := data(t, s.admin(t, adminProducts, 200)); len(got) != 1 {
			t.Errorf("a deleted product is listed: %v", got)
		}
	})
}

func TestAdminGuards(t *testing.T) {
	t.Parallel()
	s := newServer(t, dbtest.New(t, sqldb.SQLite))
	const unknown = adminProducts + "/0197a1b2-0000-7000-8000-000000000001"
	for _, path := range []string{adminProducts, unknown} {
		body(t, s.get(t, path), http.StatusUnauthorized)
		body(t, s.get(t, path, "Authorization", "Bearer clerk"), http.StatusForbidden)
	}
	s.admin(t, unknown, http.StatusNotFound)
	s.admin(t, adminProducts+"/1", http.StatusNotFound)
	s.admin(t, adminProducts+"?filter[price]=1", http.StatusBadRequest)
	s.admin(t, adminProducts+"?sort=name", http.StatusBadRequest)
	s.admin(t, adminProducts+"?include=prices", http.StatusBadRequest)

	text := s.admin(t, adminProducts+"?filter[is_active]=maybe&per_page=101&filter[created_after]=soon", http.StatusUnprocessableEntity)
	var answer struct {
		Message string
		Errors  map[string][]string
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"filter.is_active", "filter.created_after", "per_page"} {
		if len(answer.Errors[field]) != 1 {
			t.Errorf("errors = %v, want one on %s", answer.Errors, field)
		}
	}
	if answer.Message == "" || strings.Contains(text, "{") && strings.Contains(answer.Message, "{") {
		t.Errorf("message = %q", answer.Message)
	}
}

// names are products whose names contain characters that are special in a search.
const names = `
products:
  - {slug: percent, name: {en: 100% Cotton}, description: {en: Half is 50%}}
  - {slug: under_score, name: {en: snake_case}}
  - {slug: backslash, name: {en: 'C:\temp'}}
  - {slug: quotes, name: {en: "It's \"quoted\""}}
  - {slug: emoji, name: {en: "Rocket 🚀"}}
  - {slug: ecole, name: {en: School, fr: École supérieure}}
  - {slug: plain, name: {en: Plain}, description: {en: Nothing special, it: Niente di speciale}, is_active: false}
`

func TestAdminFilters(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, db)
		for line := range strings.SplitSeq(strings.TrimPrefix(names, "\nproducts:\n"), "\n") {
			if line != "" {
				s.apply(t, "products:\n"+line+"\n")
				s.clock.Set(s.clock.Now().Add(time.Hour))
			}
		}
		for name, tt := range map[string]struct {
			query map[string]string
			want  string // slugs, newest first unless sorted
		}{
			"all, newest first":             {nil, "plain ecole emoji quotes backslash under_score percent"},
			"oldest first":                  {map[string]string{"sort": "created_at"}, "percent under_score backslash quotes emoji ecole plain"},
			"a percent sign is itself":      {map[string]string{"filter[name]": "%"}, "percent"},
			"an underscore is itself":       {map[string]string{"filter[name]": "_"}, "under_score"},
			"a backslash is itself":         {map[string]string{"filter[name]": `\`}, "backslash"},
			"a quote is itself":             {map[string]string{"filter[name]": "'S \"Q"}, "quotes"},
			"an injection finds nothing":    {map[string]string{"filter[name]": "' OR 1=1 --"}, ""},
			"an emoji is found":             {map[string]string{"filter[name]": "🚀"}, "emoji"},
			"another emoji is not":          {map[string]string{"filter[name]": "🚗"}, ""},
			"case does not matter":          {map[string]string{"filter[name]": "SNAKE"}, "under_score"},
			"nor in another locale's name":  {map[string]string{"filter[name]": "éCOLE"}, "ecole"},
			"but accents do":                {map[string]string{"filter[name]": "ecole"}, ""},
			"a name is not a description":   {map[string]string{"filter[name]": "special"}, ""},
			"search sees slugs":             {map[string]string{"filter[search]": "ECOLE"}, "ecole"},
			"search sees names":             {map[string]string{"filter[search]": "school"}, "ecole"},
			"search sees descriptions":      {map[string]string{"filter[search]": "DI SPEC"}, "plain"},
			"search is literal":             {map[string]string{"filter[search]": "0%"}, "percent"},
			"active":                        {map[string]string{"filter[is_active]": "1", "filter[search]": "l"}, "ecole backslash percent"},
			"inactive":                      {map[string]string{"filter[is_active]": "false"}, "plain"},
			"after, itself included":        {map[string]string{"filter[created_after]": "2026-03-01T17:00:00Z"}, "plain ecole"},
			"before, itself included":       {map[string]string{"filter[created_before]": "2026-03-01T13:00:00.000000Z"}, "under_score percent"},
			"before, one microsecond less":  {map[string]string{"filter[created_before]": "2026-03-01T12:59:59.999999Z"}, "percent"},
			"between dates":                 {map[string]string{"filter[created_after]": "2026-03-01", "filter[created_before]": "2026-03-01"}, "plain ecole emoji quotes backslash under_score percent"},
			"after the day":                 {map[string]string{"filter[created_after]": "2026-03-02"}, ""},
			"filters are all to be matched": {map[string]string{"filter[name]": "a", "filter[is_active]": "true"}, "under_score"},
		} {
			query := url.Values{}
			for key, value := range tt.query {
				query.Set(key, value)
			}
			var slugs []string
			for _, product := range data(t, s.admin(t, adminProducts+"?"+query.Encode(), 200)) {
				slugs = append(slugs, product["slug"].(string))
			}
			if diff := cmp.Diff(tt.want, strings.Join(slugs, " ")); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

// The pages together contain each entry of the list once, even if all entries have the same age.
func TestAdminPages(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, db)
		s.apply(t, large(7))
		for _, sort := range []string{"created_at", "-created_at"} {
			seen := map[string]bool{}
			next := publicURL + adminProducts + "?per_page=3&sort=" + sort
			pages := 0
			for next != "" {
				path, ok := strings.CutPrefix(next, publicURL)
				if !ok {
					t.Fatalf("next = %s", next)
				}
				text := s.admin(t, path, 200)
				for _, product := range data(t, text) {
					seen[product["slug"].(string)] = true
				}
				var answer struct {
					Links struct{ Next *string }
					Meta  struct{ Total int }
				}
				if err := json.Unmarshal([]byte(text), &answer); err != nil {
					t.Fatal(err)
				}
				if answer.Meta.Total != 7 {
					t.Errorf("total = %d", answer.Meta.Total)
				}
				next = ""
				if answer.Links.Next != nil {
					next = *answer.Links.Next
				}
				pages++
			}
			if len(seen) != 7 || pages != 3 {
				t.Errorf("sort=%s: %d products on %d pages, want 7 on 3", sort, len(seen), pages)
			}
		}
		if got := data(t, s.admin(t, adminProducts+"?page=99", 200)); len(got) != 0 {
			t.Errorf("page after the last one contains %v", got)
		}
	})
}
