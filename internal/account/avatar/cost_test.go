package avatar

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"runtime"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
)

// refusedAs returns the message of the only field of a validation error.
func refusedAs(t *testing.T, err error) string {
	t.Helper()
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || len(refused.Fields) != 1 {
		t.Fatalf("%v", err)
	}
	return refused.Fields[0].Message
}

// A small JPEG of an allowed size with thousands of scans is rejected quickly.
func TestDecodingIsBoundedInTime(t *testing.T) {
	t.Parallel()
	p := newPictures()
	began := clock.System().Now()
	_, err := p.makeAvatar(t.Context(), scanBomb(MaxBytes))
	if took := clock.System().Now().Sub(began); refusedAs(t, err) != "validation.image_cost" || took > 8*time.Second {
		t.Errorf("%v after %v", err, took)
	}
	// If the headers do not reveal the cost, the time limit stops the decoder.
	p.time = time.Nanosecond
	_, err = p.makeAvatar(t.Context(), jpegOf(t, canvas(1000, 1000, red)))
	if refusedAs(t, err) != "validation.image_cost" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// Each core decodes one picture at a time. Other requests wait until they are canceled, and only a
// limited number can wait.
func TestDecodingIsBoundedInNumber(t *testing.T) {
	t.Parallel()
	p, good := newPictures(), pngOf(t, canvas(10, 10, red))
	cores := int64(runtime.GOMAXPROCS(0))
	if err := p.cores.Acquire(t.Context(), cores); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.makeAvatar(ctx, good); !errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*fault.Error)) {
		t.Errorf("waiting caller: %v", err)
	}
	if !p.queue.TryAcquire(cores * (1 + queuePerCore)) {
		t.Fatal("canceled caller is still in the queue")
	}
	if _, err := p.makeAvatar(t.Context(), good); !errors.Is(err, errBusy) {
		t.Errorf("over the limit: %v", err)
	}
	p.queue.Release(cores * (1 + queuePerCore))
	p.cores.Release(cores)
	if _, err := p.makeAvatar(t.Context(), good); err != nil {
		t.Error(err)
	}
}

// progressive changes the header of a baseline JPEG to progressive.
func progressive(file []byte) []byte {
	return bytes.Replace(file, []byte{0xff, 0xc0}, []byte{0xff, 0xc2}, 1)
}

// interlaced marks a PNG as interlaced without reordering its pixels.
func interlaced(file []byte) []byte {
	out := bytes.Clone(file)
	out[28] = 1
	binary.BigEndian.PutUint32(out[29:], crc32.ChecksumIEEE(out[12:29]))
	return out
}

// sized returns a JPEG with a different size in its header.
func sized(file []byte, w, h uint16) []byte {
	out := bytes.Clone(file)
	at := bytes.Index(out, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(out[at+5:], h)
	binary.BigEndian.PutUint16(out[at+7:], w)
	return out
}

// progressiveOf returns a progressive gray JPEG whose first scan holds the block means.
func progressiveOf(side int) []byte {
	out := scanBomb(0)
	blocks := (side + 7) / 8
	binary.BigEndian.PutUint16(out[bytes.Index(out, []byte{0xff, 0xc2})+5:], uint16(side))
	binary.BigEndian.PutUint16(out[bytes.Index(out, []byte{0xff, 0xc2})+7:], uint16(side))
	at := bytes.Index(out, []byte{0xff, 0xda}) + 10
	return append(append(out[:at:at], make([]byte, blocks*blocks/8+1)...), 0xff, 0xd9)
}
