package reference

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/fault"
)

// codes are the codes that a status can come with; "" stands for a refusal without one.
type codes map[string]bool

func (c codes) sorted() []string {
	var list []string
	for code := range c {
		if code != "" {
			list = append(list, code)
		}
	}
	slices.Sort(list)
	return list
}

// StatusCSRF is the status for a missing CSRF token, which is no standard one.
const StatusCSRF = 419

// refusals returns how an operation can refuse a request (rules: http#order-of-refusals).
func (op Operation) refusals() map[int]codes {
	all := map[int]codes{}
	add := func(when bool, status int, list ...string) {
		if !when {
			return
		}
		if all[status] == nil {
			all[status] = codes{}
		}
		for _, code := range list {
			all[status][code] = true
		}
	}
	guarded := func(guards ...string) bool {
		return slices.ContainsFunc(guards, func(g string) bool { return slices.Contains(op.Guards, g) })
	}
	body, ofTenant := op.Input == JSON || op.Input == Upload, strings.Contains(op.Path, "{tenantId}")
	add(true, http.StatusInternalServerError, "")
	add(true, http.StatusServiceUnavailable, "", string(fault.StorageFull))
	add(op.Input != Raw, http.StatusBadRequest, "")
	add(guarded("tenant.resolve") && !ofTenant, http.StatusBadRequest, string(fault.TenantContextRequired))
	add(op.secured(), http.StatusUnauthorized, "")
	add(op.secured(), http.StatusForbidden, string(fault.InsufficientScope), string(fault.ImpersonationExpired))
	add(guarded("tenant.member", "platform.admin", "tenant.member|platform.admin"), http.StatusForbidden, "")
	add(guarded("onboarding.complete"), http.StatusForbidden, string(fault.OnboardingIncomplete))
	add(guarded("email.verified"), http.StatusForbidden, string(fault.EmailNotVerified))
	add(op.namesMore(), http.StatusNotFound, "")
	add(body, http.StatusRequestEntityTooLarge, "")
	add(body, http.StatusUnsupportedMediaType, "")
	add(op.changes(), StatusCSRF, "")
	add(op.Input != Raw, http.StatusUnprocessableEntity)
	add(op.Input == JSON, http.StatusUnprocessableEntity, "") // a body that is no object
	add(op.Rate != "", http.StatusTooManyRequests, "")
	for status, list := range op.Answers {
		add(status >= http.StatusBadRequest, status, list...)
	}
	return all
}

// namesMore reports whether the path names something that may not exist, besides the tenant
// of a tenant's route, whose guards refuse it before.
func (op Operation) namesMore() bool {
	return strings.Contains(strings.ReplaceAll(op.Path, "{tenantId}", ""), "{") || op.Scope == "billing"
}

// meanings say what a status means wherever it is answered.
var meanings = map[int]string{
	http.StatusBadRequest:            "The request cannot be read, or is not possible for this caller",
	http.StatusUnauthorized:          "No valid credential",
	http.StatusForbidden:             "Not allowed",
	http.StatusNotFound:              "There is no such thing, or it is another tenant's",
	http.StatusConflict:              "Conflicts with what is there",
	http.StatusGone:                  "It is over",
	http.StatusRequestEntityTooLarge: "The body is too large",
	http.StatusUnsupportedMediaType:  "The body has another content type",
	StatusCSRF:                       "The CSRF token is missing or wrong, in cookie mode",
	http.StatusUnprocessableEntity:   "Fields are invalid, or a rule refuses",
	http.StatusTooManyRequests:       "Too many requests, or more than is allowed",
	http.StatusInternalServerError:   "An accident",
	http.StatusBadGateway:            "The payment provider failed or cannot be reached; nothing has changed",
	http.StatusServiceUnavailable:    "Busy, or the database is away: try again later",
}

// addRefusals describes the refusals of an operation. Of what stood there for errors before
// nothing stays.
func (b *Book) addRefusals(schemas map[string]*huma.Schema, item *huma.Operation, op Operation) {
	for status := range item.Responses {
		if n, err := strconv.Atoi(status); err != nil || n >= http.StatusBadRequest {
			delete(item.Responses, status)
		}
	}
	for status, list := range op.refusals() {
		item.Responses[text(status)] = &huma.Response{
			Description: meanings[status],
			Content:     content(b.refusal(schemas, status, list, op.Input != Raw)),
		}
	}
}

// refusal returns the schema of what a status comes with: one of what is possible.
func (b *Book) refusal(schemas map[string]*huma.Schema, status int, list codes, validated bool) *huma.Schema {
	var one []*huma.Schema
	if status == http.StatusInternalServerError && validated {
		return ref(internalName)
	}
	if status == http.StatusInternalServerError { // a handler that writes its answers itself says less
		return &huma.Schema{AnyOf: []*huma.Schema{ref(internalName), ref(errorName)}}
	}
	if status == http.StatusUnprocessableEntity && validated {
		one = append(one, ref(validationName))
	}
	var plain []string
	for _, code := range list.sorted() {
		if kind := b.kind(code); kind != nil {
			one = append(one, ref(kind.Name))
		} else {
			plain = append(plain, code)
		}
	}
	switch {
	case len(plain) > 0:
		name := b.codedName(status, plain, !list[""])
		schemas[name] = coded(plain, !list[""])
		one = append(one, ref(name))
	case list[""]:
		one = append(one, ref(errorName))
	}
	if len(one) == 1 {
		return one[0]
	}
	return &huma.Schema{AnyOf: one}
}

// coded is the schema of a refusal with one of some codes, or without one unless it is there always.
func coded(list []string, always bool) *huma.Schema {
	s := errorSchema("A refusal with one of these codes.")
	code := &huma.Schema{Type: huma.TypeString, Description: codeText}
	for _, value := range list {
		code.Enum = append(code.Enum, value)
	}
	s.Properties["code"] = code
	if always {
		s.Required = append(s.Required, "code")
	} else {
		s.Description = "A refusal, which for some reasons has a code."
	}
	return s
}

// codedName names that schema: SubscriptionBusyError has its code always, and
// ForbiddenOrInsufficientScopeError only for one of its reasons. The book has shorter names.
func (b *Book) codedName(status int, list []string, always bool) string {
	var words []string
	if name := b.Refusals[strings.Join(list, " ")]; name != "" {
		if always {
			return name + "Error"
		}
		return statusNames[text(status)] + "Or" + name + "Error"
	}
	if !always {
		words = append(words, statusNames[text(status)])
	}
	for _, code := range list {
		words = append(words, pascal(code))
	}
	return strings.Join(words, "Or") + "Error"
}

func text(status int) string { return strconv.Itoa(status) }

func content(schema *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: schema}}
}
