package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

func TestDifference(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	type named struct {
		Name string `json:"name"`
		City string `json:"city,omitempty"`
	}
	for name, tt := range map[string]struct {
		before, after any
		from, to      string
	}{
		"nothing":                      {nil, nil, ``, ``},
		"created":                      {nil, object{"a": 1}, ``, `{"a":1}`},
		"deleted":                      {object{"a": 1}, nil, `{"a":1}`, ``},
		"unchanged":                    {object{"a": 1}, object{"a": 1}, `{}`, `{}`},
		"changed":                      {object{"a": 1, "b": 2}, object{"a": 1, "b": 3}, `{"b":2}`, `{"b":3}`},
		"added":                        {object{"a": 1}, object{"a": 1, "b": 2}, `{}`, `{"b":2}`},
		"removed key":                  {object{"a": 1, "b": 2}, object{"a": 1}, `{"b":2}`, `{}`},
		"null is not absent":           {object{"a": nil}, object{}, `{"a":null}`, `{}`},
		"null to a value":              {object{"a": nil}, object{"a": 0}, `{"a":null}`, `{"a":0}`},
		"null stays":                   {object{"a": nil}, object{"a": nil}, `{}`, `{}`},
		"a number differs from a text": {object{"a": 1}, object{"a": "1"}, `{"a":1}`, `{"a":"1"}`},
		"types do not matter":          {object{"a": int64(1)}, struct{ A int }{1}, `{"a":1}`, `{"A":1}`},
		"struct and map":               {named{"A", "Rome"}, object{"name": "B", "city": "Rome"}, `{"name":"A"}`, `{"name":"B"}`},
		"nested, whole":                {object{"s": object{"x": 1, "y": 2}}, object{"s": object{"x": 1, "y": 3}}, `{"s":{"x":1,"y":2}}`, `{"s":{"x":1,"y":3}}`},
		"nested, unchanged":            {object{"s": object{"x": 1}}, object{"s": object{"x": 1}}, `{}`, `{}`},
		"the order of a list":          {object{"l": []int{1, 2}}, object{"l": []int{2, 1}}, `{"l":[1,2]}`, `{"l":[2,1]}`},
		"an equal list":                {object{"l": []int{1, 2}}, object{"l": []any{1, 2}}, `{}`, `{}`},
		"long integers":                {object{"n": int64(9007199254740993)}, object{"n": int64(9007199254740992)}, `{"n":9007199254740993}`, `{"n":9007199254740992}`},
		"encoded JSON":                 {object{"s": sqldb.JSON(`{"a": 1}`)}, object{"s": sqldb.JSON(`{"a":1}`)}, `{}`, `{}`},
		"a secret that changed":        {object{"password": "old"}, object{"password": "new"}, `{"password":"[removed]"}`, `{"password":"[removed]"}`},
		"a secret that stayed":         {object{"password": "old"}, object{"password": "old"}, `{}`, `{}`},
		"secrets in nested maps":       {nil, object{"s": object{"api_token": object{"x": 1}}}, ``, `{"s":{"api_token":"[removed]"}}`},
	} {
		from, to, err := difference(tt.before, tt.after)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff([]string{tt.from, tt.to}, []string{string(from), string(to)}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestSecretKeys(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"password": true, "Password": true, "new_password": true, "PASSWORD_HASH": true, "token": true, "accessToken": true,
		"to-ken": true, "t o k e n": true, "client_secret": true, "credentials": true, "Authorization": true, "set-cookie": true,
		"api_key": true, "API-Key": true, "apiKey": true, "private key": true, "privateKeyPem": true,
		"": false, "key": false, "api": false, "name": false, "pass": false, "public_key": false, "tokén": false, "feature_code": false,
	} {
		if got := isSecret(key); got != want {
			t.Errorf("isSecret(%q) = %v, want %v", key, got, want)
		}
	}
}

// difference stores a value if and only if it differs between the sides.
func TestDifferenceProperties(t *testing.T) {
	t.Parallel()
	values := rapid.OneOf(
		rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any]("x"), rapid.Just[any](1.0), rapid.Just[any](2.0),
		rapid.Just[any]([]any{"x", 1.0}), rapid.Just[any](map[string]any{"b": "y"}),
	)
	objects := rapid.MapOf(rapid.SampledFrom(strings.Split("abcdef", "")), values)
	rapid.Check(t, func(r *rapid.T) {
		before, after := objects.Draw(r, "before"), objects.Draw(r, "after")
		from, to, err := difference(before, after)
		if err != nil {
			r.Fatal(err)
		}
		stored := func(text sqldb.JSON) (side map[string]any) {
			if err := json.Unmarshal(text, &side); err != nil {
				r.Fatalf("%s: %v", text, err)
			}
			return side
		}
		old, changed := stored(from), stored(to)
		for _, key := range strings.Split("abcdef", "") {
			was, had := before[key]
			is, has := after[key]
			keeps := had != has || !cmp.Equal(was, is)
			storedWas, storedHad := old[key]
			storedIs, storedHas := changed[key]
			if storedHad != (keeps && had) || storedHas != (keeps && has) {
				r.Fatalf("%s: stored before %v, after %v", key, storedHad, storedHas)
			}
			if storedHad && !cmp.Equal(storedWas, was) || storedHas && !cmp.Equal(storedIs, is) {
				r.Fatalf("%s: stored %v and %v, want %v and %v", key, storedWas, storedIs, was, is)
			}
		}
	})
}
