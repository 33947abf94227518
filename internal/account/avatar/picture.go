package avatar

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
	"golang.org/x/sync/semaphore"
)

const (
	// avatarSide is the side of an avatar, in pixels.
	avatarSide = 256
	// maxPictureSide is the longest side of a picture that is decoded, in pixels.
	maxPictureSide = 4096
	// maxBytesPerPixel is the most memory that decoding takes, in bytes per pixel: a
	// progressive JPEG with four components keeps four coefficients of 32 bits and
	// four samples for each.
	maxBytesPerPixel = 20
	// pictureMemory is how much memory all decoding at one time may take, in bytes:
	// enough for one of the largest pictures, or for many ordinary ones.
	pictureMemory = maxPictureSide * maxPictureSide * maxBytesPerPixel
	// pictureTime bounds the decoding of one picture. A good one takes less than a
	// second; a JPEG of two megabytes can be made to take hours.
	pictureTime = 10 * time.Second
	// pictureQuality is the JPEG quality of an avatar, of 100.
	pictureQuality = 88
)

// picture is an avatar as it is stored.
type picture struct {
	hash        string // SHA-256 of data, in hex
	contentType string
	data        []byte
}

// format is a file format that pictures may have.
type format struct {
	magic         string // how a file begins; ? is any byte
	bytesPerPixel int64  // the most memory that decoding takes
	config        func(io.Reader) (image.Config, error)
	decode        func(io.Reader) (image.Image, error)
	orientation   func(file []byte) int
}

// formats are recognised by how a file begins, never by its name or its declared
// type.
var formats = []format{
	{"\x89PNG\r\n\x1a\n", 8, png.DecodeConfig, png.Decode, upright},
	{"\xff\xd8\xff", maxBytesPerPixel, jpeg.DecodeConfig, jpeg.Decode, exifOrientation},
	{"RIFF????WEBPVP8", 12, webp.DecodeConfig, decodeWebP, upright},
	{"GIF87a", 2, gif.DecodeConfig, gif.Decode, upright}, // only the first frame
	{"GIF89a", 2, gif.DecodeConfig, gif.Decode, upright},
}

func upright([]byte) int { return 1 }

// decodeWebP decodes a WebP. Lossy ones use BT.601's studio range (16 to 235 for
// luma, 16 to 240 for chroma; RFC 6386, section 9.2), but Go's YCbCr has the full
// range: unless the values are stretched, black turns out gray.
func decodeWebP(r io.Reader) (image.Image, error) {
	m, err := webp.Decode(r)
	switch m := m.(type) {
	case *image.YCbCr:
		stretch(m)
	case *image.NYCbCrA:
		stretch(&m.YCbCr)
	}
	return m, err
}

func stretch(m *image.YCbCr) {
	var luma, chroma [256]uint8
	for i := range 256 {
		luma[i] = uint8(min(max((i-16)*255/219, 0), 255))
		chroma[i] = uint8(min(max((i-128)*255/224+128, 0), 255))
	}
	for i, v := range m.Y {
		m.Y[i] = luma[v]
	}
	for _, plane := range [][]uint8{m.Cb, m.Cr} {
		for i, v := range plane {
			plane[i] = chroma[v]
		}
	}
}

func formatOf(file []byte) (format, bool) {
next:
	for _, f := range formats {
		if len(file) < len(f.magic) {
			continue
		}
		for i := range f.magic {
			if f.magic[i] != '?' && f.magic[i] != file[i] {
				continue next
			}
		}
		return f, true
	}
	return format{}, false
}

// pictures turns files into avatars, within limits of memory and time.
type pictures struct {
	memory *semaphore.Weighted
	time   time.Duration
}

func newPictures() *pictures {
	return &pictures{memory: semaphore.NewWeighted(pictureMemory), time: pictureTime}
}

// square turns a file into an avatar: the middle of the picture, as a square. It
// is a PNG where any of it is transparent, else a JPEG. A file that is no picture
// is errNotPicture.
func (p *pictures) square(ctx context.Context, file []byte) (picture, error) {
	f, ok := formatOf(file)
	if !ok {
		return picture{}, errNotPicture
	}
	config, err := f.config(bytes.NewReader(file))
	if err != nil {
		return picture{}, errNotPicture.Wrap(err)
	}
	if config.Width < 1 || config.Height < 1 {
		return picture{}, errNotPicture
	}
	if config.Width > maxPictureSide || config.Height > maxPictureSide {
		return picture{}, errTooManyPixels()
	}
	memory := int64(config.Width) * int64(config.Height) * f.bytesPerPixel
	if err := p.memory.Acquire(ctx, memory); err != nil {
		return picture{}, err
	}
	defer p.memory.Release(memory)

	limited, cancel := context.WithTimeout(ctx, p.time)
	defer cancel()
	decoded, err := f.decode(&timedReader{ctx: limited, r: bytes.NewReader(file)})
	if ctx.Err() != nil {
		return picture{}, ctx.Err() // not the picture's fault
	}
	if err != nil {
		return picture{}, errNotPicture.Wrap(err)
	}
	if size := decoded.Bounds().Size(); size.X < 1 || size.Y < 1 {
		return picture{}, errNotPicture
	}
	return encode(turn(shrink(decoded), f.orientation(file)))
}

// shrink returns the middle square of a picture at the size of an avatar.
func shrink(from image.Image) *image.RGBA {
	b := from.Bounds()
	side := min(b.Dx(), b.Dy())
	corner := b.Min.Add(image.Pt((b.Dx()-side)/2, (b.Dy()-side)/2))
	middle := image.Rectangle{Min: corner, Max: corner.Add(image.Pt(side, side))}
	to := image.NewRGBA(image.Rect(0, 0, avatarSide, avatarSide))
	draw.CatmullRom.Scale(to, to.Bounds(), from, middle, draw.Src, nil)
	return to
}

func encode(square *image.RGBA) (picture, error) {
	var out bytes.Buffer
	var err error
	contentType := "image/jpeg"
	if square.Opaque() {
		err = jpeg.Encode(&out, square, &jpeg.Options{Quality: pictureQuality})
	} else {
		contentType = "image/png"
		err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, square)
	}
	if err != nil {
		return picture{}, fmt.Errorf("encode an avatar: %w", err)
	}
	sum := sha256.Sum256(out.Bytes())
	return picture{hash: hex.EncodeToString(sum[:]), contentType: contentType, data: out.Bytes()}, nil
}

// timedReader fails once its context has ended, and so stops a decoder that takes
// too long. It returns few bytes at a time, because a decoder may work for long
// on a few kilobytes.
type timedReader struct {
	ctx context.Context
	r   io.Reader
}

func (t *timedReader) Read(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	return t.r.Read(p[:min(len(p), 512)])
}
