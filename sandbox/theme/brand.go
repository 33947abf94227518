package theme

import (
	"fmt"
	"net/http"
	"net/url"
)

// Brand is the look of customer-facing pages: the branding of the user's product. The zero value is
// the sandbox's own look.
type Brand struct {
	Name         string // the name of the product
	Logo         string // an absolute URL
	Accent       string // #rrggbb; white text on it must be readable
	SupportEmail string
	TermsURL     string
	PrivacyURL   string
}

// origins returns the origin of the logo, for the content security policy.
func (b Brand) origins() []string {
	if u, err := url.Parse(b.Logo); err == nil && u.Host != "" {
		return []string{u.Scheme + "://" + u.Host}
	}
	return nil
}

// css returns the stylesheet with the accent color.
func (b Brand) css() string {
	if b.Accent == "" {
		return ""
	}
	return fmt.Sprintf(`body.outside { --accent-solid: %[1]s; --accent-solid-hover: color-mix(in srgb, %[1]s 88%%, black);
--accent-ink: light-dark(%[1]s, oklch(from %[1]s .82 min(c, .11) h)); --accent-wash: light-dark(color-mix(in srgb, %[1]s 6%%, white), color-mix(in srgb, %[1]s 18%%, #181918)); }
`, b.Accent)
}

// RegisterBrand serves the stylesheet of a brand.
func RegisterBrand(mux *http.ServeMux, b Brand) {
	mux.HandleFunc("GET /sandbox/brand.css", asset("text/css; charset=utf-8", b.css()))
}
