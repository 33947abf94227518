package avatar

import (
	"bytes"
	"errors"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"testing"

	"github.com/tenantry/tenantry/internal/fault"
)

// FuzzPicture checks that decoding never panics, that pictures become a square, and that other
// files are rejected.
func FuzzPicture(f *testing.F) {
	for _, seed := range [][]byte{
		pngOf(f, canvas(9, 5, red)), interlaced(pngOf(f, canvas(4, 4, red))), jpegOf(f, canvas(17, 9, red)), gifOf(f, 5, 7, 2, red),
		file(f, "lossy.webp"), file(f, "lossless.webp"), file(f, "alpha.webp"), progressiveOf(32), claim(4096, 4096),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 64<<10 {
			return
		}
		p, err := newPictures().makeAvatar(t.Context(), file)
		if err != nil {
			if !errors.As(err, new(*fault.Error)) {
				t.Fatal(err)
			}
			return
		}
		config, _, err := image.DecodeConfig(bytes.NewReader(p.data))
		if err != nil || config.Width != avatarSide || config.Height != avatarSide {
			t.Fatalf("%d × %d, %v", config.Width, config.Height, err)
		}
	})
}
