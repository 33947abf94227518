package avatar

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"
	"time"

	"golang.org/x/image/webp"
	"golang.org/x/sync/semaphore"
)

const (
	// avatarSide is the width and height of an avatar, in pixels.
	avatarSide = 256
	// maxPictureSide is the maximum width and height of an uploaded picture, in pixels.
	maxPictureSide = 4096
	// pictureTime limits the time for decoding one picture. pictureReads is the number of bytes
	// that a decoder can read between two checks of the time.
	pictureTime  = 2 * time.Second
	pictureReads = 128
	// queuePerCore is the number of pictures that can wait per core. Further uploads are rejected:
	// clients can retry, and each waiting upload keeps a file in memory.
	queuePerCore = 8
	// pictureQuality is the JPEG quality of avatars, up to 100.
	pictureQuality = 88
)

// picture is a stored avatar.
type picture struct {
	hash        string // SHA-256 of data in hex
	contentType string
	data        []byte
}

// format is a supported file format.
type format struct {
	magic string // start of the file; ? matches any byte
	// cost returns the maximum memory for decoding, in bytes.
	cost        func(file []byte, pixels int64) int64
	config      func(io.Reader) (image.Config, error)
	decode      func(io.Reader) (image.Image, error)
	orientation func(file []byte) int
}

// formats lists the supported formats. They are recognized by the start of the file, never by its
// name or declared type.
var formats = []format{
	{"\x89PNG\r\n\x1a\n", pngCost, png.DecodeConfig, png.Decode, noRotation},
	{"\xff\xd8\xff", jpegCost, jpeg.DecodeConfig, jpeg.Decode, exifOrientation},
	{"RIFF????WEBPVP8", webpCost, webp.DecodeConfig, decodeWebP, noRotation},
	{"GIF87a", gifCost, gif.DecodeConfig, gif.Decode, noRotation}, // first frame only
	{"GIF89a", gifCost, gif.DecodeConfig, gif.Decode, noRotation},
}

func noRotation([]byte) int { return 1 }

// decodeWebP decodes a WebP. Lossy WebP uses the studio range of BT.601 (16 to 235 for luma, 16 to
// 240 for chroma; RFC 6386, section 9.2), while Go's YCbCr uses the full range. Without the
// conversion, black would become gray.
func decodeWebP(r io.Reader) (image.Image, error) {
	m, err := webp.Decode(r)
	switch m := m.(type) {
	case *image.YCbCr:
		expandStudioRange(m)
	case *image.NYCbCrA:
		expandStudioRange(&m.YCbCr)
	}
	return m, err
}

func expandStudioRange(m *image.YCbCr) {
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

// pictures converts files to avatars, one per core at a time, with limits on memory and time.
type pictures struct {
	queue, cores *semaphore.Weighted
	time         time.Duration
}

func newPictures() *pictures {
	cores := int64(runtime.GOMAXPROCS(0))
	return &pictures{
		queue: semaphore.NewWeighted(cores * (1 + queuePerCore)), cores: semaphore.NewWeighted(cores), time: pictureTime,
	}
}

// makeAvatar converts a file to an avatar: the center square of the picture. It encodes a PNG if
// any pixel is transparent, and a JPEG otherwise. It returns errNotPicture if the file is not a
// picture, errTooCostly if it takes too much time or memory, and errBusy if the queue is full.
func (p *pictures) makeAvatar(ctx context.Context, file []byte) (picture, error) {
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
	if f.cost(file, int64(config.Width)*int64(config.Height)) > maxMemory {
		return picture{}, errTooCostly
	}
	if !p.queue.TryAcquire(1) {
		return picture{}, errBusy
	}
	defer p.queue.Release(1)
	if err := p.cores.Acquire(ctx, 1); err != nil {
		return picture{}, err
	}
	defer p.cores.Release(1)

	limited, cancel := context.WithTimeout(ctx, p.time)
	defer cancel()
	decoded, err := f.decode(&timedReader{ctx: limited, r: bytes.NewReader(file)})
	if ctx.Err() != nil {
		return picture{}, ctx.Err() // canceled by the caller
	}
	if limited.Err() != nil {
		return picture{}, errTooCostly.Wrap(limited.Err())
	}
	if err != nil {
		return picture{}, errNotPicture.Wrap(err)
	}
	if size := decoded.Bounds().Size(); size.X < 1 || size.Y < 1 {
		return picture{}, errNotPicture
	}
	small, err := cropToAvatar(limited, decoded)
	if err != nil {
		return picture{}, cmp.Or[error](ctx.Err(), errTooCostly.Wrap(err))
	}
	return encode(applyOrientation(small, f.orientation(file)))
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

// timedReader returns an error once its context is done, which stops a slow decoder. It returns few
// bytes at a time, because a decoder may take long for a few kilobytes.
type timedReader struct {
	ctx context.Context
	r   io.Reader
}

func (t *timedReader) Read(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	return t.r.Read(p[:min(len(p), pictureReads)])
}
