package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"reflect"
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

// Blob is a response with a file instead of JSON. If it has an ETag, clients that already have the
// file get 304.
type Blob struct {
	ContentType string
	Data        []byte
	// Stream, if not nil, is sent instead of Data and then closed. Length is its length in bytes, or
	// -1 if unknown. If reading fails halfway, the connection is closed, so that clients do not accept
	// a partial file as complete.
	Stream io.ReadCloser
	Length int64
	// ETag is a strong entity tag without quotes, or "".
	ETag string
	// CacheControl replaces no-store if not empty.
	CacheControl string
	// Disposition is the Content-Disposition, or "".
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
	_, _ = w.Write(b.Data) // an error means that the client disconnected
	return nil
}

// copy sends the stream. A stream of unknown length takes a stream slot until it ends.
func (b *Blob) copy(w http.ResponseWriter, r *http.Request) error {
	defer func() { _ = b.Stream.Close() }() // nothing to do about an error of a reader
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
		_ = api.problem(r.Context(), err) // logs the error; the client only sees a closed connection
		panic(http.ErrAbortHandler)
	}
	return nil
}

// maxStall is how long a client can take to receive one part of a streamed file.
const maxStall = time.Minute

// steadyWriter writes a file of unknown length. It can take longer than other responses, as long as
// the client keeps reading.
type steadyWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s steadyWriter) Write(part []byte) (int, error) {
	_ = s.control.SetWriteDeadline(clock.System().Now().Add(maxStall)) // not all connections support deadlines
	n, err := s.w.Write(part)
	if err != nil {
		panic(http.ErrAbortHandler) // the client disconnected
	}
	return n, nil
}

// matchesETag reports whether an If-None-Match header contains etag. It uses the weak comparison
// that RFC 9110 requires for this header, because a cache that re-encodes the response adds W/ to
// its tag.
func matchesETag(header, etag string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// Attachment returns the Content-Disposition for downloading a file under a name (RFC 6266). A
// non-ASCII name is included in UTF-8 and as an ASCII approximation. The name cannot break out of
// the header.
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

// CachedAnswer is the response {data: T} of a public route, encoded once and served many times. It
// is immutable.
type CachedAnswer[T any] struct{ blob Blob }

// NewCachedAnswer encodes {data: v} like any other response. Clients and proxies can cache it for
// maxAge, so it must not depend on the caller, except on the locale.
func NewCachedAnswer[T any](v T, maxAge time.Duration) (*CachedAnswer[T], error) {
	body, err := encode(&OK(v).Body)
	if err != nil {
		return nil, err
	}
	return &CachedAnswer[T]{taggedJSON(body, "public, max-age="+strconv.Itoa(int(maxAge.Seconds())))}, nil
}

// taggedJSON returns a response whose ETag is a hash of its text.
func taggedJSON(text []byte, cacheControl string) Blob {
	sum := sha256.Sum256(text)
	return Blob{ContentType: jsonType, Data: text, ETag: base64.RawURLEncoding.EncodeToString(sum[:16]), CacheControl: cacheControl}
}

func (*CachedAnswer[T]) describe(registry *shape.Registry, op *operation) {
	headers := []string{"Cache-Control", "ETag", "Vary"}
	op.describeJSON(bodySchema(registry, reflect.TypeFor[Data[T]]()), headers...)
	op.describe(http.StatusNotModified, nil, headers...)
	op.doc.Parameters = append(op.doc.Parameters, &reference.Parameter{
		Name: "If-None-Match", In: "header", Description: "ETag of the cached response.", Schema: &shape.Schema{Type: shape.TypeString},
	})
}

func (s *CachedAnswer[T]) write(w http.ResponseWriter, r *http.Request, status int) error {
	w.Header().Add("Vary", "Accept-Language")
	return s.blob.write(w, r, status)
}

// pageTimeout limits the generation of one page of a file. The whole file can take longer than
// other responses.
const pageTimeout = 20 * time.Second

// Pages returns a file that is generated while it is read, so it only takes the memory of one page.
// next writes the next page and reports whether there is another one. It is called after the
// handler has returned, with a context that has the values of ctx.
func Pages(ctx context.Context, next func(ctx context.Context, page *bytes.Buffer) (more bool, err error)) io.ReadCloser {
	return io.NopCloser(&pages{ctx: context.WithoutCancel(ctx), next: next, more: true})
}

type pages struct {
	ctx  context.Context //nolint:containedctx // it is read after the handler has returned
	next func(ctx context.Context, page *bytes.Buffer) (more bool, err error)
	page bytes.Buffer
	more bool
}

// Read implements io.Reader.
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

// turn generates the next page. It first checks the caller's permissions again, because a download
// can take long and a caller who loses access must not get the rest.
func (p *pages) turn() (err error) {
	ctx, cancel := context.WithTimeout(p.ctx, pageTimeout)
	defer cancel()
	if err := authz.Recheck(ctx); err != nil {
		return err
	}
	p.more, err = p.next(ctx, &p.page)
	return err
}

// ListPage returns a response with one page of a list that can also be returned completely (rules:
// http#lists).
func ListPage[T any](p page.Page[T]) (*Body[page.Part[T]], error) {
	body, err := encode(p)
	return new(Body[page.Part[T]]).ReplaceWith(&Blob{ContentType: jsonType, Data: body}), err
}

// StreamList returns a response with a complete list, using only the memory of one part. It reads
// the first part immediately, so that a read error is reported normally and a list of one part is
// sent like other responses. Further parts are read when the client has received the previous ones,
// as described for Pages. No database connection is held in between, even for a slow client. If a
// later part cannot be read, the connection is closed, so that clients do not accept the list as
// complete.
func StreamList[T any](ctx context.Context, next page.NextPart[T]) (*Body[page.Part[T]], error) {
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
	file := &Blob{ContentType: jsonType, Data: list.page.Bytes()}
	if list.more {
		file = &Blob{ContentType: jsonType, Stream: io.NopCloser(list), Length: -1}
	}
	return new(Body[page.Part[T]]).ReplaceWith(file), nil
}

// Limits of open streams per caller and per tenant, in this process. A stream is a response that is
// read from the database during the transfer, such as an export.
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

// acquireSlot reserves a stream slot for a caller until release is called.
func (s *streams) acquireSlot(caller *authz.Caller) (release func(), err error) {
	limits := map[string]int{}
	if caller != nil {
		limits[callerKey(caller)] = maxStreamsOfCaller
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
