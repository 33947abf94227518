package blackbox_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// An uploaded picture appears in the profile and can be downloaded without a login.
func TestAvatarInTheProfile(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		picture := image.NewRGBA(image.Rect(0, 0, 300, 200))
		picture.Set(1, 1, color.White)
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("avatar", "me.png")
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(part, picture); err != nil {
			t.Fatal(err)
		}
		if err := form.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/v1/user/avatar", &body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.Header.Set("Authorization", "Bearer "+o.Token)
		address := s.Do(r).Want(200).Str("data.avatar")
		if me := s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200); me.At("user.avatar") != address {
			t.Errorf("me: %s, want %s", me.Text, address)
		}
		shown := s.Call("GET", strings.TrimPrefix(address, s.URL), "", nil).Want(200)
		if config, err := png.DecodeConfig(strings.NewReader(shown.Text)); err == nil && (config.Width != 256 || config.Height != 256) {
			t.Errorf("the picture has %d×%d pixels", config.Width, config.Height)
		}
		if !strings.Contains(shown.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("Cache-Control: %s", shown.Header.Get("Cache-Control"))
		}
		s.Call("DELETE", "/api/v1/user/avatar", o.Token, nil).Want(204)
		if me := s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200); me.At("user.avatar") != nil {
			t.Errorf("me after the deletion: %s", me.Text)
		}
	})
}
