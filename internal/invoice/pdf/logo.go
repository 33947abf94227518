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

// maxLogoSide is the maximum width and height of a logo in pixels. It is printed up to 45 mm wide.
const maxLogoSide = 4000

// ParseLogo converts a PNG or JPEG picture to the format that documents use for logos.
func ParseLogo(picture []byte) ([]byte, error) {
	size, _, err := image.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return nil, errors.New("must be a PNG or JPEG image")
	}
	if size.Width < 1 || size.Height < 1 || size.Width > maxLogoSide || size.Height > maxLogoSide {
		return nil, fmt.Errorf("must be 1 to %d pixels wide and high", maxLogoSide)
	}
	decoded, _, err := image.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, errors.New("is a corrupt image")
	}
	flat := image.NewNRGBA(image.Rect(0, 0, size.Width, size.Height))
	draw.Draw(flat, flat.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	var out bytes.Buffer
	if err := png.Encode(&out, flat); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
