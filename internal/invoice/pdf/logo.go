package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg" // a form that logos have
	"image/png"
)

// maxLogoSide bounds a logo, in pixels; it is printed 45 millimetres wide.
const maxLogoSide = 4000

// ParseLogo makes the logo of documents of a PNG or JPEG picture, in the one form
// that they take.
func ParseLogo(picture []byte) ([]byte, error) {
	size, _, err := image.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return nil, errors.New("is neither a PNG nor a JPEG picture")
	}
	if size.Width < 1 || size.Height < 1 || size.Width > maxLogoSide || size.Height > maxLogoSide {
		return nil, fmt.Errorf("is not from 1 to %d pixels wide and high", maxLogoSide)
	}
	decoded, _, err := image.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, errors.New("is a damaged picture")
	}
	flat := image.NewNRGBA(image.Rect(0, 0, size.Width, size.Height))
	draw.Draw(flat, flat.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	var out bytes.Buffer
	if err := png.Encode(&out, flat); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
