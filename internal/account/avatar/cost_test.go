package avatar

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"runtime"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
)

// refusedAs returns the message of the field of a refusal.
func refusedAs(t *testing.T, err error) string {
	t.Helper()
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || len(refused.Fields) != 1 {
		t.Fatalf("%v", err)
	}
	return refused.Fields[0].Message
}

// A JPEG that is small, of an allowed size, and goes over its pixels thousands of times.
func TestDecodingIsBoundedInTime(t *testing.T) {
	t.Parallel()
	p := newPictures()
	began := clock.System().Now()
	_, err := p.square(t.Context(), scanBomb(MaxBytes))
	if took := clock.System().Now().Sub(began); refusedAs(t, err) != "validation.image_cost" || took > 8*time.Second {
		t.Errorf("%v after %v", err, took)
	}
	// What the headers don't tell is stopped by the clock.
	p.time = time.Nanosecond
	_, err = p.square(t.Context(), jpegOf(t, canvas(1000, 1000, red)))
	if refusedAs(t, err) != "validation.image_cost" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// One picture is decoded on each core. Who waits does so no longer than their request, and
// only so many wait.
func TestDecodingIsBoundedInNumber(t *testing.T) {
	t.Parallel()
	p, good := newPictures(), pngOf(t, canvas(10, 10, red))
	cores := int64(runtime.GOMAXPROCS(0))
	if err := p.cores.Acquire(t.Context(), cores); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.square(ctx, good); !errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*fault.Error)) {
		t.Errorf("who waits for a core: %v", err)
	}
	if !p.queue.TryAcquire(cores * (1 + queuePerCore)) {
		t.Fatal("who gave up is still in the queue")
	}
	if _, err := p.square(t.Context(), good); !errors.Is(err, errBusy) {
		t.Errorf("one too many: %v", err)
	}
	p.queue.Release(cores * (1 + queuePerCore))
	p.cores.Release(cores)
	if _, err := p.square(t.Context(), good); err != nil {
		t.Error(err)
	}
}

// progressive turns a baseline JPEG's header into that of a progressive one.
func progressive(file []byte) []byte {
	return bytes.Replace(file, []byte{0xff, 0xc0}, []byte{0xff, 0xc2}, 1)
}

// interlaced marks a PNG as interlaced, without having its pixels in that order.
func interlaced(file []byte) []byte {
	out := bytes.Clone(file)
	out[28] = 1
	binary.BigEndian.PutUint32(out[29:], crc32.ChecksumIEEE(out[12:29]))
	return out
}

// sized returns a JPEG with another size in its header.
func sized(file []byte, w, h uint16) []byte {
	out := bytes.Clone(file)
	at := bytes.Index(out, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(out[at+5:], h)
	binary.BigEndian.PutUint16(out[at+7:], w)
	return out
}

// What would take too much memory is refused by its headers; what is not stays within the
// bound, all that is allocated counted.
func TestDecodingIsBoundedInMemory(t *testing.T) { // alone, for it counts what the process allocates
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
		if _, err := newPictures().square(t.Context(), costly); err == nil || refusedAs(t, err) != "validation.image_cost" {
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
		p.time = time.Minute // however busy the machine is
		_, err := p.square(t.Context(), good)
		took := clock.System().Now().Sub(began)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		t.Logf("%-32s %4d ms, %3d MiB", name, took.Milliseconds(), allocated>>20)
		if err != nil || allocated > maxMemory+8<<20 { // and the small picture
			t.Errorf("%s: %v, allocates %d MiB", name, err, allocated>>20)
		}
	}
}

// progressiveOf is a progressive JPEG in gray with a scan of its means and few others.
func progressiveOf(side int) []byte {
	out := scanBomb(0)
	blocks := (side + 7) / 8
	binary.BigEndian.PutUint16(out[bytes.Index(out, []byte{0xff, 0xc2})+5:], uint16(side))
	binary.BigEndian.PutUint16(out[bytes.Index(out, []byte{0xff, 0xc2})+7:], uint16(side))
	at := bytes.Index(out, []byte{0xff, 0xda}) + 10
	return append(append(out[:at:at], make([]byte, blocks*blocks/8+1)...), 0xff, 0xd9)
}
