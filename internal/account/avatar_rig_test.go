package account_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// mediaRig is avatars and push messages behind the real HTTP layer, with users 1
// and 2, whose numbers are their tokens.
type mediaRig struct {
	t       *testing.T
	db      *sqldb.DB
	clock   *clock.Adjustable
	jobs    *jobs.Queue
	avatars *account.Avatars
	pushes  *account.Pushes
	api     *rest.API
}

// rigOptions are what a test may have otherwise.
type rigOptions struct {
	reach  []netip.Prefix // what the outside clients may reach; nil: 127.0.0.0/8
	client *safehttp.Client
	groups map[string]int // rate limits
}

func eachMedia(t *testing.T, f func(t *testing.T, r *mediaRig)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) { f(t, newMediaRig(t, db, rigOptions{})) })
}

func newMediaRig(t *testing.T, db *sqldb.DB, o rigOptions) *mediaRig {
	t.Helper()
	if o.client == nil {
		if o.reach == nil {
			o.reach = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		}
		o.client = safehttp.New(safehttp.Config{Exempt: o.reach, MaxBody: account.MaxAvatarBytes, MaxRedirects: 3})
	}
	r := &mediaRig{t: t, db: db, clock: clock.NewAdjustable(clock.System(), 0)}
	log := slog.New(slog.DiscardHandler)
	r.jobs = jobs.New(jobs.Deps{DB: db, Clock: r.clock, Lease: clock.System(), Log: log})
	r.avatars = account.NewAvatars(account.AvatarDeps{
		DB: db, Clock: r.clock, Jobs: r.jobs, Pictures: o.client, PublicURL: "https://api.example.com",
	})
	r.pushes = account.NewPushes(account.PushDeps{
		DB: db, Clock: r.clock, Jobs: r.jobs, Log: log,
		Sender: push.NewSender(push.Config{Client: o.client, Contact: "ops@example.com"}),
	})
	for _, id := range []string{"1", "2"} {
		r.exec(`INSERT INTO users (id, name, email, created_at, updated_at) VALUES (` + id + `, 'U', 'u` + id +
			`@example.com', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00')`)
	}
	messages, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	avatars, pushes := account.NewAvatarHTTP(r.avatars), account.NewPushHTTP(r.pushes)
	const at = "/api/v1/push-subscriptions"
	r.api = rest.New(rest.Config{
		Messages: messages, Log: log, Clock: clock.System(),
		Authenticate:     authenticateByNumber,
		Limiter:          limit.New(limit.Config{Groups: o.groups, Counter: limit.NewMemory(clock.System()), Log: log}),
		ClientIP:         func(*http.Request) string { return "192.0.2.7" },
		FirstPartyOrigin: func(string) bool { return false },
		PublicURL:        "https://api.example.com",
	}, []rest.Route{
		{Method: "POST", Path: "/api/v1/user/avatar", Scope: rest.User, Rate: limit.Avatar, Handler: rest.Upload("avatar", account.MaxAvatarBytes, avatars.Upload)},
		{Method: "DELETE", Path: "/api/v1/user/avatar", Scope: rest.User, Rate: limit.Avatar, Handler: rest.Handle(avatars.Delete)},
		{Method: "GET", Path: "/api/v1/avatars/{hash}", Scope: rest.Public, Rate: limit.Default, Handler: rest.File(avatars.Show, "image/png", "image/jpeg")},
		{Method: "GET", Path: at, Scope: rest.User, Rate: limit.Push, Handler: rest.Handle(pushes.List)},
		{Method: "POST", Path: at, Scope: rest.User, Rate: limit.Push, Handler: rest.Handle(pushes.Subscribe, rest.Status(201))},
		{Method: "DELETE", Path: at, Scope: rest.User, Rate: limit.Push, Handler: rest.Handle(pushes.Unsubscribe)},
	})
	return r
}

func authenticateByNumber(_ context.Context, token string) (*authz.Caller, error) {
	id, err := strconv.ParseInt(token, 10, 64)
	if err != nil {
		return nil, fault.New(fault.Unauthenticated, "error.unauthenticated")
	}
	return &authz.Caller{UserID: id}, nil
}

// work runs the queue until the test ends.
func (r *mediaRig) work() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.jobs.Run(ctx) }()
	r.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Errorf("the queue: %v", err)
		}
	})
}

