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
			d.warn("public url", "not set, so links use the listening address", "Set TENANTRY_PUBLIC_URL to the URL at which clients reach the service.")
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
	const fix = "Start the service, and route TENANTRY_PUBLIC_URL to it in the proxy or load balancer."
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
		d.warn("public url", fmt.Sprintf("%s responds with %s, but is not this service", address, resp.Status), fix)
		return
	}
	d.ok("public url", "%s reaches the service", address)
}

// cookies checks whether browsers send session cookies from the frontend's pages.
func (d *doctor) cookies(public, frontend *url.URL) {
	domain := d.Settings.CookieDomain
	switch {
	case public.Scheme != "https" && !isLoopback(public.Hostname()):
		d.warn("cookies", "the public URL does not use https, so credentials can be intercepted", "Use https, for example through a proxy.")
	case public.Scheme != frontend.Scheme:
		d.fail("cookies", fmt.Sprintf("the frontend uses %s and the service %s, so browsers treat them as different sites", frontend.Scheme, public.Scheme), "Use https for both.")
	case site(public) != site(frontend):
		d.fail("cookies", fmt.Sprintf("%s and %s are different sites, so browsers do not send cookies", frontend.Hostname(), public.Hostname()), "Use subdomains of one domain, such as app.example.com and api.example.com, or bearer tokens.")
	case public.Hostname() != frontend.Hostname() && domain == "":
		d.warn("cookies", "the frontend's pages cannot read the CSRF cookie of another host", "Set TENANTRY_COOKIE_DOMAIN to their common domain, or use bearer tokens.")
	case domain != "" && !isSubdomain(frontend.Hostname(), domain):
		d.warn("cookies", fmt.Sprintf("%s is not a subdomain of the cookie domain %s", frontend.Hostname(), domain), "Set TENANTRY_COOKIE_DOMAIN to a common domain.")
	default:
		d.ok("cookies", "the frontend can use cookies")
	}
}

// proxies checks whether the service sees the addresses of clients. It speaks plain HTTP, so an https
// URL means that requests come through a proxy.
func (d *doctor) proxies() {
	public, trusted := d.Settings.PublicURL, d.Settings.TrustedProxies
	switch {
	case len(trusted) > 0:
		d.ok("proxies", "X-Forwarded-For is trusted from %s", strings.Trim(fmt.Sprint(trusted), "[]"))
	case public != nil && public.Scheme == "https":
		d.warn("proxies", "TENANTRY_TRUSTED_PROXIES is not set, so all clients behind the proxy share one rate limit",
			"Set TENANTRY_TRUSTED_PROXIES to the addresses of the proxy, such as 127.0.0.1.")
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
