package apptest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contract is the API reference. Every response that a test reads is checked against it: an
// undeclared status, code or key fails the test, and so does a missing required key.
type contract struct {
	operations []described

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by path in the document
}

// described is an operation in the reference.
type described struct {
	id           string
	method, path string
	parts        []string
	responses    Object
	doc          Object
}

// place is the URL of the reference in the schema compiler.
const place = "reference:///openapi.json"

// theContract is the contract of the first server. All servers of a process have the same contract.
var theContract struct {
	sync.Mutex
	*contract
}

// contractOf returns the contract, or nil if the server does not serve one, for example because it
// has stopped.
func contractOf(s *Server) *contract {
	theContract.Lock()
	defer theContract.Unlock()
	if theContract.contract != nil {
		return theContract.contract
	}
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodGet, s.URL+"/openapi.json", nil)
	if err != nil {
		s.T.Fatal(err)
	}
	resp, err := noRedirects.Do(r)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(resp.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	if theContract.contract, err = newContract(doc); err != nil {
		s.T.Fatal(err)
	}
	return theContract.contract
}

// holdToContract fails the test if a response does not match the reference. It also calls the
// function of [Server.Record].
func (s *Server) holdToContract(r *http.Request, resp *http.Response, body []byte) {
	s.T.Helper()
	if !strings.HasPrefix(r.URL.String(), s.URL+"/") {
		return
	}
	c := contractOf(s)
	if c == nil {
		return
	}
	if err := c.check(r, resp, body); err != nil {
		s.T.Error(err)
	}
	if op := c.operation(r.Method, r.URL.EscapedPath()); op != nil && s.record != nil {
		e := Exchange{Operation: op.id, Status: resp.StatusCode, Answer: body}
		if r.GetBody != nil {
			if given, err := r.GetBody(); err == nil {
				e.Request, _ = io.ReadAll(given)
			}
		}
		s.record(e)
	}
}

// Exchange is a request to an operation in the reference, and its response.
type Exchange struct {
	Operation       string
	Status          int
	Request, Answer []byte
}

// Record calls f for each exchange from now on.
func (s *Server) Record(f func(Exchange)) { s.record = f }

func newContract(doc any) (*contract, error) {
	root, ok := doc.(Object)
	if !ok {
		return nil, fmt.Errorf("the reference is %T", doc)
	}
	closeObjects(root["components"])
	closeObjects(root["paths"])
	c := &contract{compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	c.compiler.AssertFormat()
	paths, _ := root["paths"].(Object)
	for path, item := range paths {
		for method, op := range item.(Object) {
			if responses, ok := op.(Object)["responses"].(Object); ok {
				id, _ := op.(Object)["operationId"].(string)
				c.operations = append(c.operations, described{
					id: id, method: strings.ToUpper(method), path: path,
					parts: strings.Split(path, "/"), responses: responses, doc: root,
				})
			}
		}
	}
	return c, c.compiler.AddResource(place, root)
}

// closeObjects makes schemas reject unknown keys. The reference itself allows unknown keys, because
// later versions can add keys to responses.
func closeObjects(node any) {
	switch node := node.(type) {
	case Object:
		if _, isObject := node["properties"].(Object); isObject && node["additionalProperties"] == nil {
			node["additionalProperties"] = false
		}
		for _, child := range node {
			closeObjects(child)
		}
	case []any:
		for _, child := range node {
			closeObjects(child)
		}
	}
}

// operation returns the operation for a request, or nil. If several paths match, only the most
// specific counts, even if it lacks the method.
func (c *contract) operation(method, path string) *described {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	parts := strings.Split(path, "/")
	var best *described
	literal := -1
	for i, op := range c.operations {
		if len(op.parts) != len(parts) {
			continue
		}
		n := 0
		fits := true
		for j, part := range op.parts {
			switch {
			case part == parts[j]:
				n++
			case !strings.HasPrefix(part, "{"):
				fits = false
			}
		}
		switch {
		case !fits || n < literal:
		case op.method == method:
			best, literal = &c.operations[i], n
		case n > literal:
			best, literal = nil, n
		}
	}
	return best
}

// check returns an error if a response does not match the reference. It accepts every response to a
// request that is not in the reference.
func (c *contract) check(r *http.Request, resp *http.Response, body []byte) error {
	op := c.operation(r.Method, r.URL.EscapedPath())
	if op == nil {
		return nil
	}
	status := strconv.Itoa(resp.StatusCode)
	where := []string{"paths", op.path, strings.ToLower(op.method), "responses", status}
	response, ok := op.responses[status].(Object)
	if !ok {
		return fmt.Errorf("%s %s declares no status %s: %s", op.method, op.path, status, shortenBody(body))
	}
	if to, ok := response["$ref"].(string); ok {
		where = strings.Split(strings.TrimPrefix(to, "#/"), "/")
		response = fieldAt(op.doc, where)
	}
	content, _ := response["content"].(Object)
	if len(body) == 0 || r.Method == http.MethodHead {
		return nil
	}
	mediaType, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if content[mediaType] == nil {
		return fmt.Errorf("%s %s declares no %s for %s: %s", op.method, op.path, mediaType, status, shortenBody(body))
	}
	if mediaType != "application/json" {
		return nil
	}
	schema, err := c.schema(append(slices.Clone(where), "content", mediaType, "schema"))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%s %s, %s, is not as declared: %w\n%s", op.method, op.path, status, err, shortenBody(body))
	}
	return nil
}

// schema compiles a schema of the document once.
func (c *contract) schema(where []string) (*jsonschema.Schema, error) {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	pointer := place + "#"
	for _, part := range where {
		pointer += "/" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(escape.Replace(part))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if schema := c.schemas[pointer]; schema != nil {
		return schema, nil
	}
	schema, err := c.compiler.Compile(pointer)
	if err != nil {
		return nil, err
	}
	c.schemas[pointer] = schema
	return schema, nil
}

func fieldAt(doc Object, where []string) Object {
	for _, key := range where {
		doc, _ = doc[key].(Object)
	}
	return doc
}

// shortenBody returns the start of a body, for an error message.
func shortenBody(body []byte) string { return string(body[:min(len(body), 2000)]) }
