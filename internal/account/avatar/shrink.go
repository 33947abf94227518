package avatar

import (
	"context"
	"image"
	"image/color"

	"golang.org/x/image/draw"
)

// cropToAvatar returns the center square of a picture, scaled to the size of an avatar. It averages
// a large picture first, because scaling it in one step would take as much memory as the picture.
// It only returns errors of ctx.
func cropToAvatar(ctx context.Context, from image.Image) (*image.RGBA, error) {
	b := from.Bounds()
	side := min(b.Dx(), b.Dy())
	corner := b.Min.Add(image.Pt((b.Dx()-side)/2, (b.Dy()-side)/2))
	middle := image.Rectangle{Min: corner, Max: corner.Add(image.Pt(side, side))}
	if factor := side / (2 * avatarSide); factor > 1 {
		small, err := downscale(ctx, from, middle, factor)
		if err != nil {
			return nil, err
		}
		from, middle = small, small.Bounds()
	}
	to := image.NewRGBA(image.Rect(0, 0, avatarSide, avatarSide))
	draw.CatmullRom.Scale(to, to.Bounds(), from, middle, draw.Src, nil)
	return to, ctx.Err()
}

// downscale returns a square of a picture, reduced by an integer factor. Each pixel is the mean of
// factor × factor pixels. Remaining pixels are cropped equally on all sides.
func downscale(ctx context.Context, from image.Image, square image.Rectangle, factor int) (*image.RGBA, error) {
	side := square.Dx() / factor
	left := (square.Dx() - side*factor) / 2
	to := image.NewRGBA(image.Rect(0, 0, side, side))
	strip := image.NewRGBA(image.Rect(0, 0, side*factor, factor))
	sums := make([]uint32, 4*side)
	for y := range side {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		copyStrip(strip, from, square.Min.Add(image.Pt(left, left+y*factor)))
		clear(sums)
		for row := range factor {
			line := strip.Pix[row*strip.Stride:]
			for x := range side {
				for pixel := range factor {
					at := 4 * (x*factor + pixel)
					for c := range 4 {
						sums[4*x+c] += uint32(line[at+c])
					}
				}
			}
		}
		out := to.Pix[y*to.Stride:]
		count := uint32(factor * factor)
		for i, sum := range sums {
			out[i] = uint8((sum + count/2) / count)
		}
	}
	return to, nil
}

// copyStrip draws a part of a picture, starting at a point, onto the whole strip. Package draw
// lacks a fast path for paletted pictures.
func copyStrip(strip *image.RGBA, from image.Image, at image.Point) {
	coloured, ok := from.(*image.Paletted)
	if !ok {
		draw.Draw(strip, strip.Bounds(), from, at, draw.Src)
		return
	}
	var colours [256]color.RGBA
	for i, c := range coloured.Palette {
		colours[i], _ = color.RGBAModel.Convert(c).(color.RGBA)
	}
	width := strip.Bounds().Dx()
	for y := range strip.Bounds().Dy() {
		line := strip.Pix[y*strip.Stride:]
		for x, index := range coloured.Pix[coloured.PixOffset(at.X, at.Y+y):][:width] {
			c := colours[index]
			line[4*x], line[4*x+1], line[4*x+2], line[4*x+3] = c.R, c.G, c.B, c.A
		}
	}
}
