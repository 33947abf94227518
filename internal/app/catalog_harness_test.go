package app

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// object is a JSON object.
type object = map[string]any

// keeper is a platform admin at work on the catalog.
type keeper struct {
	*server
	token string
}

func (s *server) keeper() keeper { return keeper{server: s, token: s.admin()} }

// on calls a route of the administration.
func (k keeper) on(method, path string, body any) reply {
	k.t.Helper()
	return k.call(method, "/api/v1/admin"+path, k.token, body)
}

// make makes a product, plan or feature of what is needed at least, with changes.
func (k keeper) make(kind string, body object, changes ...object) string {
	k.t.Helper()
	return k.on("POST", "/"+kind, with(body, changes...)).want(201).str("data.id")
}

func (k keeper) product(slug string, changes ...object) string {
	k.t.Helper()
	return k.make("products", object{"slug": slug, "name": object{"en": "Product " + slug}}, changes...)
}

func (k keeper) feature(code string, changes ...object) string {
	k.t.Helper()
	return k.make("features", object{"code": code, "name": object{"en": "Feature " + code}}, changes...)
}

func (k keeper) planOf(product, slug string, changes ...object) string {
	k.t.Helper()
	return k.make("plans", planBody(product, slug), changes...)
}

func planBody(product, slug string) object {
	return object{
		"product_id": product, "slug": slug, "name": object{"en": "Plan " + slug},
		"pricing_type": "flat", "billing_cycle": "monthly",
	}
}

// absent stands for a key that is left out.
const absent = "\x00absent"

// with returns a body with changes.
func with(body object, changes ...object) object {
	out := maps.Clone(body)
	for _, change := range changes {
		for key, value := range change {
			if value == absent {
				delete(out, key)
			} else {
				out[key] = value
			}
		}
	}
	return out
}

// same compares what an answer has at a path.
func (a reply) same(path string, want any) reply {
	a.t.Helper()
	if diff := cmp.Diff(want, a.at(path)); diff != "" {
		a.t.Errorf("%s: %s", path, diff)
	}
	return a
}

// fields fails the test unless the answer is a 422 on exactly these fields.
func (a reply) fields(t *testing.T, name string, want ...string) {
	t.Helper()
	errs, _ := a.at("errors").(object)
	ok := a.status == 422 && len(errs) == len(want)
	for _, field := range want {
		ok = ok && errs[field] != nil
	}
	if !ok {
		t.Errorf("%s: %d %s, want 422 on %q", name, a.status, a.text, want)
	}
}
