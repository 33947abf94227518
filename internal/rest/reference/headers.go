package reference

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// The headers of answers that several operations send, by the name of their component.
func headers() map[string]*huma.Param {
	header := func(kind, description string) *huma.Param {
		return &huma.Param{Description: description, Schema: &huma.Schema{Type: kind}}
	}
	return map[string]*huma.Param{
		"RequestId":          header(huma.TypeString, "The id of the request in the log: the caller's own, if it sent one that is sane."),
		"RateLimit":          header(huma.TypeInteger, "How many requests a minute the group of the route allows. Absent where the group is turned off."),
		"RateLimitRemaining": header(huma.TypeInteger, "How many more requests the group allows at the moment. Absent where the group is turned off."),
		"RetryAfter":         header(huma.TypeInteger, "After how many seconds the request can succeed."),
		"Authenticate":       header(huma.TypeString, "The scheme of a credential: Bearer."),
		"ETag":               header(huma.TypeString, "A tag of the content. Sent back in If-None-Match it saves the body where nothing has changed."),
		"CacheControl":       header(huma.TypeString, "How long caches may keep the answer."),
		"ContentDisposition": header(huma.TypeString, "The name under which a browser saves the file."),
		"Location":           header(huma.TypeString, "Where the browser goes."),
		"Vary":               header(huma.TypeString, "The headers of the request that the answer depends on."),
	}
}

// sentHeaders are the names of the headers in answers.
var sentHeaders = map[string]string{
	"X-Request-Id": "RequestId", "X-RateLimit-Limit": "RateLimit", "X-RateLimit-Remaining": "RateLimitRemaining", "Retry-After": "RetryAfter",
	"WWW-Authenticate": "Authenticate", "ETag": "ETag", "Cache-Control": "CacheControl", "Content-Disposition": "ContentDisposition",
	"Location": "Location", "Vary": "Vary",
}

// Header returns the reference to the description of a header.
func Header(name string) *huma.Param {
	return &huma.Param{Ref: "#/components/headers/" + sentHeaders[name]}
}

// addHeaders describes the headers that the layer itself adds to answers.
func addHeaders(item *huma.Operation, op Operation) {
	if _, tagged := op.Answers[http.StatusNotModified]; tagged {
		tags := map[string]*huma.Param{"ETag": Header("ETag"), "Cache-Control": Header("Cache-Control")}
		item.Responses[text(http.StatusOK)].Headers = maps.Clone(tags)
		item.Responses[text(http.StatusNotModified)] = &huma.Response{Description: http.StatusText(http.StatusNotModified), Headers: tags}
	}
	for status, response := range item.Responses {
		names := []string{"X-Request-Id"}
		if op.Rate != "" && status != text(http.StatusUnauthorized) {
			names = append(names, "X-RateLimit-Limit", "X-RateLimit-Remaining")
		}
		switch status {
		case text(http.StatusTooManyRequests), text(http.StatusServiceUnavailable):
			names = append(names, "Retry-After")
		case text(http.StatusUnauthorized):
			names = append(names, "WWW-Authenticate")
		case text(http.StatusFound):
			names = append(names, "Location")
		}
		if response.Headers == nil {
			response.Headers = map[string]*huma.Param{}
		}
		for _, name := range names {
			response.Headers[name] = Header(name)
		}
	}
}

// shared is from how many operations on a refusal is a component of the document.
const shared = 3

// shareResponses makes refusals that several operations answer alike components, named after
// their status and codes.
func shareResponses(doc *huma.OpenAPI) {
	type use struct {
		in     map[string]*huma.Response
		status string
	}
	uses := map[string][]use{}
	for _, path := range doc.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Put, path.Patch, path.Delete} {
			if op == nil {
				continue
			}
			for status, response := range op.Responses {
				if status < "400" || response.Ref != "" {
					continue
				}
				text, err := json.Marshal(response)
				if err != nil {
					panic(err) // a programming error, which every start would show
				}
				key := status + string(text)
				uses[key] = append(uses[key], use{op.Responses, status})
			}
		}
	}
	doc.Components.Responses = map[string]*huma.Response{}
	for _, key := range slices.Sorted(maps.Keys(uses)) {
		list := uses[key]
		if len(list) < shared {
			continue
		}
		response := list[0].in[list[0].status]
		name, isUnion := strings.CutSuffix(strings.TrimPrefix(response.Content["application/json"].Schema.Ref, Prefix), refusalSuffix)
		if !isUnion {
			name = responseName(list[0].status, []form{{name: name}})
		}
		if doc.Components.Responses[name] != nil {
			continue // the same with other headers
		}
		doc.Components.Responses[name] = response
		for _, use := range list {
			use.in[use.status] = &huma.Response{Ref: "#/components/responses/" + name}
		}
	}
}

// responseName names a refusal after its forms: SubscriptionBusy has one form, InvalidOrPaymentFailed
// is for invalid fields or a payment. One that says no more than its status is called after the status,
// and Unreadable says that also the whole body may be refused.
func responseName(status string, forms []form) string {
	var words []string
	plain := false
	for _, f := range forms {
		code, mixed := strings.CutPrefix(strings.TrimSuffix(f.name, "Error"), statusNames[status]+"Or")
		switch {
		case len(forms) > 1 && f.name == errorName:
			plain = true
		case f.name == errorName, f.name == validationName, f.name == internalName:
			words = append(words, statusNames[status])
		case len(forms) > 1 && mixed:
			words, plain = append(words, code), true
		default:
			words = append(words, strings.TrimSuffix(f.name, "Error"))
		}
	}
	if plain {
		words = append(words, "Unreadable")
	}
	return strings.Join(words, "Or")
}

var statusNames = map[string]string{
	"400": "BadRequest", "401": "Unauthorized", "403": "Forbidden", "404": "NotFound", "408": "RequestTimeout", "409": "Conflict", "410": "Gone", "413": "TooLarge",
	"415": "UnsupportedMediaType", "419": "CSRFTokenMismatch", "422": "Invalid", "429": "TooManyRequests", "500": "Internal",
	"502": "ProviderFailed", "503": "Unavailable",
}

// pascal writes a code as a part of a name: PLAN_NOT_SELLABLE is PlanNotSellable.
func pascal(code string) string {
	var name strings.Builder
	for word := range strings.SplitSeq(strings.ToLower(code), "_") {
		if word != "" {
			name.WriteString(Capital(word))
		}
	}
	return name.String()
}

// Capital writes a word as a part of a name.
func Capital(word string) string {
	if word == "api" || word == "psp" || word == "csrf" {
		return strings.ToUpper(word)
	}
	return strings.ToUpper(word[:1]) + word[1:]
}
