package avatar_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/account/avatar"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/accounttest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// rig serves the avatars over HTTP.
type rig struct {
	*accounttest.Rig
	avatars *avatar.Service
}

// options are the settings that a test can override.
type options struct {
	reach []netip.Prefix // addresses that downloads can reach; nil means 127.0.0.0/8
	rates map[string]int // rate limits
}

func each(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) { f(t, newRig(t, db, options{})) })
}

func newRig(t *testing.T, db *sqldb.DB, o options) *rig {
	t.Helper()
	if o.reach == nil {
		o.reach = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
	r := &rig{Rig: accounttest.New(t, db)}
	r.avatars = avatar.NewService(avatar.Deps{
		DB: db, Clock: r.Clock, Jobs: r.Jobs, PublicURL: accounttest.PublicURL,
		Pictures: safehttp.New(safehttp.Config{Exempt: o.reach, MaxBody: avatar.MaxBytes, MaxRedirects: 3}),
	})
	r.Jobs.Lane(safehttp.Lane).Handle(avatar.JobImport, r.avatars.HandleImport)
	h := avatar.NewHTTP(r.avatars)
	r.Serve(
		o.rates,
		rest.Route{Method: "POST", Path: "/api/v1/user/avatar", Scope: rest.User, Rate: limit.Avatar, Handler: rest.Upload("avatar", avatar.MaxBytes, h.Upload)},
		rest.Route{Method: "DELETE", Path: "/api/v1/user/avatar", Scope: rest.User, Rate: limit.Avatar, Handler: rest.Handle(h.Delete)},
		rest.Route{Method: "GET", Path: "/api/v1/avatars/{hash}", Scope: rest.Public, Rate: limit.Default, Handler: rest.File(h.Show, "image/png", "image/jpeg")},
	)
	return r
}

// avatarOf returns the hash of a user's avatar, or "" for a user without an avatar.
func (r *rig) avatarOf(user int) string {
	r.T.Helper()
	var hash *string
	row := r.DB.Conn(r.T.Context()).QueryRowContext(r.T.Context(), `SELECT avatar_hash FROM users WHERE id = $1`, user)
	if err := row.Scan(&hash); err != nil {
		r.T.Fatal(err)
	}
	if hash == nil {
		return ""
	}
	return *hash
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
		// The file name and declared type come from the client and must not matter.
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

func (r *rig) upload(token string, parts ...part) *httptest.ResponseRecorder {
	r.T.Helper()
	body, contentType := form(r.T, parts...)
	return r.Call("POST", "/api/v1/user/avatar", token, body, "Content-Type", contentType)
}

// uploaded uploads a picture and returns its hash.
func (r *rig) uploaded(token string, picture []byte) string {
	r.T.Helper()
	w := r.upload(token, part{"avatar", picture})
	var answer struct{ Data struct{ Avatar string } }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 {
		r.T.Fatalf("%d %s", w.Code, w.Body)
	}
	hash, ok := strings.CutPrefix(answer.Data.Avatar, accounttest.PublicURL+"/api/v1/avatars/")
	if !ok {
		r.T.Fatalf("the avatar is at %q", answer.Data.Avatar)
	}
	return hash
}
