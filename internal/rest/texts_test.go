package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

type textsInput struct {
	Body struct {
		Name  shape.Texts                  `json:"name" maxLength:"5"`
		About shape.Opt[shape.TextsChange] `json:"about,omitzero" nullable:"true" maxLength:"9" format:"multiline"`
	}
}

type textsOutput struct {
	Name  map[string]*string `json:"name"`
	About map[string]*string `json:"about"`
	State string             `json:"state"`
}

func texts(_ context.Context, in *textsInput) (*rest.Body[textsOutput], error) {
	state := "absent"
	switch about := in.Body.About; {
	case about.Null:
		state = "null"
	case about.Set:
		state = "set"
	}
	return rest.NewBody(textsOutput{Name: in.Body.Name, About: in.Body.About.Value, State: state}), nil
}

func textsRoutes() []rest.Route {
	return []rest.Route{{Method: http.MethodPost, Path: "/api/v1/texts", Scope: rest.User, Handler: rest.Handle(texts)}}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	s := start(t, textsRoutes())
	for name, c := range map[string]struct{ body, want string }{
		"trimmed":        {`{"name":{"en":" a "}}`, `{"name":{"en":"a"},"about":{},"state":"absent"}`},
		"null and empty": {`{"name":{"en":"a","fr":null,"it":" "}}`, `{"name":{"en":"a","fr":null,"it":null},"about":{},"state":"absent"}`},
		"twice":          {`{"name":{"en":"a","en":"b"}}`, `{"name":{"en":"b"},"about":{},"state":"absent"}`},
		"a change":       {`{"name":{"en":"a"},"about":{"fr":"x\ny","it":null}}`, `{"name":{"en":"a"},"about":{"fr":"x\ny","it":null},"state":"set"}`},
		"no change":      {`{"name":{"en":"a"},"about":{}}`, `{"name":{"en":"a"},"about":{},"state":"set"}`},
		"null":           {`{"name":{"en":"a"},"about":null}`, `{"name":{"en":"a"},"about":{},"state":"null"}`},
	} {
		if got := s.post("/api/v1/texts", c.body); got.Status != 200 || strings.TrimSpace(got.Body) != c.want {
			t.Errorf("%s: %d %s, want %s", name, got.Status, got.Body, c.want)
		}
	}
	const required, notNull, unsupported = "This field is required.", "This field must not be null.", "This is not supported here."
	for name, c := range map[string]struct {
		body string
		want map[string]string
	}{
		"absent":            {`{}`, map[string]string{"name": required}},
		"no English":        {`{"name":{"fr":"a"}}`, map[string]string{"name.en": required}},
		"empty English":     {`{"name":{"en":" "}}`, map[string]string{"name.en": required}},
		"null English":      {`{"name":{"en":null}}`, map[string]string{"name.en": notNull}},
		"another locale":    {`{"name":{"en":"a","de":"b"}}`, map[string]string{"name.de": unsupported}},
		"a key of nonsense": {`{"name":{"en":"a","\u0001":"b"}}`, map[string]string{"name": "This contains characters that are not allowed."}},
		"a long key":        {`{"name":{"en":"a","` + strings.Repeat("k", 65) + `":"b"}}`, map[string]string{"name": "This contains characters that are not allowed."}},
		"every rule at once": {`{"name":{"en":"a\nb","fr":"éééééé","de":1},"about":{"en":null,"it":"1234567890","es":5}}`, map[string]string{
			"name.en": "This contains characters that are not allowed.", "name.fr": "This must have at most 5 characters.", "name.de": unsupported,
			"about.en": notNull, "about.it": "This must have at most 9 characters.", "about.es": "This must be a string.",
		}},
	} {
		got := s.post("/api/v1/texts", c.body).broken(c.want)
		if got.Message == "" {
			t.Errorf("%s: no message", name)
		}
	}
}
