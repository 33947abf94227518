package avatar_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/account/avatar"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// pictureServer is the picture server of an identity provider.
type pictureServer struct {
	url   string
	asked atomic.Int32
	// failures is the number of requests for /flaky and /busy that fail before the first success.
	failures atomic.Int32
}

func newPictureServer(t *testing.T) *pictureServer {
	t.Helper()
	s := new(pictureServer)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		// The declared content type must not matter.
		w.Header().Set("Content-Type", "application/octet-stream")
		switch r.URL.Path {
		case "/dark":
			_, _ = w.Write(shade(t, 80))
		case "/light":
			_, _ = w.Write(shade(t, 160))
		case "/moved":
			http.Redirect(w, r, "/dark", http.StatusFound)
		case "/inside":
			http.Redirect(w, r, "http://10.0.0.1/dark", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/text":
			_, _ = w.Write([]byte("hello"))
		case "/large":
			_, _ = w.Write(make([]byte, avatar.MaxBytes+1))
		case "/flaky", "/busy":
			if s.failures.Add(-1) >= 0 {
				w.WriteHeader(map[string]int{"/flaky": 503, "/busy": 429}[r.URL.Path])
				return
			}
			_, _ = w.Write(shade(t, 80))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// bring imports a picture for user 1 and waits for the job.
func (r *rig) bring(url string) (dead, retrying int) {
	r.T.Helper()
	if err := r.avatars.Import(r.T.Context(), 1, url); err != nil {
		r.T.Fatal(err)
	}
	return r.Settle()
}

func TestImport(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		s := newPictureServer(t)
		dark, light := r.uploaded("2", shade(t, 80)), r.uploaded("2", shade(t, 160))
		r.Work()
		for path, want := range map[string]string{"/dark": dark, "/moved": dark, "/light": light} {
			// A later import replaces an imported picture.
			if dead, retrying := r.bring(s.url + path); dead+retrying != 0 || r.avatarOf(1) != want {
				t.Errorf("%s: %d dead, %d retrying, %q", path, dead, retrying, r.avatarOf(1))
			}
		}
		before := s.asked.Load()
		if dead, retrying := r.bring(""); dead+retrying != 0 || s.asked.Load() != before {
			t.Error("import of an empty URL failed or sent a request")
		}
	})
}

func TestImportKeepsUploadedAvatars(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		s := newPictureServer(t)
		if err := r.avatars.Import(t.Context(), 1, s.url+"/light"); err != nil {
			t.Fatal(err)
		}
		dark := r.uploaded("1", shade(t, 80)) // while the job is pending
		r.Work()
		if dead, retrying := r.Settle(); dead+retrying != 0 || r.avatarOf(1) != dark {
			t.Errorf("%d dead, %d retrying, %q", dead, retrying, r.avatarOf(1))
		}
		r.Call("DELETE", "/api/v1/user/avatar", "1", nil) // counts as a choice
		if dead, retrying := r.bring(s.url + "/light"); dead+retrying != 0 || r.avatarOf(1) != "" {
			t.Errorf("%d dead, %d retrying, %q", dead, retrying, r.avatarOf(1))
		}
		if n := r.Number(`SELECT count(*) FROM avatars`); n != 0 || s.asked.Load() != 2 {
			t.Errorf("%d stored, %d requested", n, s.asked.Load())
		}
	})
}

func TestImportFailuresThatDoNotHeal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		s := newPictureServer(t)
		r.Work()
		for i, url := range []string{
			s.url + "/none", s.url + "/text", s.url + "/large", s.url + "/inside", s.url + "/loop",
			"file:///etc/passwd", "http://10.0.0.1/dark", "http://[::1]:1/", "nonsense",
		} {
			if dead, retrying := r.bring(url); dead != i+1 || retrying != 0 || r.avatarOf(1) != "" {
				t.Errorf("%s: %d dead, %d retrying, %q", url, dead, retrying, r.avatarOf(1))
			}
		}
	})
}

func TestImportFailuresThatHeal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		s := newPictureServer(t)
		r.Work()
		for _, path := range []string{"/flaky", "/busy"} {
			r.Exec(`UPDATE users SET avatar_hash = NULL`)
			s.failures.Store(1)
			if dead, retrying := r.bring(s.url + path); dead != 0 || retrying != 1 || r.avatarOf(1) != "" {
				t.Fatalf("%s: %d dead, %d retrying, %q", path, dead, retrying, r.avatarOf(1))
			}
			r.Advance(time.Minute)
			testkit.Eventually(t, path+" healing", func() bool { return r.avatarOf(1) != "" })
			r.Settle()
		}
	})
}

func TestPrivatePicturesAreNotImported(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newPictureServer(t)
		r := newRig(t, db, options{reach: []netip.Prefix{}})
		r.Work()
		for i, url := range []string{s.url + "/dark", strings.Replace(s.url, "127.0.0.1", "localhost", 1) + "/dark"} {
			if dead, _ := r.bring(url); dead != i+1 || s.asked.Load() != 0 {
				t.Errorf("%s: %d dead, %d requests", url, dead, s.asked.Load())
			}
		}
	})
}

func TestImportIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		failed := errors.New("failed")
		err := r.DB.Tx(t.Context(), func(ctx context.Context) error {
			return errors.Join(r.avatars.Import(ctx, 1, "http://127.0.0.1:1/"), failed)
		})
		if n := r.Number(`SELECT count(*) FROM jobs`); !errors.Is(err, failed) || n != 0 {
			t.Errorf("%v, %d jobs", err, n)
		}
	})
}

func TestImportForDeletedUser(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		s := newPictureServer(t)
		if err := r.avatars.Import(t.Context(), 1, s.url+"/dark"); err != nil {
			t.Fatal(err)
		}
		r.Exec(`DELETE FROM users WHERE id = 1`)
		r.Work()
		if dead, retrying := r.Settle(); dead+retrying != 0 || r.Number(`SELECT count(*) FROM avatars`) != 0 {
			t.Errorf("%d dead, %d retrying", dead, retrying)
		}
	})
}
