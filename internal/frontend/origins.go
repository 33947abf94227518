package frontend

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// FirstParty returns what reports whether a browser's Origin is the frontend's, that of another
// of hosts, reached by the frontend's scheme, or that of the service's own pages; own is nil if it
// has none. Only exactly these origins count: a page at http beside a frontend at https may be
// anybody's who sits on the network (rules: http#headers). In the sandbox every page of this
// machine is first-party, by whatever name and port: nobody else can have one.
func FirstParty(frontend *url.URL, hosts []string, own *url.URL, sandboxed bool) func(origin string) bool {
	origins := []string{originOf(frontend.Scheme, frontend.Host)}
	for _, host := range hosts {
		origins = append(origins, originOf(frontend.Scheme, host))
	}
	if own != nil {
		origins = append(origins, originOf(own.Scheme, own.Host))
	}
	return func(origin string) bool {
		return slices.Contains(origins, strings.ToLower(origin)) || sandboxed && local(origin)
	}
}

// local reports whether an origin is a page of this machine.
func local(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || origin != u.Scheme+"://"+u.Host {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// originOf returns an origin as browsers write it: in lower case, without the port that
// the scheme has anyway.
func originOf(scheme, host string) string {
	host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[scheme])
	return strings.ToLower(scheme + "://" + host)
}
