package reference

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Document is an OpenAPI document.
type Document struct {
	OpenAPI    string              `json:"openapi"`
	Info       map[string]any      `json:"info"`
	Servers    []map[string]string `json:"servers"`
	Tags       []Tag               `json:"tags,omitempty"`
	Paths      map[string]PathItem `json:"paths"`
	Webhooks   map[string]PathItem `json:"webhooks,omitempty"`
	Components Components          `json:"components"`
}

// PathItem holds the operations of a path by lower-case method.
type PathItem map[string]*Operation

// Components are the shared parts of a document.
type Components struct {
	Schemas         map[string]*shape.Schema     `json:"schemas"`
	Responses       map[string]*Response         `json:"responses,omitempty"`
	Parameters      map[string]*Parameter        `json:"parameters,omitempty"`
	Headers         map[string]*Parameter        `json:"headers,omitempty"`
	SecuritySchemes map[string]map[string]string `json:"securitySchemes"`
}

// Operation is the description of a route.
type Operation struct {
	ID          string                         `json:"operationId"`
	Summary     string                         `json:"summary,omitempty"`
	Description string                         `json:"description,omitempty"`
	Tags        []string                       `json:"tags,omitempty"`
	Security    []map[string][]string          `json:"security"`
	Parameters  []*Parameter                   `json:"parameters,omitempty"`
	RequestBody *Body                          `json:"requestBody,omitzero"`
	Responses   map[string]*Response           `json:"responses"`
	Callbacks   map[string]map[string]PathItem `json:"callbacks,omitempty"`
	Scope       string                         `json:"x-scope,omitempty"`
	Guards      []string                       `json:"x-guards,omitempty"`
	Permission  string                         `json:"x-permission,omitempty"`
	Rate        string                         `json:"x-rate-limit,omitempty"`
	KeyScope    string                         `json:"x-api-key-scope,omitempty"`

	IsIdempotent bool `json:"-"` // supports IdempotencyKey
	AfterExpiry  bool `json:"-"` // open to impersonations that have ended

	Method string     `json:"-"`
	Path   string     `json:"-"`
	Entry  Entry      `json:"-"`
	Input  Input      `json:"-"`
	List   *page.Spec `json:"-"` // nil if the operation is not a list
}

// IdempotencyKey is the header with which a client retries a request safely.
const IdempotencyKey = "Idempotency-Key"

// Parameter is a request parameter or a response header.
type Parameter struct {
	Ref         string        `json:"$ref,omitempty"`
	Name        string        `json:"name,omitempty"`
	In          string        `json:"in,omitempty"`
	Required    bool          `json:"required,omitzero"`
	Description string        `json:"description,omitempty"`
	Explode     *bool         `json:"explode,omitzero"`
	Schema      *shape.Schema `json:"schema,omitzero"`
}

// Body is a request body.
type Body struct {
	Required bool    `json:"required,omitzero"`
	Content  Content `json:"content"`
}

// Response is a response with a status.
type Response struct {
	Ref         string                `json:"$ref,omitempty"`
	Description string                `json:"description,omitempty"`
	Headers     map[string]*Parameter `json:"headers,omitempty"`
	Content     Content               `json:"content,omitempty"`
}

// Content maps content types to bodies.
type Content map[string]*Media

// Media is a body of one content type.
type Media struct {
	Schema  *shape.Schema `json:"schema,omitzero"`
	Example any           `json:"example,omitzero"`
}

// JSONContent returns the content of a JSON body.
func JSONContent(s *shape.Schema) Content { return Content{"application/json": {Schema: s}} }

// Add adds an operation to the document.
func (d *Document) Add(op *Operation) {
	if d.Paths[op.Path] == nil {
		d.Paths[op.Path] = PathItem{}
	}
	d.Paths[op.Path][strings.ToLower(op.Method)] = op
}

// eachOperation calls f with each operation.
func (d *Document) eachOperation(f func(*Operation)) {
	for _, item := range d.Paths {
		for _, op := range item {
			f(op)
		}
	}
}

// header is a header of several responses, described as a component.
type header struct{ component, kind, text string }

var headers = map[string]header{
	"X-Request-Id":          {"RequestId", shape.TypeString, "ID of the request in the log. Taken from the request if it contains a valid one."},
	"X-RateLimit-Limit":     {"RateLimit", shape.TypeInteger, "Number of requests per minute that the rate-limit group allows. Absent if the limit is disabled."},
	"X-RateLimit-Remaining": {"RateLimitRemaining", shape.TypeInteger, "Number of requests left. Absent if the limit is disabled."},
	"Retry-After":           {"RetryAfter", shape.TypeInteger, "Number of seconds after which to retry."},
	"WWW-Authenticate":      {"Authenticate", shape.TypeString, "Authentication scheme: Bearer."},
	"ETag":                  {"ETag", shape.TypeString, "Version of the content. Send it in If-None-Match to get 304 if the content has not changed."},
	"Cache-Control":         {"CacheControl", shape.TypeString, "How long the response can be cached."},
	"Content-Disposition":   {"ContentDisposition", shape.TypeString, "Name of the downloaded file."},
	"Location":              {"Location", shape.TypeString, "URL to which the browser is redirected."},
	"Vary":                  {"Vary", shape.TypeString, "Request headers on which the response depends."},
}

// addHeaderComponents describes the response headers.
func (d *Document) addHeaderComponents() {
	d.Components.Headers = map[string]*Parameter{}
	for _, h := range headers {
		d.Components.Headers[h.component] = &Parameter{Description: h.text, Schema: &shape.Schema{Type: h.kind}}
	}
}

// AddHeaders adds headers to a response.
func (r *Response) AddHeaders(names ...string) {
	if r.Headers == nil {
		r.Headers = map[string]*Parameter{}
	}
	for _, name := range names {
		r.Headers[name] = &Parameter{Ref: "#/components/headers/" + headers[name].component}
	}
}

// addHeaders describes the headers that the HTTP layer adds to responses.
func addHeaders(op *Operation) {
	if _, tagged := op.Entry.Answers[http.StatusNotModified]; tagged {
		unchanged := &Response{Description: http.StatusText(http.StatusNotModified)}
		op.Responses[strconv.Itoa(http.StatusNotModified)] = unchanged
		unchanged.AddHeaders("ETag", "Cache-Control")
		op.Responses[strconv.Itoa(http.StatusOK)].AddHeaders("ETag", "Cache-Control")
	}
	for status, response := range op.Responses {
		response.AddHeaders("X-Request-Id")
		if op.Rate != "" {
			response.AddHeaders("X-RateLimit-Limit", "X-RateLimit-Remaining")
		}
		if status == strconv.Itoa(http.StatusFound) {
			response.AddHeaders("Location")
		}
	}
}
