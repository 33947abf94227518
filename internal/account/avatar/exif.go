package avatar

import (
	"bytes"
	"encoding/binary"
	"image"
)

// exifOrientation returns the EXIF orientation of a JPEG, 1 to 8, which says how to rotate the
// picture. It returns 1 (upright) if the orientation is missing or unreadable.
func exifOrientation(file []byte) int {
	const start, app1, scan = 0xd8, 0xe1, 0xda
	if len(file) < 2 || file[1] != start {
		return 1
	}
	for rest := file[2:]; len(rest) >= 4 && rest[0] == 0xff && rest[1] != scan; {
		length := int(binary.BigEndian.Uint16(rest[2:]))
		if length < 2 || len(rest) < 2+length {
			return 1
		}
		if content, ok := bytes.CutPrefix(rest[4:2+length], []byte("Exif\x00\x00")); ok && rest[1] == app1 {
			return tiffOrientation(content)
		}
		rest = rest[2+length:]
	}
	return 1
}

// tiffOrientation returns the orientation tag from the first directory of the TIFF data in EXIF.
func tiffOrientation(tiff []byte) int {
	const header, entry, tag, short = 8, 12, 0x0112, 3
	if len(tiff) < header {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(tiff[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	count := int(order.Uint16(tiff[at:]))
	entries := tiff[at+2:]
	for range count {
		if len(entries) < entry {
			return 1
		}
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == short {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			return 1
		}
		entries = entries[entry:]
	}
	return 1
}

// applyOrientation returns a square picture rotated upright.
func applyOrientation(from *image.RGBA, orientation int) *image.RGBA {
	if orientation == 1 {
		return from
	}
	to := image.NewRGBA(from.Bounds())
	last := from.Bounds().Dx() - 1
	for y := range last + 1 {
		for x := range last + 1 {
			fx, fy := source(x, y, last, orientation)
			to.SetRGBA(x, y, from.RGBAAt(fx, fy))
		}
	}
	return to
}

// source returns the coordinates of the stored pixel to show at x and y.
func source(x, y, last, orientation int) (fx, fy int) {
	switch orientation {
	case 2: // mirrored
		return last - x, y
	case 3: // rotated by 180°
		return last - x, last - y
	case 4: // rotated by 180°, mirrored
		return x, last - y
	case 5: // rotate clockwise, mirrored
		return y, x
	case 6: // rotate clockwise
		return y, last - x
	case 7: // rotate counterclockwise, mirrored
		return last - y, last - x
	case 8: // rotate counterclockwise
		return last - y, x
	default:
		return x, y
	}
}
