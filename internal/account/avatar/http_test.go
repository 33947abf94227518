package avatar_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"image/png"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/account/avatar"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/accounttest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// shade returns a picture of a uniform gray.
func shade(t *testing.T, y uint8) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 20, 20))
	for i := range m.Pix {
		m.Pix[i] = y
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func glass(t *testing.T) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 20, 20))
	m.Set(3, 3, color.NRGBA{255, 0, 0, 100})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUploadAndShow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		for contentType, picture := range map[string][]byte{"image/jpeg": shade(t, 80), "image/png": glass(t)} {
			hash := r.uploaded("1", picture)
			if r.avatarOf(1) != hash || r.avatarOf(2) != "" {
				t.Errorf("the users have %q and %q", r.avatarOf(1), r.avatarOf(2))
			}
			path := "/api/v1/avatars/" + hash
			w := r.Call("GET", path, "", nil)
			sum := sha256.Sum256(w.Body.Bytes())
			if w.Code != 200 || hex.EncodeToString(sum[:]) != hash {
				t.Fatalf("%d %x", w.Code, sum)
			}
			for name, want := range map[string]string{
				"Content-Type": contentType, "Cache-Control": "public, max-age=31536000, immutable", "ETag": `"` + hash + `"`,
				"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			for tag, status := range map[string]int{`"` + hash + `"`: 304, `W/"` + hash + `"`: 304, `"x"`: 200} {
				if w := r.Call("GET", path, "", nil, "If-None-Match", tag); w.Code != status || (status == 304) != (w.Body.Len() == 0) {
					t.Errorf("If-None-Match %s: %d", tag, w.Code)
				}
			}
			// A caller's token does not make the response private.
			if w := r.Call("GET", path, "1", nil); !strings.HasPrefix(w.Header().Get("Cache-Control"), "public") {
				t.Errorf("Cache-Control %q", w.Header().Get("Cache-Control"))
			}
		}
	})
}

func TestUnknownAvatars(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		hash := r.uploaded("1", shade(t, 80))
		for _, other := range []string{strings.Repeat("0", 64), strings.ToUpper(hash), hash[:63], hash + "0", hash + ".jpg", "x", "..", "%00"} {
			accounttest.WantRefusal(t, r.Call("GET", "/api/v1/avatars/"+other, "", nil), 404, "")
		}
	})
}

func TestUploadRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		good := shade(t, 80)
		padded := func(size int) []byte { return append(bytes.Clone(good), make([]byte, size-len(good))...) }
		accounttest.WantRefusal(t, r.upload("", part{"avatar", good}), 401, "")
		accounttest.WantRefusal(t, r.upload("1"), 422, "avatar")
		accounttest.WantRefusal(t, r.upload("1", part{"avatar", nil}), 422, "avatar")
		accounttest.WantRefusal(t, r.upload("1", part{"picture", good}), 422, "avatar")
		accounttest.WantRefusal(t, r.upload("1", part{"avatar", []byte("<svg/>")}), 422, "avatar")
		accounttest.WantRefusal(t, r.upload("1", part{"avatar", good[:30]}), 422, "avatar")
		accounttest.WantRefusal(t, r.upload("1", part{"avatar", padded(avatar.MaxBytes + 1)}), 413, "")
		accounttest.WantRefusal(t, r.upload("1", part{"other", make([]byte, avatar.MaxBytes+1<<20)}, part{"avatar", good}), 413, "")

		const path = "/api/v1/user/avatar"
		body, contentType := form(t, part{"avatar", good})
		whole := body.String()
		for name, c := range map[string]struct {
			contentType, body string
			status            int
		}{
			"JSON":             {"application/json", `{"avatar": "x"}`, 415},
			"a bare picture":   {"image/png", string(good), 415},
			"no type":          {"", whole, 415},
			"a broken type":    {"multipart/form-data; boundary", whole, 415},
			"other multipart":  {strings.Replace(contentType, "form-data", "mixed", 1), whole, 415},
			"no boundary":      {"multipart/form-data", whole, 400},
			"another boundary": {"multipart/form-data; boundary=other", whole, 400},
			"cut off":          {contentType, whole[:len(whole)-40], 400},
			"empty":            {contentType, "", 400},
		} {
			w := r.Call("POST", path, "1", strings.NewReader(c.body), "Content-Type", c.contentType)
			if w.Code != c.status {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
			accounttest.WantRefusal(t, w, c.status, "")
		}
		accounttest.WantRefusal(t, r.Call("POST", path, "1", nil), 422, "avatar")
		if got := r.avatarOf(1); got != "" || r.Number(`SELECT count(*) FROM avatars`) != 0 {
			t.Errorf("a refused picture is stored: %q", got)
		}
		// Accepted: a file of exactly the maximum size, and the last of two files next to another
		// field.
		r.uploaded("1", padded(avatar.MaxBytes))
		if w := r.upload("2", part{"note", []byte("x")}, part{"avatar", []byte("no")}, part{"avatar", good}); w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestErrorLanguage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		body, contentType := form(t, part{"avatar", []byte("no")})
		w := r.Call("POST", "/api/v1/user/avatar", "1", body, "Content-Type", contentType, "Accept-Language", "fr")
		if want := "Ce fichier doit être une image PNG, JPEG, WebP ou GIF."; !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s", w.Body)
		}
	})
}

