package app

import (
	"net/url"
	"slices"
	"strings"
)

// firstParty tells whether a browser's Origin is one of the hosts. A host is
// compared with its port, and any scheme of the web counts.
func firstParty(hosts []string) func(origin string) bool {
	return func(origin string) bool {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			return false
		}
		return slices.Contains(hosts, strings.ToLower(u.Host))
	}
}
