package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/limit"
)

// access says who may call an operation, and how often, in the words of its route.
func (op Operation) access() string {
	who := op.audience()
	for p := range strings.SplitSeq(op.Permission, "|") {
		if p == "" {
			continue
		}
		word := " or "
		if !strings.Contains(who, " with the permission ") {
			word = " with the permission "
		}
		who += word + "`" + strings.ReplaceAll(p, "&", "` and `") + "`"
	}
	lines := []string{"**Access:** " + who + "."}
	if slices.Contains(op.Guards, "impersonation.refuse") {
		lines = append(lines, "Not while impersonating (400).")
	}
	if slices.Contains(op.Guards, "email.verified") {
		lines = append(lines, "Only with a verified email, where the settings ask for that.")
	}
	switch {
	case op.KeyScope != "":
		lines = append(lines, fmt.Sprintf("API keys with the scope %#q.", op.KeyScope))
	case op.secured():
		lines = append(lines, "No API key.")
	}
	if op.Rate != "" {
		lines = append(lines, "\n\n**Rate limit:** "+op.rate())
	}
	return strings.ReplaceAll(strings.Join(lines, " "), " \n\n", "\n\n")
}

// audience names the people of a scope.
func (op Operation) audience() string {
	switch op.Scope {
	case "public":
		return "everybody, without a credential"
	case "user":
		return "everybody who is logged in"
	case "member":
		return "members of the tenant, also before its onboarding is complete"
	case "tenant":
		return "members of the tenant"
	case "admin":
		return "platform administrators"
	case "billing":
		return "members of the tenant, and platform administrators for any tenant,"
	default:
		return "platform administrators who act as somebody else"
	}
}

// rate says how often requests may come, and what they are counted by.
func (op Operation) rate() string {
	by := "client address"
	switch {
	case op.Rate == limit.Login:
		by = "client address and email"
	case op.secured() && limit.ByTenant(op.Rate):
		by = "tenant"
	case op.secured():
		by = "user or API key"
	}
	return fmt.Sprintf("group %#q, %d requests a minute by default, counted by %s.", op.Rate, limit.Defaults()[op.Rate], by)
}
