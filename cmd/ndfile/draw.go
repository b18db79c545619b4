package main

import (
	"bytes"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// dpi is the resolution: a pixel is a point.
const dpi = 72

// margin is left free around what is drawn.
const margin = vg.Length(8)

// maxCells is how many elements are drawn as rectangles; more are drawn as a picture.
const maxCells = 1 << 14

var (
	lineColor = color.RGBA{R: 31, G: 90, B: 166, A: 255}
	gapColor  = color.RGBA{R: 200, G: 200, B: 200, A: 255}
)

// encode draws on a picture of width x height pixels and gives its PNG.
func encode(width, height int, drawOn func(draw.Canvas)) ([]byte, error) {
	img := vgimg.NewWith(vgimg.UseDPI(dpi), vgimg.UseWH(vg.Length(width)*vg.Inch/dpi, vg.Length(height)*vg.Inch/dpi))
	drawOn(draw.New(img))
	var b bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(&b)
	return b.Bytes(), err
}

// drawLine draws points from left to right, in pieces between gaps. A piece of one
// point is a dot.
func drawLine(points []point, title string, labels [3]string, width, height int) ([]byte, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, labels[1], labels[2]
	p.X.Padding, p.Y.Padding = 0, 0
	p.X.Tick.Marker = indexTicks{}
	p.Add(plotter.NewGrid())
	var piece plotter.XYs
	end := func() error {
		switch {
		case len(piece) == 1:
			s, err := plotter.NewScatter(piece)
			if err != nil {
				return err
			}
			s.GlyphStyle = draw.GlyphStyle{Color: lineColor, Radius: vg.Points(1.5), Shape: draw.CircleGlyph{}}
			p.Add(s)
		case len(piece) > 1:
			l, err := plotter.NewLine(piece)
			if err != nil {
				return err
			}
			l.Color = lineColor
			p.Add(l)
		}
		piece = nil
		return nil
	}
	for _, at := range points {
		if math.IsNaN(at.y) {
			if err := end(); err != nil {
				return nil, err
			}
			continue
		}
		piece = append(piece, plotter.XY{X: at.x, Y: at.y})
	}
	if err := end(); err != nil {
		return nil, err
	}
	p.X.Min, p.X.Max = widened(points[0].x, points[len(points)-1].x, true)
	p.Y.Min, p.Y.Max = widened(p.Y.Min, p.Y.Max, p.Y.Min <= p.Y.Max)
	return encode(width, height, func(c draw.Canvas) { p.Draw(draw.Crop(c, margin, -2*margin, margin, -margin)) })
}

// widened makes a range that an axis can have of one that may be a single number,
// or nothing.
func widened(least, most float64, ok bool) (float64, float64) {
	size := max(math.Abs(least), math.Abs(most))
	switch {
	case !ok:
		return 0, 1
	case most-least <= 1e-12*size || most-least < 1e-290:
		by := max(size/2, 0.5)
		return least - by, most + by
	}
	return least, most
}

// indexTicks are the marks of an axis of whole numbers: one to seven with a number.
// On one that runs down the numbers are the opposite of the places.
type indexTicks struct{ down bool }

// Ticks implements plot.Ticker.
func (t indexTicks) Ticks(least, most float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10(max(1, (most-least)/6))))
	for _, by := range [...]float64{2, 2.5, 2} { // 1, 2, 5, 10
		if (most-least)/step > 7 {
			step *= by
		}
	}
	var ticks []plot.Tick
	for at := math.Ceil(least/step) * step; at <= most; at += step {
		number := at
		if t.down {
			number = -at
		}
		ticks = append(ticks, plot.Tick{Value: at, Label: strconv.FormatInt(int64(number), 10)})
	}
	return ticks
}

// drawHeatMaps draws planes side by side with one scale of colours.
func drawHeatMaps(maps []heatMap, title string, labels [3]string, width, height int) ([]byte, error) {
	least, most, any := math.Inf(1), math.Inf(-1), false
	for i := range maps {
		if l, m, ok := maps[i].bounds(); ok {
			least, most, any = min(least, l), max(most, m), true
		}
	}
	least, most = widened(least, most, any)
	colors := moreland.ExtendedBlackBody()
	colors.SetMin(least)
	colors.SetMax(most)

	cols := int(math.Ceil(math.Sqrt(float64(len(maps)))))
	rows := (len(maps) + cols - 1) / cols
	bar := plot.New()
	bar.HideX()
	bar.Y.Label.Text = labels[2]
	bar.Y.Padding = 0
	bar.Add(&plotter.ColorBar{ColorMap: colors, Vertical: true})

	plots := make([]*plot.Plot, len(maps))
	for i := range maps {
		p := plot.New()
		if p.Title.Text = title; maps[i].title != "" {
			p.Title.Text += maps[i].title
		}
		p.X.Label.Text, p.Y.Label.Text = labels[1], labels[0]
		p.X.Padding, p.Y.Padding = 0, 0
		p.X.Tick.Marker, p.Y.Tick.Marker = indexTicks{}, indexTicks{down: true}
		p.Add(newHeatMap(&maps[i], colors.Palette(256), least, most))
		plots[i] = p
	}
	return encode(width, height, func(c draw.Canvas) {
		barWidth := vg.Length(70)
		tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: margin, PadY: margin, PadRight: barWidth + margin, PadTop: margin, PadBottom: margin, PadLeft: margin}
		for i, p := range plots {
			p.Draw(tiles.At(c, i%cols, i/cols))
		}
		bar.Draw(draw.Crop(c, c.Max.X-c.Min.X-barWidth, -margin, 2*margin, -2*margin))
	})
}

// newHeatMap is a heat map with a scale that does not depend on its own numbers.
func newHeatMap(m *heatMap, colors palette.Palette, least, most float64) *plotter.HeatMap {
	h := plotter.NewHeatMap(m, colors)
	h.Min, h.Max, h.NaN = least, most, gapColor
	h.Rasterized = len(m.values) > maxCells
	return h
}
