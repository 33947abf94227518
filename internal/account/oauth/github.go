package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"golang.org/x/oauth2"
)

// gitHub is the provider for GitHub. It supports OAuth but not OpenID Connect, so its REST API
// identifies the user.
type gitHub struct {
	oauth  oauth2.Config
	api    string
	client *http.Client
}

func newGitHub(p Provider, callback string, client *http.Client) *gitHub {
	return &gitHub{
		oauth: oauth2.Config{
			ClientID: p.ClientID, ClientSecret: p.ClientSecret, RedirectURL: callback,
			Endpoint: oauth2.Endpoint{AuthURL: p.GitHub.AuthURL, TokenURL: p.GitHub.TokenURL, AuthStyle: oauth2.AuthStyleInParams},
			Scopes:   []string{"read:user", "user:email"},
		},
		api: p.GitHub.APIURL, client: client,
	}
}

func (g *gitHub) authURL(_ context.Context, f flow) (string, error) {
	return authCodeURL(&g.oauth, f), nil
}

func (g *gitHub) identify(ctx context.Context, reply Reply, f flow) (identity, error) {
	token, err := f.withCallback(&g.oauth).Exchange(context.WithValue(ctx, oauth2.HTTPClient, g.client), reply.Code, oauth2.VerifierOption(f.verifier))
	if err != nil {
		return identity{}, providerError("token", err)
	}
	var user struct {
		ID        int64  `json:"id"`
		Login     string `json:"login"`
		Name      string `json:"name"`
		AvatarURL string `json:"avatar_url"`
	}
	if err := g.get(ctx, "/user", token, &user); err != nil {
		return identity{}, providerError("user", err)
	}
	if user.ID <= 0 {
		return identity{}, providerError("user", errors.New("the ID is missing"))
	}
	var emails []struct {
		Email    string `json:"email"`
		Primary  bool   `json:"primary"`
		Verified bool   `json:"verified"`
	}
	if err := g.get(ctx, "/user/emails", token, &emails); err != nil {
		return identity{}, providerError("emails", err)
	}
	// Use the ID as the subject: a user name can be changed and then taken by another person.
	who := identity{subject: strconv.FormatInt(user.ID, 10), name: user.Name, picture: user.AvatarURL}
	if who.name == "" {
		who.name = user.Login
	}
	for _, e := range emails {
		if e.Primary {
			who.email, who.emailVerified = e.Email, e.Verified
		}
	}
	return who, nil
}

// get reads a resource of the API into the value that into points to.
func (g *gitHub) get(ctx context.Context, path string, token *oauth2.Token, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.api+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/vnd.github+json")
	r.Header.Set("X-GitHub-Api-Version", "2022-11-28")
	r.Header.Set("User-Agent", "tenantry") // GitHub rejects requests without a User-Agent
	token.SetAuthHeader(r)
	resp, err := g.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s returned %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
