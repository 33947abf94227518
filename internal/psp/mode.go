package psp

import "strings"

// The modes of the provider's keys and objects.
const (
	TestMode = "test"
	LiveMode = "live"
)

// Mode returns the mode of the client's key, or "" if the key has an unknown format.
func (c *Client) Mode() string {
	for _, mode := range []string{TestMode, LiveMode} {
		if strings.HasPrefix(c.secret, "sk_"+mode+"_") || strings.HasPrefix(c.secret, "rk_"+mode+"_") {
			return mode
		}
	}
	return ""
}

// HasRestrictedKey reports whether the client's key is a restricted key.
func (c *Client) HasRestrictedKey() bool { return strings.HasPrefix(c.secret, "rk_") }
