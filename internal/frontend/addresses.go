// Package frontend defines the addresses of the web frontend that mail, the payment provider and
// identity providers link to. It also serves simple pages at these addresses for a service without
// a frontend (rules: settings#addresses).
package frontend

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Page is a page of the frontend, by its name in the setting.
type Page string

// The pages. The path of Invitation contains a token; ResetPassword and VerifyEmail have it in the
// query.
const (
	Invitation        Page = "invitation"
	ResetPassword     Page = "reset_password"
	ForgotPassword    Page = "forgot_password"
	VerifyEmail       Page = "verify_email"
	Billing           Page = "billing"
	Webhooks          Page = "webhooks"
	OAuthCallback     Page = "oauth_callback"
	OnboardingSuccess Page = "onboarding_success"
	OnboardingPlans   Page = "onboarding_plans"
)

// token is the placeholder for the token in the path of an invitation.
const token = "{token}"

// defaults holds the default paths below the frontend's URL, in the order of the documentation.
var defaults = []struct {
	page Page
	path string
}{
	{Invitation, "/invitations/" + token},
	{ResetPassword, "/reset-password"},
	{ForgotPassword, "/forgot-password"},
	{VerifyEmail, "/verify-email"},
	{Billing, "/billing"},
	{Webhooks, "/webhooks"},
	{OAuthCallback, "/oauth/callback"},
	{OnboardingSuccess, "/onboarding/success"},
	{OnboardingPlans, "/onboarding/plans"},
}

// Paths holds the paths of pages that differ from the defaults.
type Paths map[Page]string

// ParsePaths parses paths in the format of the setting: page=/path, separated by commas.
func ParsePaths(text string) (Paths, error) {
	var paths Paths
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		if one == "" {
			continue
		}
		name, path, _ := strings.Cut(one, "=")
		page, path := Page(strings.TrimSpace(name)), strings.TrimSpace(path)
		if err := checkPath(page, path); err != nil {
			return nil, err
		}
		if _, twice := paths[page]; twice {
			return nil, fmt.Errorf("%s appears twice", page)
		}
		if paths == nil {
			paths = Paths{}
		}
		paths[page] = path
	}
	return paths, nil
}

// checkPath returns an error if the path of a page is invalid.
func checkPath(page Page, path string) error {
	if !slices.Contains(Names(), string(page)) {
		return fmt.Errorf("unknown page %q; pages: %s", string(page), strings.Join(Names(), ", "))
	}
	plain := strings.Replace(path, token, "x", 1)
	u, err := url.Parse(plain)
	switch {
	case err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || u.Path != plain || strings.ContainsAny(plain, "{}"):
		return fmt.Errorf("%q of %s is not a path such as /billing, without a query or fragment", path, page)
	case (page == Invitation) != strings.Contains(path, token):
		return fmt.Errorf("the path of invitation, and no other, contains %s: %q", token, path)
	}
	return nil
}

// Names returns the names of all pages.
func Names() []string {
	names := make([]string, 0, len(defaults))
	for _, d := range defaults {
		names = append(names, string(d.page))
	}
	return names
}

// Addresses holds the addresses of the pages. The zero value has the default paths without a host.
type Addresses struct {
	URL   string // of the frontend, without a trailing slash
	Paths Paths
}

// Path returns the path of a page below the frontend's URL. The path of an invitation contains
// {token}.
func (a Addresses) Path(page Page) string {
	if path, ok := a.Paths[page]; ok {
		return path
	}
	for _, d := range defaults {
		if d.page == page {
			return d.path
		}
	}
	return "/"
}

// PageURL returns the URL of a page. query alternates names and values.
func (a Addresses) PageURL(page Page, query ...string) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(a.URL, "/") + a.Path(page))
	for i := 0; i+1 < len(query); i += 2 {
		b.WriteByte("?&"[min(i, 1)])
		b.WriteString(query[i] + "=" + url.QueryEscape(query[i+1]))
	}
	return b.String()
}

// Invitation returns the URL of an invitation.
func (a Addresses) Invitation(secret string) string {
	return strings.TrimRight(a.URL, "/") + strings.Replace(a.Path(Invitation), token, url.PathEscape(secret), 1)
}
