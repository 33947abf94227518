//go:build !race

// Not with the race detector, which decodes large pictures a hundred times slower and does not
// matter for memory use.

package avatar

import (
	"bytes"
	"encoding/binary"
	"image"
	"runtime"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// A picture that would take too much memory is rejected because of its headers. The decoding of
// other pictures stays within the limit, counting all allocations.
func TestDecodingIsBoundedInMemory(t *testing.T) { // not parallel, because it counts the allocations of the process
	gray := jpegOf(t, image.NewGray(image.Rect(0, 0, 64, 64)))
	small := jpegOf(t, canvas(64, 64, red))
	deep := func(side int) []byte { return pngOf(t, image.NewNRGBA64(image.Rect(0, 0, side, side))) }
	lossless := func(chunks ...[]byte) []byte {
		body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
		return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
	}
	chunk := func(name string, data []byte) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data))), data...)
	}
	vp8l := func(side, size int) []byte {
		data := make([]byte, size)
		data[0] = 0x2f
		binary.LittleEndian.PutUint32(data[1:], uint32(side-1)|uint32(side-1)<<14)
		return chunk("VP8L", data)
	}
	for name, costly := range map[string][]byte{
		"16-bit PNG, 4096 × 4096":       deep(4096),
		"interlaced PNG, 4096 × 4096":   interlaced(pngOf(t, image.NewNRGBA(image.Rect(0, 0, 4096, 4096)))),
		"progressive JPEG, 4096 × 4096": progressive(sized(small, 4096, 4096)),
		"progressive gray, 4096 × 4096": progressive(sized(gray, 4096, 4096)),
		"lossless WebP, 4096 × 4096":    lossless(vp8l(4096, 1000)),
		"lossless WebP with many trees": lossless(vp8l(64, 1<<20)),
		"WebP with costly transparency": lossless(chunk("VP8X", []byte{0x10, 0, 0, 0, 63, 0, 0, 63, 0, 0}), chunk("ALPH", append([]byte{1}, make([]byte, 1<<19)...)), chunk("VP8 ", make([]byte, 30))),
	} {
		if _, err := newPictures().makeAvatar(t.Context(), costly); err == nil || refusedAs(t, err) != "validation.image_cost" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, good := range map[string][]byte{
		"8-bit PNG, 4096 × 4096":          pngOf(t, canvas(4096, 4096, red)),
		"transparent PNG, 4096 × 4096":    pngOf(t, image.NewNRGBA(image.Rect(0, 0, 4096, 4096))),
		"16-bit PNG, 2890 × 2890":         deep(2890),
		"JPEG, 4096 × 4096":               jpegOf(t, canvas(4096, 4096, red)),
		"JPEG, gray, 4096 × 4096":         jpegOf(t, image.NewGray(image.Rect(0, 0, 4096, 4096))),
		"GIF, 4096 × 4096":                gifOf(t, 4096, 4096, 3, red),
		"WebP, lossy":                     file(t, "lossy.webp"),
		"WebP, lossless":                  file(t, "lossless.webp"),
		"WebP, lossy and translucent":     file(t, "alpha.webp"),
		"progressive JPEG of the largest": progressiveOf(2900),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := clock.System().Now()
		p := newPictures()
		p.time = time.Minute // enough for a busy machine
		_, err := p.makeAvatar(t.Context(), good)
		took := clock.System().Now().Sub(began)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		t.Logf("%-32s %4d ms, %3d MiB", name, took.Milliseconds(), allocated>>20)
		if err != nil || allocated > maxMemory+8<<20 { // plus the small picture
			t.Errorf("%s: %v, allocates %d MiB", name, err, allocated>>20)
		}
	}
}
