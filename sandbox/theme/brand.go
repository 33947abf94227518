package theme

import (
	"fmt"
	"net/http"
	"net/url"
)

// Brand is how the pages that customers see look: like the product of whoever runs the
// sandbox. The zero value is the sandbox's own look.
type Brand struct {
	Name         string // of the product
	Logo         string // an absolute URL
	Accent       string // #rrggbb, on which white text can be read
	SupportEmail string
	TermsURL     string
	PrivacyURL   string
}

// origins returns where the logo is loaded from, in the form of a policy.
func (b Brand) origins() []string {
	if u, err := url.Parse(b.Logo); err == nil && u.Host != "" {
		return []string{u.Scheme + "://" + u.Host}
	}
	return nil
}

// css gives the accent to what follows the stylesheet.
func (b Brand) css() string {
	if b.Accent == "" {
		return ""
	}
	return fmt.Sprintf(`body.outside { --accent-solid: %[1]s; --accent-solid-hover: color-mix(in srgb, %[1]s 88%%, black);
--accent-ink: light-dark(%[1]s, oklch(from %[1]s .82 min(c, .11) h)); --accent-wash: light-dark(color-mix(in srgb, %[1]s 6%%, white), color-mix(in srgb, %[1]s 18%%, #181918)); }
`, b.Accent)
}

// RegisterBrand serves the colors of a brand.
func RegisterBrand(mux *http.ServeMux, b Brand) {
	mux.HandleFunc("GET /sandbox/brand.css", asset("text/css; charset=utf-8", b.css()))
}
