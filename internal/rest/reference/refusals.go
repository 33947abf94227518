package reference

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// codes are the error codes that occur with a status; "" is an error without a code.
type codes map[string]bool

// StatusCSRF is the non-standard status for a missing CSRF token.
const StatusCSRF = 419

// refusals returns the possible errors of an operation (rules: http#order-of-refusals).
func (op *Operation) refusals() map[int]codes {
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
	add(op.isSecured(), http.StatusUnauthorized, "")
	add(op.isSecured(), http.StatusForbidden, string(fault.InsufficientScope), string(fault.ImpersonationExpired))
	add(op.isSecured() && !op.AfterExpiry && op.mayChange(), http.StatusForbidden, string(fault.ImpersonationReadOnly))
	add(guarded("tenant.member", "platform.admin", "tenant.member|platform.admin"), http.StatusForbidden, "")
	add(guarded("sso.login"), http.StatusForbidden, string(fault.SSORequired))
	add(guarded("onboarding.complete"), http.StatusForbidden, string(fault.OnboardingIncomplete))
	add(guarded("mfa.passed"), http.StatusForbidden, string(fault.MFARequired))
	add(guarded("mfa.enrolled", "admin.mfa_enrolled"), http.StatusForbidden, string(fault.MFAEnrollmentRequired))
	add(guarded("email.verified", "email.verified:always"), http.StatusForbidden, string(fault.EmailNotVerified))
	add(op.namesMore(), http.StatusNotFound, "")
	add(op.Input == JSON, http.StatusRequestTimeout, "")
	add(body, http.StatusRequestEntityTooLarge, "")
	add(body, http.StatusUnsupportedMediaType, "")
	add(op.mayChange(), StatusCSRF, "")
	add(op.Input != Raw, http.StatusUnprocessableEntity)
	add(op.Input == JSON, http.StatusUnprocessableEntity, "") // the body is not an object
	add(op.Rate != "", http.StatusTooManyRequests, "")
	add(op.IsIdempotent, http.StatusConflict, string(fault.IdempotencyKeyReused))
	for status, list := range op.Entry.Answers {
		add(status >= http.StatusBadRequest, status, list...)
	}
	return all
}

// namesMore reports whether the path contains a record that may not exist, other than the tenant of
// a tenant route, which the guards check first.
func (op *Operation) namesMore() bool {
	return strings.Contains(strings.ReplaceAll(op.Path, "{tenantId}", ""), "{") || op.Scope == "billing"
}

// meanings has the component name and the description of each status.
var meanings = map[int][2]string{
	http.StatusBadRequest:            {"BadRequest", "The request is malformed or not allowed in this state"},
	http.StatusUnauthorized:          {"Unauthorized", "The credential is missing or invalid"},
	http.StatusForbidden:             {"Forbidden", "The caller is not allowed to do this"},
	http.StatusNotFound:              {"NotFound", "The object does not exist or belongs to another tenant"},
	http.StatusRequestTimeout:        {"RequestTimeout", "The request body did not arrive in time"},
	http.StatusConflict:              {"Conflict", "The request conflicts with the current state"},
	http.StatusGone:                  {"Gone", "The object has expired or was already used"},
	http.StatusRequestEntityTooLarge: {"TooLarge", "The request body is too large"},
	http.StatusUnsupportedMediaType:  {"UnsupportedMediaType", "The content type is not supported"},
	StatusCSRF:                       {"CSRFTokenMismatch", "The CSRF token is missing or invalid (cookie mode)"},
	http.StatusUnprocessableEntity:   {"Invalid", "Fields are invalid, or the request violates a rule"},
	http.StatusTooManyRequests:       {"TooManyRequests", "Too many requests, or a quota or limit is exceeded"},
	http.StatusInternalServerError:   {"Internal", "Unexpected error"},
	http.StatusBadGateway:            {"ProviderFailed", "The payment provider failed or is unreachable. Nothing was changed"},
	http.StatusServiceUnavailable:    {"Unavailable", "The service is busy or the database is unavailable. Retry later"},
}

// addRefusals describes the errors of an operation as components, which operations with the same
// errors share.
func (b *Book) addRefusals(doc *Document, op *Operation) {
	for status, list := range op.refusals() {
		forms := b.forms(doc.Components.Schemas, status, list, op.Input != Raw)
		name, schema := forms[0].name, forms[0].schema
		response := responseName(status, forms)
		if len(forms) > maxNamedForms {
			response = capital(op.ID) + meanings[status][0]
		}
		if len(forms) > 1 {
			name, schema = response+refusalSuffix, union(forms)
		}
		doc.Components.Schemas[name] = schema
		r := &Response{Description: meanings[status][1], Content: JSONContent(shape.Ref(name))}
		r.AddHeaders("X-Request-Id")
		if op.Rate != "" && status != http.StatusUnauthorized {
			r.AddHeaders("X-RateLimit-Limit", "X-RateLimit-Remaining")
		}
		switch status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			r.AddHeaders("Retry-After")
		case http.StatusUnauthorized:
			r.AddHeaders("WWW-Authenticate")
		}
		if known := doc.Components.Responses[response]; known == nil || len(known.Headers) < len(r.Headers) {
			doc.Components.Responses[response] = r
		}
		op.Responses[strconv.Itoa(status)] = &Response{Ref: "#/components/responses/" + response}
	}
}

