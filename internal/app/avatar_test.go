package app

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

// A picture goes from the upload into the profile and from there to whoever asks.
func TestAvatarInTheProfile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
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
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/v1/user/avatar", &body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.Header.Set("Authorization", "Bearer "+o.token)
		address := s.do(r).want(200).str("data.avatar")
		if me := s.call("GET", "/api/v1/auth/me", o.token, nil).want(200); me.at("user.avatar") != address {
			t.Errorf("me: %s, want %s", me.text, address)
		}
		shown := s.call("GET", strings.TrimPrefix(address, s.url), "", nil).want(200)
		if config, err := png.DecodeConfig(strings.NewReader(shown.text)); err == nil && (config.Width != 256 || config.Height != 256) {
			t.Errorf("the picture has %d×%d pixels", config.Width, config.Height)
		}
		if !strings.Contains(shown.header.Get("Cache-Control"), "immutable") {
			t.Errorf("Cache-Control: %s", shown.header.Get("Cache-Control"))
		}
		s.call("DELETE", "/api/v1/user/avatar", o.token, nil).want(204)
		if me := s.call("GET", "/api/v1/auth/me", o.token, nil).want(200); me.at("user.avatar") != nil {
			t.Errorf("me after the deletion: %s", me.text)
		}
	})
}