// settle waits until no job is left but dead ones and those that wait to be tried
// again, and returns how many there are of each.
func (r *mediaRig) settle() (dead, retrying int) {
	r.t.Helper()
	for range 1000 {
		busy := r.number(`SELECT count(*) FROM jobs WHERE dead_at IS NULL AND (attempt = 0 OR lease_id IS NOT NULL)`)
		if busy == 0 {
			return r.number(`SELECT count(*) FROM jobs WHERE dead_at IS NOT NULL`),
				r.number(`SELECT count(*) FROM jobs WHERE dead_at IS NULL`)
		}
		time.Sleep(5 * time.Millisecond)
	}
	r.t.Fatal("the jobs do not come to an end")
	return 0, 0
}

// later moves the clock to where every retry is due.
func (r *mediaRig) later(d time.Duration) {
	r.clock.Advance(d)
	r.jobs.Wake()
}

func (r *mediaRig) exec(query string, args ...any) {
	r.t.Helper()
	if _, err := r.db.Conn(r.t.Context()).ExecContext(r.t.Context(), query, args...); err != nil {
		r.t.Fatal(err)
	}
}

func (r *mediaRig) number(query string, args ...any) (n int) {
	r.t.Helper()
	if err := r.db.Conn(r.t.Context()).QueryRowContext(r.t.Context(), query, args...).Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

// avatarOf returns the hash of a user's avatar, "" for none.
func (r *mediaRig) avatarOf(user int) string {
	r.t.Helper()
	var hash *string
	row := r.db.Conn(r.t.Context()).QueryRowContext(r.t.Context(), `SELECT avatar_hash FROM users WHERE id = $1`, user)
	if err := row.Scan(&hash); err != nil {
		r.t.Fatal(err)
	}
	if hash == nil {
		return ""
	}
	return *hash
}

// call makes a request; headers are names and values in turn.
func (r *mediaRig) call(method, path, token string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	req := httptest.NewRequestWithContext(r.t.Context(), method, path, body)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.api.ServeHTTP(w, req)
	return w
}

// json makes a request with a JSON body.
func (r *mediaRig) json(method, path, token, body string) *httptest.ResponseRecorder {
	r.t.Helper()
	return r.call(method, path, token, strings.NewReader(body), "Content-Type", "application/json")
}

// part is a field of a form.
type part struct {
	name string
	data []byte
}

func form(t *testing.T, parts ...part) (body *bytes.Buffer, contentType string) {
	t.Helper()
	body = new(bytes.Buffer)
	w := multipart.NewWriter(body)
	for _, p := range parts {
		// The name and the type of a file are the caller's word and mean nothing.
		field, err := w.CreateFormFile(p.name, "../../evil.exe")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = field.Write(p.data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body, w.FormDataContentType()
}

func (r *mediaRig) upload(token string, parts ...part) *httptest.ResponseRecorder {
	r.t.Helper()
	body, contentType := form(r.t, parts...)
	return r.call("POST", "/api/v1/user/avatar", token, body, "Content-Type", contentType)
}

// uploaded uploads a picture and returns the avatar's hash.
func (r *mediaRig) uploaded(token string, picture []byte) string {
	r.t.Helper()
	w := r.upload(token, part{"avatar", picture})
	var answer struct{ Data struct{ Avatar string } }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 {
		r.t.Fatalf("%d %s", w.Code, w.Body)
	}
	hash, ok := strings.CutPrefix(answer.Data.Avatar, "https://api.example.com/api/v1/avatars/")
	if !ok {
		r.t.Fatalf("the avatar is at %q", answer.Data.Avatar)
	}
	return hash
}

// refused checks a refusal in the format of the spec, and for 422 which field is
// broken.
func refused(t *testing.T, w *httptest.ResponseRecorder, status int, field string) {
	t.Helper()
	var answer struct {
		Message string
		Errors  map[string][]string
	}
	err := json.Unmarshal(w.Body.Bytes(), &answer)
	if w.Code != status || err != nil || answer.Message == "" || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d, want %d: %s", w.Code, status, w.Body)
	}
	if field != "" && (len(answer.Errors) != 1 || len(answer.Errors[field]) != 1) {
		t.Errorf("want %s broken: %s", field, w.Body)
	}
}
