package doctor

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// addresses checks how browsers reach the service and its frontend.
func (d *doctor) addresses(ctx context.Context) {
	public, frontend := d.Settings.PublicURL, d.Settings.FrontendURL
	if public == nil {
		if !d.Sandbox {
			d.warn("public url", "it is not set, so links lead to the listening address", "Set TENANTRY_PUBLIC_URL to the URL at which clients reach the service.")
		}
		return
	}
	d.checkReachable(ctx, public)
	if frontend == nil {
		frontend = public
	}
	d.cookies(public, frontend)
}

// checkReachable sends a request to the service's public URL.
func (d *doctor) checkReachable(ctx context.Context, public *url.URL) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	address := strings.TrimSuffix(public.String(), "/") + "/healthz"
	const fix = "Start the service, and let the proxy or load balancer at TENANTRY_PUBLIC_URL lead to it."
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return // reported as an invalid setting
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.warn("public url", err.Error(), fix)
		return
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err != nil || resp.StatusCode != http.StatusOK || strings.TrimSpace(string(text)) != `{"message":"ok"}` {
		d.warn("public url", fmt.Sprintf("%s answers %s, but not as this service", address, resp.Status), fix)
		return
	}
	d.ok("public url", "%s leads to the service", address)
}

// cookies checks whether browsers send session cookies from the frontend's pages.
func (d *doctor) cookies(public, frontend *url.URL) {
	domain := d.Settings.CookieDomain
	switch {
	case public.Scheme != "https" && !isLoopback(public.Hostname()):
		d.warn("cookies", "the public URL is not https, so anybody on the way can read logins", "Serve it by https, through a proxy.")
	case public.Scheme != frontend.Scheme:
		d.fail("cookies", fmt.Sprintf("the frontend is reached by %s and the service by %s: browsers take them for different sites", frontend.Scheme, public.Scheme), "Serve both by https.")
	case site(public) != site(frontend):
		d.fail("cookies", fmt.Sprintf("%s and %s are different sites, between which browsers send no cookies", frontend.Hostname(), public.Hostname()), "Give both a name below one domain, such as app.example.com and api.example.com, or use bearer tokens.")
	case public.Hostname() != frontend.Hostname() && domain == "":
		d.warn("cookies", "the frontend's pages cannot read the CSRF cookie of another host", "Set TENANTRY_COOKIE_DOMAIN to the domain that both share, or use bearer tokens.")
	case domain != "" && !isSubdomain(frontend.Hostname(), domain):
		d.warn("cookies", fmt.Sprintf("%s is not below the cookies' domain %s", frontend.Hostname(), domain), "Set TENANTRY_COOKIE_DOMAIN to a domain that both share.")
	default:
		d.ok("cookies", "the frontend's pages can use them")
	}
}

// site returns the site of a URL, as browsers define it.
func site(u *url.URL) string {
	host := u.Hostname()
	if net.ParseIP(host) != nil {
		return host
	}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}

func isSubdomain(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
