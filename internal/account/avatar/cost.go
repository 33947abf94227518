package avatar

import (
	"bytes"
	"encoding/binary"
)

// What a picture costs is judged by its headers, before any of it is decoded: a small file
// can be made to take hundreds of megabytes or hours.
const (
	// maxMemory is the most memory that decoding a picture may take, in bytes.
	maxMemory = 64 << 20
	// maxScans is how many scans a JPEG may have. Encoders make about ten; a file of two
	// megabytes has room for a hundred thousand, each of which goes over all pixels.
	maxScans = 64
	// tooCostly is more than any picture may take.
	tooCostly = maxMemory + 1
)

// pngCost returns how much memory a PNG takes: its samples as Go keeps them, and half as
// much again where it is interlaced, for the largest of its passes.
func pngCost(file []byte, pixels int64) int64 {
	const depthAt, kindAt, interlaceAt, paletted = 24, 25, 28, 3
	if len(file) <= interlaceAt {
		return 0 // is refused as no picture
	}
	perPixel := int64(4)
	switch {
	case file[depthAt] == 16:
		perPixel = 8
	case file[kindAt] == paletted:
		perPixel = 1
	}
	cost := pixels * perPixel
	if file[interlaceAt] != 0 {
		cost += cost / 2
	}
	return cost
}

// gifCost returns how much memory the first frame of a GIF takes, twice if interlaced.
func gifCost(_ []byte, pixels int64) int64 { return 2 * pixels }

// jpegCost returns how much memory a JPEG takes: its samples; where it is progressive four
// times as much again, for their coefficients; and where it is no YCbCr its pixels in RGB.
func jpegCost(file []byte, pixels int64) int64 {
	const (
		baseline, extended, progressive = 0xc0, 0xc1, 0xc2
		adobe, scan, end                = 0xee, 0xda, 0xd9
		head, component                 = 6, 3 // bytes
	)
	var cost int64
	scans, isRGB := 0, false
	for marker, segment := range jpegSegments(file) {
		switch marker {
		case baseline, extended, progressive:
			if len(segment) < head || len(segment) < head+component*int(segment[5]) || cost > 0 {
				return 0 // is refused as no picture
			}
			samples := jpegSamples(segment)
			cost = samples
			if marker == progressive {
				cost += 4 * samples
			}
			ids := segment[5] == 3 && segment[6] == 'R' && segment[9] == 'G' && segment[12] == 'B'
			isRGB = isRGB || ids || segment[5] == 4
		case adobe:
			isRGB = true // it may say so
		case scan:
			scans++
		}
	}
	if scans > maxScans {
		return tooCostly
	}
	if isRGB {
		cost += 4 * pixels
	}
	return cost
}

// jpegSamples returns how many samples the components of a frame have, in whole blocks.
func jpegSamples(frame []byte) (samples int64) {
	height, width := int64(binary.BigEndian.Uint16(frame[1:])), int64(binary.BigEndian.Uint16(frame[3:]))
	var mostH, mostV int64 = 1, 1
	components := frame[6:]
	for i := range int(frame[5]) {
		factors := components[3*i+1]
		mostH, mostV = max(mostH, int64(factors>>4)), max(mostV, int64(factors&15))
	}
	across, down := (width+8*mostH-1)/(8*mostH), (height+8*mostV-1)/(8*mostV)
	for i := range int(frame[5]) {
		factors := components[3*i+1]
		samples += across * int64(factors>>4) * down * int64(factors&15) * 64
	}
	return samples
}

// jpegSegments iterates over the segments of a JPEG: their markers, and what is in them
// after their length. The compressed data after a scan's head belongs to no segment.
func jpegSegments(file []byte) func(yield func(marker byte, segment []byte) bool) {
	return func(yield func(byte, []byte) bool) {
		for rest := file; ; {
			at := bytes.IndexByte(rest, 0xff)
			if at < 0 || len(rest) < at+2 {
				return
			}
			marker := rest[at+1]
			// In compressed data 0xff is followed by a zero or by one of eight restarts; it
			// may be repeated before a marker. These, and the start and end, stand alone.
			if marker == 0 || marker == 0xff || marker >= 0xd0 && marker <= 0xd9 || marker == 1 {
				rest = rest[at+1:]
				if marker != 0xff {
					rest = rest[1:]
				}
				continue
			}
			rest = rest[at+2:]
			if len(rest) < 2 {
				return
			}
			length := int(binary.BigEndian.Uint16(rest))
			if length < 2 || len(rest) < length || !yield(marker, rest[2:length]) {
				return
			}
			rest = rest[length:]
		}
	}
}

// The most memory that a WebP takes: of a lossless one its pixels, twice while a palette
// is applied, and the parts of its transformations; of a lossy one its samples. The
// Huffman trees of lossless data are the rest: 150 bytes can describe trees of 40
// kilobytes, and there are at most 2,600 groups of them.
const (
	losslessPerPixel = 9
	lossyPerPixel    = 2
	treesPerByte     = 270
	mostTrees        = 2600 * 42_000
)

// webpCost returns how much memory a WebP takes. The transparency of a lossy one is
// lossless data too.
func webpCost(file []byte, pixels int64) (cost int64) {
	const riffHead, chunkHead = 12, 8
	for rest := file[min(riffHead, len(file)):]; len(rest) >= chunkHead; {
		length := int64(binary.LittleEndian.Uint32(rest[4:]))
		switch string(rest[:4]) {
		case "VP8 ":
			return cost + lossyPerPixel*pixels
		case "VP8L":
			return cost + losslessPerPixel*pixels + min(treesPerByte*length, mostTrees)
		case "ALPH":
			cost += pixels
			if len(rest) > chunkHead && rest[chunkHead]&3 == 1 {
				cost += losslessPerPixel*pixels + min(treesPerByte*length, mostTrees)
			}
		}
		next := chunkHead + length + length%2
		if next > int64(len(rest)) {
			break
		}
		rest = rest[next:]
	}
	return cost
}