// form is a kind of error: a schema with its name.
type form struct {
	name   string
	schema *shape.Schema
}

// forms returns the forms of an error with a status. There is at least one.
func (b *Book) forms(schemas map[string]*shape.Schema, status int, list codes, isValidated bool) []form {
	internal, plainError := form{internalName, schemas[internalName]}, form{errorName, schemas[errorName]}
	switch {
	case status == http.StatusInternalServerError && isValidated:
		return []form{internal}
	case status == http.StatusInternalServerError: // a handler that writes its own responses gives less detail
		return []form{internal, plainError}
	}
	var forms []form
	if status == http.StatusUnprocessableEntity && isValidated {
		forms = append(forms, form{validationName, schemas[validationName]})
	}
	var plain []string
	for _, code := range slices.Sorted(maps.Keys(list)) {
		if kind := b.kindForm(code); kind != nil {
			forms = append(forms, *kind)
		} else if code != "" {
			plain = append(plain, code)
		}
	}
	switch {
	case len(plain) > 0:
		forms = append(forms, b.formOfCodes(status, plain, !list[""]))
	case list[""]:
		forms = append(forms, plainError)
	}
	return forms
}

// maxNamedForms is the maximum number of forms in the name of a union. Larger unions are named
// after their operation.
const maxNamedForms = 3

// refusalSuffix is the suffix of union names.
const refusalSuffix = "Refusal"

// union returns the schema of an error with one of several forms: one object with the fields of all
// forms. A field is required if all forms require it. Client generators do not support anyOf for
// objects.
func union(forms []form) *shape.Schema {
	s := errorSchema("Error in one of several forms, each with some of these fields.")
	for _, f := range forms {
		s.Forms = append(s.Forms, f.name)
		for _, p := range f.schema.Properties {
			known := s.Property(p.Name)
			if known != nil {
				known.Enum, known.Codes = append(known.Enum, p.Enum...), append(known.Codes, p.Codes...)
				continue
			}
			isOptional := slices.ContainsFunc(forms, func(other form) bool {
				same := other.schema.Property(p.Name)
				return same == nil || !same.Required
			})
			own := *p.Schema
			own.Enum, own.Codes = slices.Clone(p.Enum), slices.Clone(p.Codes)
			s.Add(p.Name, !isOptional, &own)
		}
	}
	return s
}

// formOfCodes returns the form of an error with one of several codes. isAlways means that the error
// always has a code. For example, SubscriptionBusyError always has a code, and
// ForbiddenOrInsufficientScopeError has a code only for one of its reasons. The book can assign
// shorter names.
func (b *Book) formOfCodes(status int, list []string, isAlways bool) form {
	s := errorSchema("Error with one of these codes.")
	var words []string
	if !isAlways {
		s.Description = "Error, with a code for some causes."
		words = append(words, meanings[status][0])
	}
	s.Add("code", isAlways, codeSchema(list...))
	if name := b.Refusals[strings.Join(list, " ")]; name != "" {
		words = append(words, name)
	} else {
		for _, code := range list {
			words = append(words, Pascal(code))
		}
	}
	return form{strings.Join(words, "Or") + "Error", s}
}

// responseName names an error response after its forms. SubscriptionBusy has one form;
// InvalidOrPaymentFailed is for invalid fields or a payment. A form without details is named after
// its status, and Unreadable means that the whole body can be rejected too.
func responseName(status int, forms []form) string {
	var words []string
	isPlain := false
	for _, f := range forms {
		code, isMixed := strings.CutPrefix(strings.TrimSuffix(f.name, "Error"), meanings[status][0]+"Or")
		switch {
		case len(forms) > 1 && f.name == errorName:
			isPlain = true
		case f.name == errorName, f.name == validationName, f.name == internalName:
			words = append(words, meanings[status][0])
		case len(forms) > 1 && isMixed:
			words, isPlain = append(words, code), true
		default:
			words = append(words, strings.TrimSuffix(f.name, "Error"))
		}
	}
	if isPlain {
		words = append(words, "Unreadable")
	}
	return strings.Join(words, "Or")
}

// Pascal converts a code to a part of a name: PLAN_NOT_SELLABLE becomes PlanNotSellable.
func Pascal(code string) string {
	var name strings.Builder
	for _, word := range strings.FieldsFunc(strings.ToLower(code), func(c rune) bool { return c == '_' || c == '.' }) {
		name.WriteString(capital(word))
	}
	return name.String()
}

// capital capitalizes a word of a name.
func capital(word string) string {
	if word == "api" || word == "psp" || word == "csrf" {
		return strings.ToUpper(word)
	}
	return strings.ToUpper(word[:1]) + word[1:]
}
