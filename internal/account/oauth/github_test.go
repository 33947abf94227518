package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

type object = map[string]any

func TestOAuthGitHub(t *testing.T) {
	t.Parallel()
	user := object{"id": 583231, "login": "octocat", "name": "The Octocat", "avatar_url": "https://pics.test/583231"}
	emails := []object{
		{"email": "other@example.com", "primary": false, "verified": true},
		{"email": "Octocat@example.com", "primary": true, "verified": true},
	}
	for name, c := range map[string]struct {
		token, user, emails any
		want                string // an error code, or name, email and picture
	}{
		"whole":               {nil, user, emails, "The Octocat octocat@example.com https://pics.test/583231"},
		"without a name":      {nil, object{"id": 1, "login": "octocat", "name": nil}, emails, "octocat octocat@example.com "},
		"primary unverified":  {nil, user, []object{emails[0], {"email": "a@example.com", "primary": true, "verified": false}}, "email_unverified"},
		"no primary":          {nil, user, emails[:1], "email_unverified"},
		"no email":            {nil, user, []object{}, "email_unverified"},
		"no id":               {nil, object{"login": "octocat"}, emails, "provider_error"},
		"no list":             {nil, user, object{"message": "Not Found"}, "provider_error"},
		"code refused as 200": {object{"error": "bad_verification_code"}, user, emails, "provider_error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(gitHubLike(c.token, c.user, c.emails))
			t.Cleanup(server.Close)
			p := oauth.GitHubProvider("id", "hush")
			p.GitHub = &oauth.GitHubEndpoints{AuthURL: server.URL + "/authorize", TokenURL: server.URL + "/token", APIURL: server.URL}
			r := newRig(t, dbtest.New(t, sqldb.SQLite), clock.NewFixed(fakeNow), func(string) []oauth.Provider {
				return []oauth.Provider{p}
			})
			b := r.browser()
			to, err := url.Parse(b.start("github"))
			if err != nil || to.Query().Get("scope") != "read:user user:email" || to.Query().Get("code_challenge_method") != "S256" {
				t.Fatalf("the request is %v, %v", to, err)
			}
			told := b.callback(r.url + oauth.Path + "github/callback?code=fake-code&state=" + to.Query().Get("state"))
			got := told.Get("error")
			if got == "" {
				s := r.exchange(told.Get("code")).session(t)
				got = s.User.Name + " " + s.User.Email + " " + r.pictures.urls[s.User.ID]
			}
			if got != c.want {
				t.Errorf("%q, want %q: %s", got, c.want, r.log)
			}
		})
	}
}

// gitHubLike returns a handler that responds like GitHub.
func gitHubLike(token, user, emails any) http.Handler {
	if token == nil {
		token = object{"access_token": "gho_fake", "token_type": "bearer", "scope": "read:user,user:email"}
	}
	write := func(w http.ResponseWriter, body any) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(body)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("client_id") != "id" || r.PostFormValue("client_secret") != "hush" || len(r.PostFormValue("code_verifier")) < 43 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		write(w, token)
	})
	for path, body := range map[string]any{"/user": user, "/user/emails": emails} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer gho_fake" || r.UserAgent() != "tenantry" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			write(w, body)
		})
	}
	return mux
}