func TestDeleteAvatar(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		const path = "/api/v1/user/avatar"
		hash := r.uploaded("1", shade(t, 80))
		for range 2 { // the second request removes nothing
			if w := r.Call("DELETE", path, "1", nil); w.Code != 204 || w.Body.Len() != 0 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if got := r.avatarOf(1); got != "" {
				t.Errorf("the user has %q", got)
			}
			accounttest.WantRefusal(t, r.Call("GET", "/api/v1/avatars/"+hash, "", nil), 404, "")
		}
		accounttest.WantRefusal(t, r.Call("DELETE", path, "", nil), 401, "")
	})
}

// A picture is stored once and deleted with its last user.
func TestPicturesAreDeletedWithTheLastUser(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		stored := func() int { return r.Number(`SELECT count(*) FROM avatars`) }
		first, same := r.uploaded("1", shade(t, 80)), r.uploaded("2", shade(t, 80))
		if first != same || stored() != 1 {
			t.Fatalf("%s, %s: %d stored", first, same, stored())
		}
		r.uploaded("1", shade(t, 80)) // the same picture again
		second := r.uploaded("1", shade(t, 160))
		if r.avatarOf(2) != first || stored() != 2 {
			t.Errorf("the other user has %q of %d", r.avatarOf(2), stored())
		}
		r.Call("DELETE", "/api/v1/user/avatar", "2", nil)
		if stored() != 1 || r.avatarOf(1) != second {
			t.Errorf("%d stored, the first user has %q", stored(), r.avatarOf(1))
		}
		r.Call("DELETE", "/api/v1/user/avatar", "1", nil)
		if stored() != 0 {
			t.Errorf("%d stored", stored())
		}
	})
}

// If users concurrently switch between pictures, pictures in use remain, and unused pictures are
// deleted.
func TestConcurrentAvatars(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		pictures := [][]byte{shade(t, 80), shade(t, 160)}
		var wg sync.WaitGroup
		for i, user := range []int64{1, 2, 1, 2} {
			wg.Go(func() {
				for n := range 10 {
					var err error
					if n%5 == 4 {
						err = r.avatars.Clear(t.Context(), user)
					} else {
						_, err = r.avatars.Set(t.Context(), user, pictures[(i+n)%2])
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		orphans := r.Number(`SELECT count(*) FROM avatars WHERE hash NOT IN (SELECT avatar_hash FROM users WHERE avatar_hash IS NOT NULL)`)
		if orphans != 0 {
			t.Errorf("%d unused pictures, want 0", orphans)
		}
		r.uploaded("1", pictures[0])
		r.uploaded("2", pictures[1])
		if n := r.Number(`SELECT count(*) FROM avatars`); n != 2 {
			t.Errorf("%d stored", n)
		}
	})
}

// Deleting a picture waits for a transaction that is about to use it.
func TestPictureIsTakenWhileItIsDropped(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		hash := r.uploaded("1", shade(t, 80))
		cleared := make(chan error, 1)
		err := r.DB.Tx(t.Context(), func(ctx context.Context) error {
			if _, err := r.avatars.Set(ctx, 2, shade(t, 80)); err != nil {
				return err
			}
			go func() { cleared <- r.avatars.Clear(t.Context(), 1) }()
			time.Sleep(200 * time.Millisecond) // Clear must not end in this time: it waits for the lock
			return nil
		})
		if err := errors.Join(err, <-cleared); err != nil {
			t.Fatal(err)
		}
		if r.avatarOf(1) != "" || r.avatarOf(2) != hash {
			t.Errorf("the users have %q and %q", r.avatarOf(1), r.avatarOf(2))
		}
		if w := r.Call("GET", "/api/v1/avatars/"+hash, "", nil); w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestUploadsAreLimited(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.New(t, sqldb.SQLite), options{rates: map[string]int{"avatar": 2}})
	for range 2 {
		r.uploaded("1", shade(t, 80))
	}
	w := r.upload("1", part{"avatar", shade(t, 80)})
	accounttest.WantRefusal(t, w, 429, "")
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	accounttest.WantRefusal(t, r.Call("DELETE", "/api/v1/user/avatar", "1", nil), 429, "")
	r.uploaded("2", shade(t, 80))
}
