package avatar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	red   = color.RGBA{255, 0, 0, 255}
	green = color.RGBA{0, 255, 0, 255}
	blue  = color.RGBA{0, 0, 255, 255}
	white = color.RGBA{255, 255, 255, 255}
)

// canvas returns a picture of a uniform color.
func canvas(w, h int, c color.Color) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	fill(m, m.Bounds(), c)
	return m
}

func fill(m *image.RGBA, r image.Rectangle, c color.Color) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			m.Set(x, y, c)
		}
	}
}

func pngOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// gifOf returns an animation of identical frames.
func gifOf(t testing.TB, w, h, frames int, c color.Color) []byte {
	t.Helper()
	var g gif.GIF
	for range frames {
		g.Image = append(g.Image, image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{c}))
		g.Delay = append(g.Delay, 1)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// claim returns a PNG header that declares a size, without pixels.
func claim(w, h uint32) []byte {
	header := []byte("IHDR")
	header = binary.BigEndian.AppendUint32(header, w)
	header = binary.BigEndian.AppendUint32(header, h)
	header = append(header, 8, 6, 0, 0, 0)
	out := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d")
	out = append(out, header...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(header))
}

func square(t testing.TB, file []byte) (picture, image.Image) {
	t.Helper()
	p, err := newPictures().makeAvatar(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	m, format, err := image.Decode(bytes.NewReader(p.data))
	if err != nil || "image/"+format != p.contentType {
		t.Fatalf("%s said to be %s: %v", format, p.contentType, err)
	}
	if size := m.Bounds().Size(); size != image.Pt(256, 256) {
		t.Errorf("the avatar measures %v", size)
	}
	return p, m
}

// near reports whether two colors look the same. JPEG is not exact.
func near(a, b color.Color) bool {
	const tolerance = 12 << 8
	r1, g1, b1, a1 := a.RGBA()
	r2, g2, b2, a2 := b.RGBA()
	off := func(x, y uint32) bool { return max(x, y)-min(x, y) > tolerance }
	return !off(r1, r2) && !off(g1, g2) && !off(b1, b2) && !off(a1, a2)
}

func TestFormats(t *testing.T) {
	t.Parallel()
	translucent := color.NRGBA{0, 255, 0, 128}
	gray := image.NewGray16(image.Rect(0, 0, 30, 20))
	deep := image.NewNRGBA64(image.Rect(0, 0, 10, 10))
	for name, c := range map[string]struct {
		file        []byte
		contentType string
		colour      color.Color
	}{
		"PNG":                    {pngOf(t, canvas(300, 200, red)), "image/jpeg", red},
		"PNG, one pixel":         {pngOf(t, canvas(1, 1, blue)), "image/jpeg", blue},
		"PNG, translucent":       {pngOf(t, canvas(300, 300, translucent)), "image/png", translucent},
		"PNG, gray, 16 bits":     {pngOf(t, gray), "image/jpeg", color.Black},
		"PNG, deep, all clear":   {pngOf(t, deep), "image/png", color.Transparent},
		"PNG, thin and high":     {pngOf(t, canvas(1, 4096, green)), "image/jpeg", green},
		"PNG, as wide as may be": {pngOf(t, canvas(4096, 1, green)), "image/jpeg", green},
		"JPEG":                   {jpegOf(t, canvas(640, 480, blue)), "image/jpeg", blue},
		"GIF":                    {gifOf(t, 60, 40, 1, green), "image/jpeg", green},
		"GIF of many frames":     {gifOf(t, 20, 20, 2000, red), "image/jpeg", red},
		"WebP, lossy":            {file(t, "lossy.webp"), "image/jpeg", blue},
		"WebP, lossless":         {file(t, "lossless.webp"), "image/jpeg", red},
		"WebP, translucent":      {file(t, "alpha.webp"), "image/png", translucent},
		"with more behind it":    {append(pngOf(t, canvas(9, 9, red)), "<script>alert(1)</script>"...), "image/jpeg", red},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, m := square(t, c.file)
			if p.contentType != c.contentType {
				t.Errorf("%s, want %s", p.contentType, c.contentType)
			}
			for _, at := range []image.Point{{0, 0}, {255, 0}, {128, 128}, {255, 255}} {
				if got := m.At(at.X, at.Y); !near(got, c.colour) {
					t.Errorf("at %v %v, want %v", at, got, c.colour)
				}
			}
			if again, _ := square(t, c.file); again.hash != p.hash || len(p.hash) != 64 {
				t.Errorf("hashes %s and %s", p.hash, again.hash)
			}
			if bytes.Contains(p.data, []byte("script")) {
				t.Error("something of the file is left")
			}
		})
	}
}

