package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
)

// thing is a list entry. Its text contains characters that JSON escapes and others.
type thing struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
}

// listing serves a list of things whose parts are read by next.
func listing(t *testing.T, next page.NextPart[thing]) *server {
	t.Helper()
	return start(t, []rest.Route{{
		Method: http.MethodGet, Path: "/api/v1/things", Scope: rest.Public,
		Handler: rest.Handle(func(ctx context.Context, _ *struct{}) (*rest.Body[page.Part[thing]], error) {
			q, err := page.ParsePart(rest.RequestOf(ctx).Query())
			if err != nil {
				return nil, err
			}
			if q.IsWhole() {
				return rest.StreamList(ctx, next)
			}
			return rest.ListPage(page.New(q, "https://api.example.com/api/v1/things", []thing{{ID: 7}}, 21))
		}, rest.Lists(page.Spec{})),
	}})
}

// inParts returns a function that reads a list in parts of the given lengths, and the whole list.
func inParts(lengths ...int) (next page.NextPart[thing], whole []thing) {
	whole = []thing{}
	var parts [][]thing
	for _, n := range lengths {
		first := len(whole)
		for i := range n {
			whole = append(whole, thing{ID: first + i, Text: "<é\"" + strconv.Itoa(i)})
		}
		parts = append(parts, whole[first:])
	}
	i := 0
	return func(context.Context) ([]thing, bool, error) {
		part := parts[i]
		i++
		return part, i < len(parts), nil
	}, whole
}

// A list has the same text regardless of its parts. A short list has a Content-Length, like other
// responses.
func TestExportsAreSentInParts(t *testing.T) {
	t.Parallel()
	for _, lengths := range [][]int{{0}, {3}, {500, 500, 200}, {500, 0}, {0, 4}, {0, 0}} {
		next, whole := inParts(lengths...)
		got := listing(t, next).get("/api/v1/things")
		plain := start(t, []rest.Route{{
			Method: http.MethodGet, Path: "/api/v1/things", Scope: rest.Public,
			Handler: rest.Handle(func(context.Context, *struct{}) (*rest.Data[[]thing], error) { return rest.OK(whole), nil }),
		}}).get("/api/v1/things")
		if got.Status != http.StatusOK || got.Header.Get("Content-Type") != "application/json" || got.Body != plain.Body {
			t.Errorf("%v: %d %s: %.200s, want %.200s", lengths, got.Status, got.Header, got.Body, plain.Body)
		}
		if length := got.Header.Get("Content-Length"); len(lengths) == 1 && length != strconv.Itoa(len(got.Body)+1) {
			t.Errorf("%v: Content-Length %q", lengths, length)
		}
	}
}

func TestPageOfAnExport(t *testing.T) {
	t.Parallel()
	next, _ := inParts(3)
	s := listing(t, next)
	got := s.get("/api/v1/things?page=2&per_page=10")
	want := `{"data":[{"id":7,"text":""}],"meta":{"current_page":2,"last_page":3,"per_page":10,"total":21},"links":{` +
		`"first":"https://api.example.com/api/v1/things?page=1&per_page=10","last":"https://api.example.com/api/v1/things?page=3&per_page=10",` +
		`"prev":"https://api.example.com/api/v1/things?page=1&per_page=10","next":"https://api.example.com/api/v1/things?page=3&per_page=10"}}`
	if got.Status != http.StatusOK || got.Body != want {
		t.Errorf("%d %s, want %s", got.Status, got.Body, want)
	}
	s.get("/api/v1/things?page=x").broken(map[string]string{"page": "This must be an integer."})
	schema := document(t, s).Paths.Value("/api/v1/things").Get
	if schema.Responses.Value("200").Value.Content["application/json"].Schema == nil || len(schema.Parameters) != 2 {
		t.Errorf("the reference has %+v", schema)
	}
}

// A list that cannot be read is an error. A list that fails midway never looks complete, and the
// log contains the reason.
func TestFailuresDuringExports(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is on fire")
	at := func(failing int) *server {
		i := 0
		return listing(t, func(context.Context) ([]thing, bool, error) {
			if i++; i == failing {
				return nil, false, broken
			}
			return []thing{{ID: i, Text: strings.Repeat("a", 100_000)}}, true, nil
		})
	}
	at(1).get("/api/v1/things").refused(http.StatusInternalServerError)

	s := at(3)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/things", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil || len(body) == 0 || json.Valid(body) {
		t.Errorf("%v: %d bytes", err, len(body))
	}
	s.logged("the disk is on fire")
}

// A part is only read after the client has received the previous ones, apart from connection
// buffers. A slow client does not cause reading ahead.
func TestExportsWaitForTheReader(t *testing.T) {
	t.Parallel()
	const parts, size = 200, 1 << 20
	var read atomic.Int64
	s := listing(t, func(context.Context) ([]thing, bool, error) {
		return []thing{{Text: strings.Repeat("a", size)}}, read.Add(1) < parts, nil
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/things", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	for before := int64(-1); before != read.Load(); { // until no more parts are read
		before = read.Load()
		time.Sleep(300 * time.Millisecond)
	}
	if n := read.Load(); n > parts/2 {
		t.Errorf("%d of %d parts were read for a client that read nothing", n, parts)
	}
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < parts*size || read.Load() != parts {
		t.Errorf("%d bytes of %d parts: %v", n, read.Load(), err)
	}
}

// A list can take longer than the server's limit for other responses, as long as each part does
// not.
func TestExportsMayTakeLong(t *testing.T) {
	t.Parallel()
	const parts, pause = 8, 100 * time.Millisecond
	n := 0
	s := listing(t, func(context.Context) ([]thing, bool, error) {
		time.Sleep(pause)
		n++
		return []thing{{ID: n}}, n < parts, nil
	})
	slow := httptest.NewUnstartedServer(s.api)
	slow.Config.WriteTimeout = parts * pause / 2
	slow.Start()
	defer slow.Close()
	s.url = slow.URL
	if got := s.get("/api/v1/things"); got.Status != http.StatusOK || !strings.HasSuffix(got.Body, `{"id":8,"text":""}]}`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}
