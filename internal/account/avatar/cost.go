package avatar

import (
	"bytes"
	"encoding/binary"
)

// The cost of a picture is estimated from its headers before it is decoded: a small file can be
// crafted to take hundreds of megabytes or hours.
const (
	// maxMemory is the maximum memory for decoding a picture, in bytes.
	maxMemory = 64 << 20
	// maxScans is the maximum number of scans in a JPEG. Encoders write about ten. A file of 2 MB
	// has room for 100,000 scans, and each scan covers all pixels.
	maxScans = 64
	// tooCostly exceeds every limit.
	tooCostly = maxMemory + 1
)

// pngCost returns the memory for a PNG: its samples as stored by Go. An interlaced PNG takes 50%
// more, for its largest pass.
func pngCost(file []byte, pixels int64) int64 {
	const depthAt, kindAt, interlaceAt, paletted = 24, 25, 28, 3
	if len(file) <= interlaceAt {
		return 0 // the decoder rejects the file
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

// gifCost returns the memory for the first frame of a GIF, doubled because it may be interlaced.
func gifCost(_ []byte, pixels int64) int64 { return 2 * pixels }

// jpegCost returns the memory for a JPEG: its samples, the coefficients of a progressive JPEG (four
// times the size of the samples), and RGB pixels if the JPEG is not YCbCr.
func jpegCost(file []byte, pixels int64) int64 {
	const (
		baseline, extended, progressive = 0xc0, 0xc1, 0xc2
		adobe, scan, end                = 0xee, 0xda, 0xd9
		head, component                 = 6, 3 // in bytes
	)
	var cost int64
	scans, isRGB := 0, false
	for marker, segment := range jpegSegments(file) {
		switch marker {
		case baseline, extended, progressive:
			if len(segment) < head || len(segment) < head+component*int(segment[5]) || cost > 0 {
				return 0 // the decoder rejects the file
			}
			samples := jpegSamples(segment)
			cost = samples
			if marker == progressive {
				cost += 4 * samples
			}
			ids := segment[5] == 3 && segment[6] == 'R' && segment[9] == 'G' && segment[12] == 'B'
			isRGB = isRGB || ids || segment[5] == 4
		case adobe:
			isRGB = true // it may declare RGB
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

// jpegSamples returns the number of samples of all components of a frame, in whole blocks.
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

// jpegSegments iterates over the segments of a JPEG. It yields the marker of each segment and its
// content after the length field. The compressed data after the header of a scan belongs to no
// segment.
func jpegSegments(file []byte) func(yield func(marker byte, segment []byte) bool) {
	return func(yield func(byte, []byte) bool) {
		for rest := file; ; {
			at := bytes.IndexByte(rest, 0xff)
			if at < 0 || len(rest) < at+2 {
				return
			}
			marker := rest[at+1]
			// In compressed data, a zero or one of eight restart markers follows 0xff, and 0xff may
			// be repeated before a marker. These markers, and start and end of the image, have no
			// content.
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

// The maximum memory for a WebP. A lossless WebP needs memory for its pixels, twice while a palette
// is applied, and for its transforms. A lossy WebP needs memory for its samples. The rest is for
// the Huffman trees of lossless data: 150 bytes can describe trees of 40 KB, and there are at most
// 2,600 groups of trees.
const (
	losslessPerPixel = 9
	lossyPerPixel    = 2
	treesPerByte     = 270
	mostTrees        = 2600 * 42_000
)

// webpCost returns the memory for a WebP. The alpha channel of a lossy WebP may be lossless data.
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