// Colors of a lossy WebP are not desaturated.
func TestColoursOfWebP(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]color.NRGBA{"lossy.webp": {0, 0, 255, 255}, "alpha.webp": {0, 255, 0, 255}} {
		m, err := decodeWebP(bytes.NewReader(file(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := color.NRGBAModel.Convert(m.At(9, 9)).(color.NRGBA)
		if got.A = 255; !near(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestPicturesAreCroppedToTheMiddle(t *testing.T) {
	t.Parallel()
	wide, high := canvas(900, 300, red), canvas(301, 900, red)
	fill(wide, image.Rect(300, 0, 600, 300), green)
	fill(high, image.Rect(0, 300, 301, 600), green)
	for name, m := range map[string]image.Image{"wide": wide, "high": high} {
		_, got := square(t, pngOf(t, m))
		for _, at := range []image.Point{{4, 4}, {251, 4}, {128, 128}, {4, 251}, {251, 251}} {
			if !near(got.At(at.X, at.Y), green) {
				t.Errorf("%s: at %v %v", name, at, got.At(at.X, at.Y))
			}
		}
	}
}

// withEXIF inserts an EXIF segment into a JPEG.
func withEXIF(jpeg []byte, order binary.AppendByteOrder, orientation uint16) []byte {
	tiff := []byte("MM")
	if order == binary.LittleEndian {
		tiff = []byte("II")
	}
	tiff = order.AppendUint16(tiff, 42)
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	for _, entry := range [][2]uint16{{0x010f, 7}, {0x0112, orientation}} { // camera maker, orientation
		tiff = order.AppendUint16(tiff, entry[0])
		tiff = order.AppendUint16(tiff, 3)
		tiff = order.AppendUint32(tiff, 1)
		tiff = order.AppendUint16(tiff, entry[1])
		tiff = order.AppendUint16(tiff, 0)
	}
	segment := append([]byte("Exif\x00\x00"), tiff...)
	segment = append(segment, "where this was taken"...)
	out := append([]byte{}, jpeg[:2]...)
	out = append(out, 0xff, 0xe1)
	out = binary.BigEndian.AppendUint16(out, uint16(len(segment)+2))
	out = append(out, segment...)
	return append(out, jpeg[2:]...)
}

// The quarters of the stored picture are red, green / blue, white.
func TestOrientation(t *testing.T) {
	t.Parallel()
	m := canvas(400, 400, red)
	fill(m, image.Rect(200, 0, 400, 200), green)
	fill(m, image.Rect(0, 200, 200, 400), blue)
	fill(m, image.Rect(200, 200, 400, 400), white)
	stored := jpegOf(t, m)
	names := map[color.Color]string{red: "R", green: "G", blue: "B", white: "W"}
	for orientation, want := range map[uint16]string{
		0: "RG/BW", 1: "RG/BW", 2: "GR/WB", 3: "WB/GR", 4: "BW/RG",
		5: "RB/GW", 6: "BR/WG", 7: "WG/BR", 8: "GW/RB", 9: "RG/BW",
	} {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			file := withEXIF(stored, order, orientation)
			p, got := square(t, file)
			seen := ""
			for _, at := range []image.Point{{60, 60}, {196, 60}, {60, 196}, {196, 196}} {
				for c, name := range names {
					if near(got.At(at.X, at.Y), c) {
						seen += name
					}
				}
			}
			if want := strings.ReplaceAll(want, "/", ""); seen != want {
				t.Errorf("orientation %d, %v: %s, want %s", orientation, order, seen, want)
			}
			if bytes.Contains(p.data, []byte("Exif")) || bytes.Contains(p.data, []byte("where")) {
				t.Error("the metadata was not removed")
			}
		}
	}
}

func TestBrokenEXIFIsIgnored(t *testing.T) {
	t.Parallel()
	whole := withEXIF([]byte{0xff, 0xd8, 0xff, 0xda}, binary.LittleEndian, 6)
	if got := exifOrientation(whole); got != 6 {
		t.Fatalf("orientation %d", got)
	}
	tag := bytes.Index(whole, []byte{0x12, 0x01}) + 10 // position of the orientation
	for n := range tag {
		if got := exifOrientation(whole[:n]); got != 1 {
			t.Errorf("the first %d bytes: %d", n, got)
		}
	}
	for i := range whole {
		broken := bytes.Clone(whole)
		broken[i] = 0xff
		_ = exifOrientation(broken) // must not panic
	}
}

func FuzzEXIF(f *testing.F) {
	f.Add(withEXIF([]byte{0xff, 0xd8, 0xff, 0xda}, binary.LittleEndian, 6))
	f.Add(withEXIF([]byte{0xff, 0xd8, 0xff, 0xda}, binary.BigEndian, 3))
	f.Fuzz(func(t *testing.T, file []byte) {
		if o := exifOrientation(file); o < 1 || o > 8 {
			t.Errorf("orientation %d", o)
		}
	})
}

// webpOf returns a WebP whose header has one size and whose picture has another.
func webpOf(w, h int, chunk []byte) []byte {
	head := []byte{0, 0, 0, 0, byte(w - 1), byte((w - 1) >> 8), byte((w - 1) >> 16), byte(h - 1), byte((h - 1) >> 8), byte((h - 1) >> 16)}
	body := append([]byte("WEBPVP8X\x0a\x00\x00\x00"), head...)
	body = append(body, chunk...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func TestInvalidPicturesAreRejected(t *testing.T) {
	t.Parallel()
	good := map[string][]byte{
		"PNG": pngOf(t, canvas(50, 50, red)), "JPEG": jpegOf(t, canvas(50, 50, red)), "GIF": gifOf(t, 50, 50, 2, red),
		"lossy WebP": file(t, "lossy.webp"), "lossless WebP": file(t, "lossless.webp"), "translucent WebP": file(t, "alpha.webp"),
	}
	const notPicture, tooLarge = "validation.image", "validation.image_size"
	type refusal struct {
		file   []byte
		reason string
	}
	cases := map[string]refusal{
		"text":                   {[]byte("hello"), notPicture},
		"one byte":               {[]byte{0x89}, notPicture},
		"SVG":                    {[]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`), notPicture},
		"HTML before a PNG":      {append([]byte("<html>"), good["PNG"]...), notPicture},
		"BMP":                    {[]byte("BM" + strings.Repeat("\x00", 60)), notPicture},
		"PDF":                    {[]byte("%PDF-1.7\n"), notPicture},
		"script called GIF":      {[]byte("GIF89a\x02\x00\x02\x00=1;alert(1)//"), notPicture},
		"GIF of no size":         {[]byte("GIF89a\x00\x00\x00\x00\x00\x00\x00;"), notPicture},
		"RIFF that is sound":     {[]byte("RIFF\x24\x00\x00\x00WAVEfmt "), notPicture},
		"PNG, 30000 × 30000":     {claim(30000, 30000), tooLarge},
		"PNG, 4097 × 1":          {pngOf(t, canvas(4097, 1, red)), tooLarge},
		"PNG, 1 × 4097":          {pngOf(t, canvas(1, 4097, red)), tooLarge},
		"PNG, 2³¹ × 2³¹":         {claim(1<<31, 1<<31), notPicture},
		"PNG, 2³¹-1 × 1":         {claim(1<<31-1, 1), tooLarge},
		"PNG of no size":         {claim(0, 0), notPicture},
		"PNG without its pixels": {claim(4096, 4096), notPicture},
		"GIF, 65535 × 65535":     {[]byte("GIF89a\xff\xff\xff\xff\x00\x00\x00;"), tooLarge},
		"JPEG, 65535 × 65535":    {[]byte("\xff\xd8\xff\xc0\x00\x0b\x08\xff\xff\xff\xff\x01\x01\x11\x00\xff\xda\x00\x02"), tooLarge},
		"WebP, 16384 × 16384":    {webpOf(16384, 16384, nil), tooLarge},
		// The container has a small size, the picture in it a large one.
		"WebP that hides its size": {webpOf(10, 10, append([]byte("VP8L\x06\x00\x00\x00\x2f"), 0xff, 0xff, 0xff, 0x0f, 0)), notPicture},
	}
	for name, data := range good {
		cases["half of a "+name] = refusal{data[:len(data)/2], notPicture}
		cases["head of a "+name] = refusal{data[:16], notPicture}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newPictures().makeAvatar(t.Context(), c.file)
			refused, ok := errors.AsType[*fault.Error](err)
			if !ok {
				t.Fatalf("%v", err)
			}
			want := fault.Field{Path: "avatar", Message: c.reason}
			if c.reason == tooLarge {
				want.Args = map[string]any{"max": 4096}
			}
			if diff := cmp.Diff([]fault.Field{want}, refused.Fields); diff != "" || refused.Kind != fault.Invalid {
				t.Error(diff, refused.Kind)
			}
		})
	}
}

// scanBomb returns a progressive JPEG of about size bytes that covers its 4096 × 4096 pixels again
// every few bytes.
func scanBomb(size int) []byte {
	out := []byte{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0} // one quantization table of ones
	out = append(out, bytes.Repeat([]byte{1}, 64)...)
	out = append(out, 0xff, 0xc2, 0, 11, 8, 0x10, 0, 0x10, 0, 1, 1, 0x11, 0) // progressive, one component
	for _, table := range [][2]byte{{0x00, 0x00}, {0x10, 0xe0}} {            // DC: no change; AC: a run of 2¹⁴ blocks or more
		out = append(out, 0xff, 0xc4, 0, 20, table[0], 1)
		out = append(out, make([]byte, 15)...)
		out = append(out, table[1])
	}
	out = append(out, 0xff, 0xda, 0, 8, 1, 1, 0x00, 0, 0, 0)
	out = append(out, make([]byte, 512*512/8)...) // one bit per block
	var bits string
	for range 9 {
		bits += "0" + strings.Repeat("1", 14) // a run of 32,767 blocks
	}
	bits += strings.Repeat("1", 8-len(bits)%8)
	scan := []byte{0xff, 0xda, 0, 8, 1, 1, 0x00, 1, 63, 0x10}
	for i := 0; i < len(bits); i += 8 {
		var b byte
		_, _ = fmt.Sscanf(bits[i:i+8], "%b", &b)
		if scan = append(scan, b); b == 0xff {
			scan = append(scan, 0)
		}
	}
	for len(out) < size {
		out = append(out, scan...)
	}
	return append(out, 0xff, 0xd9)
}

func BenchmarkLargest(b *testing.B) {
	files := map[string][]byte{
		"png8":  pngOf(b, canvas(4096, 4096, red)),
		"png16": pngOf(b, image.NewNRGBA64(image.Rect(0, 0, 2890, 2890))),
		"jpeg":  jpegOf(b, canvas(4096, 4096, red)),
		"gif":   gifOf(b, 4096, 4096, 1, red),
	}
	p := newPictures()
	for name, file := range files {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.makeAvatar(b.Context(), file); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
