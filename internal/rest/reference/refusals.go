package reference

import (
	"maps"
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
	add(op.Input == JSON, http.StatusRequestTimeout, "")
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
	http.StatusRequestTimeout:        "The body did not arrive in time",
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
// nothing stays. kinds are the schemas of the book's kinds, by their names.
func (b *Book) addRefusals(schemas, kinds map[string]*huma.Schema, item *huma.Operation, op Operation) {
	for status := range item.Responses {
		if n, err := strconv.Atoi(status); err != nil || n >= http.StatusBadRequest {
			delete(item.Responses, status)
		}
	}
	for status, list := range op.refusals() {
		forms := b.forms(schemas, kinds, status, list, op.Input != Raw)
		name, schema := forms[0].name, forms[0].schema
		if len(forms) > 1 {
			name, schema = responseName(text(status), forms)+refusalSuffix, union(forms)
			if len(forms) > maxNamedForms {
				name = Capital(item.OperationID) + statusNames[text(status)] + refusalSuffix
			}
		}
		schemas[name] = schema
		item.Responses[text(status)] = &huma.Response{Description: meanings[status], Content: content(ref(name))}
	}
}

// form is one form of a refusal: a schema with its name.
type form struct {
	name   string
	schema *huma.Schema
}

// forms returns the forms of a refusal with a status, at least one.
func (b *Book) forms(schemas, kinds map[string]*huma.Schema, status int, list codes, validated bool) []form {
	if status == http.StatusInternalServerError && validated {
		return []form{{internalName, schemas[internalName]}}
	}
	if status == http.StatusInternalServerError { // a handler that writes its answers itself says less
		return []form{{internalName, schemas[internalName]}, {errorName, schemas[errorName]}}
	}
	var forms []form
	if status == http.StatusUnprocessableEntity && validated {
		forms = append(forms, form{validationName, schemas[validationName]})
	}
	var plain []string
	for _, code := range list.sorted() {
		if kind := b.kind(code); kind != nil {
			forms = append(forms, form{kind.Name, kinds[kind.Name]})
		} else {
			plain = append(plain, code)
		}
	}
	switch {
	case len(plain) > 0:
		forms = append(forms, form{b.codedName(status, plain, !list[""]), coded(plain, !list[""])})
	case list[""]:
		forms = append(forms, form{errorName, schemas[errorName]})
	}
	return forms
}

// maxNamedForms is the most forms that the name of a union lists. Other unions are named after
// their operation.
const maxNamedForms = 3

// refusalSuffix ends the names of unions, and formsExtension names their forms.
const (
	refusalSuffix  = "Refusal"
	formsExtension = "x-forms"
)

// union returns the schema of a refusal that has one of several forms: one object with the fields
// of all forms, of which those are required that every form requires. Generators of clients take
// no anyOf of objects.
func union(forms []form) *huma.Schema {
	s := errorSchema("A refusal in one of several forms, of which each has some of these fields.")
	s.Required = forms[0].schema.Required
	message := s.Properties["message"]
	var codes []any
	var names []string
	for _, f := range forms {
		names = append(names, f.name)
		maps.Copy(s.Properties, f.schema.Properties)
		if code := f.schema.Properties["code"]; code != nil {
			codes = append(codes, code.Enum...)
		}
		s.Required = slices.DeleteFunc(slices.Clone(s.Required), func(field string) bool { return !slices.Contains(f.schema.Required, field) })
	}
	s.Properties["message"] = message
	if len(codes) > 0 {
		s.Properties["code"] = &huma.Schema{Type: huma.TypeString, Enum: codes, Description: codeText}
	}
	s.Extensions = map[string]any{formsExtension: names}
	return s
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
