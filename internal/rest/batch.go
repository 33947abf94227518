package rest

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

const (
	maxReads     = 40      // reads of a batch
	maxReadBytes = 1 << 20 // size of the response to one read
)

// readPrefix is the prefix of the paths that a batch can read.
const readPrefix = "/api/v1/"

// Batch returns a handler that answers several GET requests of its caller at once. Each read passes
// the same middleware, guards, limits and log as a separate request.
func Batch() Handler { return batch }

// batchRead is the response to one read of a batch.
type batchRead struct {
	URL    string `json:"url" doc:"Path and query of the read, as in the request."`
	Status int    `json:"status" doc:"Status of the response."`
	Body   any    `json:"body" doc:"Body of the response. Null if it is not JSON or larger than 1 MiB."`
}

func batch(a *API, op *operation) serve {
	op.doc.Input = reference.QueryOnly
	op.doc.Parameters = append(op.doc.Parameters, &reference.Parameter{
		Name: batchField, In: "query", Required: true,
		Description: "Paths with their queries, such as `/api/v1/settings`. Repeat the parameter for each read.",
		Schema:      &shape.Schema{Type: shape.TypeArray, MinItems: 1, MaxItems: maxReads, Items: &shape.Schema{Type: shape.TypeString}},
	})
	(&Data[[]batchRead]{}).describe(a.registry, op)
	return func(w http.ResponseWriter, r *http.Request) error {
		query, err := readQuery(r)
		if err != nil {
			return err
		}
		reads, err := op.parseReads(query[batchField])
		if err != nil {
			return err
		}
		answers := make([]batchRead, len(reads))
		for i, read := range reads {
			answers[i] = a.read(w, r, read)
			answers[i].URL = query[batchField][i]
		}
		return writePacked(w, r, &OK(answers).Body)
	}
}

// writePacked writes v as JSON, compressed if the client accepts gzip. Other responses of the API
// are not compressed, because the compressed size could reveal secrets to a page of another site. A
// page of another site cannot request a batch with the user's cookies, which are first-party.
func writePacked(w http.ResponseWriter, r *http.Request, v any) error {
	text, err := encode(v)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", jsonType)
	h.Add("Vary", "Accept-Encoding")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = w.Write(text) // an error means that the client disconnected
		return nil
	}
	h.Set("Content-Encoding", "gzip")
	_, _ = w.Write(packed(text))
	return nil
}

// packed compresses a text with gzip.
func packed(text []byte) []byte {
	var out bytes.Buffer
	to := gzip.NewWriter(&out)
	_, _ = to.Write(text) // writing to a buffer never fails
	_ = to.Close()
	return out.Bytes()
}

// batchField is the query parameter with the reads.
const batchField = "url"

// parseReads returns the targets of a batch. A batch cannot contain a batch.
func (op *operation) parseReads(texts []string) ([]*url.URL, error) {
	switch {
	case len(texts) == 0:
		return nil, fault.OnField(batchField, "validation.required")
	case len(texts) > maxReads:
		return nil, &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
			Path: batchField, Message: "validation.max_items", Args: map[string]any{"max": maxReads},
		}}}
	}
	reads := make([]*url.URL, len(texts))
	for i, text := range texts {
		target, err := url.ParseRequestURI(text)
		if err != nil || target.Host != "" || !strings.HasPrefix(target.Path, readPrefix) || strings.TrimRight(target.Path, "/") == op.route.Path {
			return nil, fault.OnField(batchField, "validation.pattern")
		}
		reads[i] = target
	}
	return reads, nil
}

// read runs one read as a separate request, and passes on the cookies of its response.
func (a *API) read(w http.ResponseWriter, r *http.Request, target *url.URL) batchRead {
	part := r.Clone(r.Context())
	part.Method, part.URL, part.RequestURI, part.Body = http.MethodGet, target, target.RequestURI(), http.NoBody
	for _, name := range []string{"If-None-Match", "If-Modified-Since", "Range", "Accept-Encoding"} {
		part.Header.Del(name)
	}
	part.Header.Set("X-Request-Id", RequestOf(r.Context()).id)
	answer := &recorder{header: http.Header{}, status: http.StatusOK, limit: maxReadBytes}
	a.root.ServeHTTP(answer, part)
	for _, cookie := range answer.header.Values("Set-Cookie") {
		if !slices.Contains(w.Header().Values("Set-Cookie"), cookie) {
			w.Header().Add("Set-Cookie", cookie)
		}
	}
	body := jsontext.Value(bytes.TrimSpace(answer.body.Bytes()))
	if answer.isTooLong || !isJSON(answer.header.Get("Content-Type")) || !body.IsValid() {
		body = jsontext.Value("null")
	}
	return batchRead{Status: answer.status, Body: body}
}
