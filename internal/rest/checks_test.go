package rest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest"
)

type bookInput struct {
	Shelf string `path:"shelf"`
	Body  struct {
		Title string   `json:"title" maxLength:"5"`
		Genre string   `json:"genre,omitempty" enum:"crime,poetry"`
		Tags  []string `json:"tags,omitempty"`
	}
}

// checkBook rejects titles on shelf a, except "new", and unknown tags. It cannot check tags if the
// genre is invalid.
func checkBook(ctx context.Context, in *bookInput) error {
	var broken fault.Fields
	switch {
	case in.Body.Title == "down":
		return errors.New("secret: no database")
	case in.Body.Title == "sold":
		return errSoldOut
	case in.Shelf == "a" && in.Body.Title != "new":
		broken.Add("title", "validation.taken")
	}
	for i, tag := range in.Body.Tags {
		if tag != "good" && !rest.IsBroken(ctx, "genre") {
			broken.Add("tags."+string(rune('0'+i)), "validation.exists")
		}
	}
	return broken.Err()
}

// Checks run once a field is invalid, in the body or for the handler, and add their fields to the
// error.
func TestChecks(t *testing.T) {
	t.Parallel()
	handled := 0
	handler := rest.Handle(func(_ context.Context, in *bookInput) (*rest.NoBody, error) {
		handled++
		if in.Body.Title == "late" {
			return nil, fault.OnField("genre", "validation.exists")
		}
		return &rest.NoBody{}, nil
	}, rest.Checks(checkBook))
	s := start(t, []rest.Route{{Method: "POST", Path: "/api/v1/shelves/{shelf}", Scope: rest.User, Summary: "Add a book", Handler: handler}})
	for _, test := range []struct {
		shelf, body string
		want        []string // fields
	}{
		{"b", `{"title":"old","genre":"x"}`, []string{"genre"}},
		{"a", `{"title":"old","genre":"x"}`, []string{"genre", "title"}},
		{"a", `{"title":"too long","tags":["bad"]}`, []string{"title", "tags.0"}},
		{"a", `{"genre":"x","tags":["bad"]}`, []string{"genre", "title"}},
		{"b", `{"title":"too long","tags":[1,"good","bad"]}`, []string{"title", "tags.0", "tags.2"}},
		{"b", `{"title":"too long","tags":"bad"}`, []string{"title", "tags"}},
		{"b", `{"title":"sold","genre":"x"}`, []string{"genre"}},
		{"a", `{"title":"late","tags":["bad"]}`, []string{"genre", "title"}},
	} {
		got := s.post("/api/v1/shelves/"+test.shelf, test.body).refused(http.StatusUnprocessableEntity).Errors
		want := map[string]bool{}
		for _, field := range test.want {
			want[field] = true
			if len(got[field]) != 1 {
				t.Errorf("%s: %q has %q", test.body, field, got[field])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", test.body, got, test.want)
		}
	}
	if handled != 1 {
		t.Errorf("the handler ran %d times", handled)
	}
	s.post("/api/v1/shelves/b", `{"title":"down","genre":"x"}`).refused(http.StatusInternalServerError)
	if got := s.post("/api/v1/shelves/a", `{"title":"sold"}`).Status; got != http.StatusNoContent {
		t.Errorf("valid fields: %d", got) // the checks did not run
	}
}

func TestChecksOfAnotherInput(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("accepted")
		}
	}()
	other := rest.Checks(func(context.Context, *struct{ Body struct{} }) error { return nil })
	handler := rest.Handle(func(context.Context, *bookInput) (*rest.NoBody, error) { return nil, nil }, other)
	rest.New(config(t, new(syncBuffer)), []rest.Route{{Method: "POST", Path: "/api/v1/{shelf}", Scope: rest.User, Summary: "Add", Handler: handler}})
}
