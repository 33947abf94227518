package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Blob is an answer that is a file instead of JSON. With an ETag it is 304 to a client that has
// the file.
type Blob struct {
	ContentType string
	Data        []byte
	// Stream, if given, is sent instead of Data and closed. Length is its length in
	// bytes, -1 when it is not known. If it fails halfway the connection is cut, so
	// that no client takes half a file for a whole one.
	Stream io.ReadCloser
	Length int64
	// ETag is a strong tag without its quotes; "" is none.
	ETag string
	// CacheControl replaces no-store; "" leaves it.
	CacheControl string
	// Disposition is the Content-Disposition; "" is none.
	Disposition string
}

func (*Blob) describe(*shape.Registry, *operation) {}

func (b *Blob) write(w http.ResponseWriter, r *http.Request, _ int) error {
	h := w.Header()
	for name, value := range map[string]string{"Cache-Control": b.CacheControl, "Content-Disposition": b.Disposition} {
		if value != "" {
			h.Set(name, value)
		}
	}
	if b.ETag != "" {
		etag := `"` + b.ETag + `"`
		h.Set("ETag", etag)
		if matchesETag(r.Header.Get("If-None-Match"), etag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	h.Set("Content-Type", b.ContentType)
	if b.Stream != nil {
		return b.copy(w, r)
	}
	h.Set("Content-Length", strconv.Itoa(len(b.Data)))
	_, _ = w.Write(b.Data) // an error means that the client is gone
	return nil
}

// copy sends the stream. A stream of unknown length counts as open until it ends.
func (b *Blob) copy(w http.ResponseWriter, r *http.Request) error {
	defer func() { _ = b.Stream.Close() }() // it was only read
	if b.Length >= 0 {
		w.Header().Set("Content-Length", strconv.FormatInt(b.Length, 10))
		if _, err := io.Copy(w, b.Stream); err != nil {
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	api := RequestOf(r.Context()).api
	end, err := api.streams.acquireSlot(authz.FromContext(r.Context()))
	if err != nil {
		w.Header().Del("Content-Disposition")
		return err
	}
	defer end()
	if _, err := io.Copy(steadyWriter{w, http.NewResponseController(w)}, b.Stream); err != nil {
		_ = api.problem(r.Context(), err) // which logs it: the client only sees a cut
		panic(http.ErrAbortHandler)
	}
	return nil
}

// maxStall is how long a client may take for one part of a long file.
const maxStall = time.Minute

// steadyWriter sends a file of unknown length. It may take longer than other answers, as long as
// the client goes on reading.
type steadyWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s steadyWriter) Write(part []byte) (int, error) {
	_ = s.control.SetWriteDeadline(clock.System().Now().Add(maxStall)) // not every connection has deadlines
	n, err := s.w.Write(part)
	if err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	return n, nil
}

// matchesETag reports whether an If-None-Match names etag. The comparison is weak, as RFC
// 9110 requires for this header: a cache that has encoded the answer again marks its tag
// with W/.
func matchesETag(header, etag string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// Attachment returns the Content-Disposition of a file that is saved under a name (RFC
// 6266). A name that is not plain ASCII stands in it in UTF-8, next to an
// approximation in ASCII. No name can break out of the header.
func Attachment(name string) string {
	name = strings.ToValidUTF8(name, "_")
	clean := strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == '/' || c == '\\' {
			return '_'
		}
		return c
	}, name)
	plain := strings.Map(func(c rune) rune {
		if c > '~' || c == '"' {
			return '_'
		}
		return c
	}, clean)
	header := `attachment; filename="` + plain + `"`
	if plain != name {
		header += "; filename*=UTF-8''" + strings.ReplaceAll(url.QueryEscape(clean), "+", "%20")
	}
	return header
}

// CachedAnswer is the answer {data: T} of a public route, encoded once and served many times. It is
// immutable.
type CachedAnswer[T any] struct{ blob Blob }

// NewCachedAnswer encodes {data: v} like any other answer. Clients and caches in between may
// keep it for maxAge, so it must not depend on the caller, except on the locale.
func NewCachedAnswer[T any](v T, maxAge time.Duration) (*CachedAnswer[T], error) {
	body, err := encode(&OK(v).Body)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return &CachedAnswer[T]{Blob{
		ContentType: jsonType, Data: body, ETag: base64.RawURLEncoding.EncodeToString(sum[:16]),
		CacheControl: "public, max-age=" + strconv.Itoa(int(maxAge.Seconds())),
	}}, nil
}

func (*CachedAnswer[T]) describe(registry *shape.Registry, op *operation) {
	headers := []string{"Cache-Control", "ETag", "Vary"}
	op.describeJSON(bodySchema[Data[T]](registry), headers...)
	op.describe(http.StatusNotModified, nil, headers...)
	op.doc.Parameters = append(op.doc.Parameters, &reference.Parameter{
		Name: "If-None-Match", In: "header", Description: "The ETag of the answer that the caller has.", Schema: &shape.Schema{Type: shape.TypeString},
	})
}

func (s *CachedAnswer[T]) write(w http.ResponseWriter, r *http.Request, status int) error {
	w.Header().Add("Vary", "Accept-Language")
	return s.blob.write(w, r, status)
}

// serveDocument answers with the OpenAPI document. Clients may keep it, but ask each time
// whether it has changed.
func (a *API) serveDocument(w http.ResponseWriter, r *http.Request) {
	text, err := a.Document()
	if err == nil {
		sum := sha256.Sum256(text)
		b := Blob{ContentType: jsonType, Data: text, ETag: base64.RawURLEncoding.EncodeToString(sum[:16]), CacheControl: "no-cache"}
		err = b.write(w, r, http.StatusOK)
	}
	if err != nil {
		a.WriteError(w, r, err)
	}
}

// pageTimeout is how long a page of a file may take. A file as a whole may take longer than
// other answers.
const pageTimeout = 20 * time.Second

// Pages returns a file that is written while it is read, so that it takes the memory of one
// page however long it is. next writes the next page and reports whether there is another; it
// is called after the handler has returned, with a context that has the values of ctx.
func Pages(ctx context.Context, next func(ctx context.Context, page *bytes.Buffer) (more bool, err error)) io.ReadCloser {
	return io.NopCloser(&pages{ctx: context.WithoutCancel(ctx), next: next, more: true})
}

type pages struct {
	ctx  context.Context //nolint:containedctx // it is read after the handler has returned
	next func(ctx context.Context, page *bytes.Buffer) (more bool, err error)
	page bytes.Buffer
	more bool
}

// Read reads the next part of the file.
func (p *pages) Read(into []byte) (int, error) {
	for p.page.Len() == 0 && p.more {
		p.page.Reset()
		if err := p.turn(); err != nil {
			return 0, err
		}
	}
	if p.page.Len() == 0 {
		return 0, io.EOF
	}
	return p.page.Read(into)
}

// turn reads the next page. The caller's rights are checked again before it: a file can take long,
// and a caller without the right to read it must not get the rest.
func (p *pages) turn() (err error) {
	ctx, cancel := context.WithTimeout(p.ctx, pageTimeout)
	defer cancel()
	if err := authz.Recheck(ctx); err != nil {
		return err
	}
	p.more, err = p.next(ctx, &p.page)
	return err
}

// Listing is the answer of a list of T that is whole unless a page of it is asked for
// (rules: http#lists). Its body is page.Part[T].
type Listing[T any] struct{ blob Blob }

func (*Listing[T]) describe(registry *shape.Registry, op *operation) {
	op.doc.List = &page.Spec{}
	op.describeJSON(bodySchema[Body[page.Part[T]]](registry))
}

func (l *Listing[T]) write(w http.ResponseWriter, r *http.Request, status int) error {
	return l.blob.write(w, r, status)
}

// ListPage answers with a page of a list.
func ListPage[T any](p page.Page[T]) (*Listing[T], error) {
	body, err := encode(p)
	return &Listing[T]{Blob{ContentType: jsonType, Data: body}}, err
}

// StreamList answers with a whole list, in the memory of one part of it however long it is. The
// first part is read at once, so that a list that cannot be read is an error like any other, and
// a list of one part is sent as other answers are. Further parts are read when the client has
// taken those before, as Pages says: between two of them no connection of the database is held,
// however slow the client is. If one cannot be read the connection is cut, so that no client
// takes the sent parts for the whole.
func StreamList[T any](ctx context.Context, next page.NextPart[T]) (*Listing[T], error) {
	separator := `{"data":[`
	list := &pages{ctx: context.WithoutCancel(ctx), more: true}
	list.next = func(ctx context.Context, b *bytes.Buffer) (bool, error) {
		part, more, err := next(ctx)
		if err != nil {
			return false, err
		}
		if len(part) > 0 {
			text, err := encode(part)
			if err != nil {
				return false, err
			}
			b.WriteString(separator)
			b.Write(text[1 : len(text)-len("]\n")])
			separator = ","
		}
		if !more {
			if separator != "," {
				b.WriteString(separator)
			}
			b.WriteString("]}\n")
		}
		return more, nil
	}
	var err error
	if list.more, err = list.next(ctx, &list.page); err != nil {
		return nil, err
	}
	if !list.more {
		return &Listing[T]{Blob{ContentType: jsonType, Data: list.page.Bytes()}}, nil
	}
	return &Listing[T]{Blob{ContentType: jsonType, Stream: io.NopCloser(list), Length: -1}}, nil
}

// The open streams of a caller and of all callers of a tenant, in this process. A stream is an
// answer that is read from the database while it is sent, such as an export.
const (
	maxStreamsOfCaller = 4
	maxStreamsOfTenant = 16
)

var errTooManyStreams = &fault.Error{Kind: fault.TooMany, Message: "error.too_many_streams", RetryAfter: 10 * time.Second}

// streams counts open streams.
type streams struct {
	mu   sync.Mutex
	open map[string]int
}

// acquireSlot counts a stream of a caller. release ends it.
func (s *streams) acquireSlot(caller *authz.Caller) (release func(), err error) {
	limits := map[string]int{}
	switch {
	case caller == nil:
	case caller.Key != nil:
		limits["key:"+caller.Key.ID.String()] = maxStreamsOfCaller
	default:
		limits["user:"+strconv.FormatInt(caller.UserID, 10)] = maxStreamsOfCaller
	}
	if caller != nil && caller.Tenant != nil {
		limits["tenant:"+caller.Tenant.TenantID.String()] = maxStreamsOfTenant
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, limit := range limits {
		if s.open[key] >= limit {
			return nil, errTooManyStreams
		}
	}
	if s.open == nil {
		s.open = map[string]int{}
	}
	for key := range limits {
		s.open[key]++
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for key := range limits {
			if s.open[key]--; s.open[key] == 0 {
				delete(s.open, key)
			}
		}
	}, nil
}
