package main

import (
	"context"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// panel is a part of the elements, in planes with one scale of colours.
type panel struct {
	part
	maps        []heatMap
	least, most float64
	colors      palette.ColorMap
}

// maps draws the planes of the last two axes.
func (w *drawing) maps(ctx context.Context, a ndfile.Array) (picture, error) {
	s := a.Spec()
	lead := s.Shape[:len(s.Shape)-2]
	total, err := ndarray.Count(lead)
	if err != nil {
		return picture{}, err
	}
	var panels []panel
	parts := w.parts(s.DType)
	count := min(total, int64(maxSlices/len(parts)))
	for _, of := range parts {
		p := panel{part: of}
		for i := range count {
			at := int64(0)
			if count > 1 {
				at = int64(float64(i) * float64(total-1) / float64(count-1))
			}
			m, err := readHeatMap(ctx, a, w.axes, unravel(at, lead), w.width, w.height, of.of)
			if err != nil {
				return picture{}, err
			}
			p.maps = append(p.maps, m)
		}
		p.scale()
		panels = append(panels, p)
	}
	data, err := w.encode(func(c draw.Canvas) {
		width := (c.Max.X - c.Min.X) / vg.Length(len(panels))
		for i := range panels {
			left := width * vg.Length(i)
			panels[i].draw(w, draw.Crop(c, left, left+width-(c.Max.X-c.Min.X), 0, 0))
		}
	})
	return picture{data, either(len(lead) == 0, "heatmap", "slices"), int(count)}, err
}

// unravel gives the index of a flat place.
func unravel(at int64, shape []int64) []int64 {
	index := make([]int64, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		index[axis] = at % shape[axis]
		at /= shape[axis]
	}
	return index
}

// scale chooses the colours: around zero where the numbers lie on both sides of it,
// in a circle for angles, else from dark to light.
func (p *panel) scale() {
	least, most, any := math.Inf(1), math.Inf(-1), false
	for i := range p.maps {
		if l, m, ok := p.maps[i].bounds(); ok {
			least, most, any = min(least, l), max(most, m), true
		}
	}
	switch far := max(-least, most); {
	case p.cyclic:
		p.least, p.most, p.colors = -math.Pi, math.Pi, &circle{}
	case any && least < 0 && most > 0 && min(-least, most) > far/4:
		p.least, p.most, p.colors = -far, far, moreland.SmoothBlueRed()
	default:
		p.least, p.most = widened(least, most, any)
		p.colors = darkToLight()
	}
	p.colors.SetMin(p.least)
	p.colors.SetMax(p.most)
}

// darkToLight is a scale whose lightness rises evenly, and which the colour blind can
// read: that of viridis.
func darkToLight() palette.ColorMap {
	var controls []color.Color
	for _, c := range []uint32{0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725} {
		controls = append(controls, color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 255})
	}
	colors, err := moreland.NewLuminance(controls)
	if err != nil {
		return moreland.ExtendedBlackBody() // the controls above rise
	}
	return colors
}

// circle is a scale of hues whose ends meet.
type circle struct{ min, max float64 }

func (c *circle) At(v float64) (color.Color, error) {
	return palette.HSVA{H: math.Mod((v-c.min)/(c.max-c.min)+1, 1), S: 0.65, V: 0.9, A: 1}, nil
}
func (c *circle) Max() float64       { return c.max }
func (c *circle) SetMax(v float64)   { c.max = v }
func (c *circle) Min() float64       { return c.min }
func (c *circle) SetMin(v float64)   { c.min = v }
func (c *circle) Alpha() float64     { return 1 }
func (c *circle) SetAlpha(_ float64) {}

// Palette implements palette.ColorMap.
func (c *circle) Palette(n int) palette.Palette {
	colors := make(hues, n)
	for i := range colors {
		colors[i], _ = c.At(c.min + (c.max-c.min)*float64(i)/float64(n-1))
	}
	return colors
}

type hues []color.Color

func (h hues) Colors() []color.Color { return h }

// draw draws the planes side by side, and the scale beside them.
func (p *panel) draw(w *drawing, c draw.Canvas) {
	cols := int(math.Ceil(math.Sqrt(float64(len(p.maps)))))
	rows := (len(p.maps) + cols - 1) / cols
	bar := plot.New()
	bar.HideX()
	bar.Y.Label.Text, bar.Y.Padding = p.label, 0
	switch {
	case p.cyclic:
		bar.Y.Tick.Marker = plot.ConstantTicks{{Value: -math.Pi, Label: "-π"}, {Value: 0, Label: "0"}, {Value: math.Pi, Label: "π"}}
	case w.log:
		bar.Y.Tick.Marker = logTicks{}
	}
	bar.Add(&plotter.ColorBar{ColorMap: p.colors, Vertical: true})

	barWidth := vg.Length(66)
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: margin, PadY: margin, PadRight: barWidth + margin, PadTop: margin, PadBottom: margin, PadLeft: margin}
	n := len(w.axes)
	for i := range p.maps {
		tile := tiles.At(c, i%cols, i/cols)
		one := newPlotOf(w.title+p.maps[i].title, &w.axes[n-1], &w.axes[n-2], tile.Max.X-tile.Min.X)
		cells := newHeatMap(&p.maps[i], p.colors.Palette(256), p.least, p.most)
		one.Add(cells)
		if !cells.Rasterized { // where rectangles end within a pixel, the background would show as a grid
			one.Add(cells, cells)
		}
		if w.axes[n-1].degrees() && w.axes[n-2].degrees() {
			tile = level(one, tile)
		}
		one.Draw(tile)
	}
	bar.Draw(draw.Crop(c, c.Max.X-c.Min.X-barWidth, -margin, 2*margin, -2*margin))
}

// level is the part of a tile in which a degree is as wide as high.
func level(p *plot.Plot, tile draw.Canvas) draw.Canvas {
	data := p.DataCanvas(tile)
	width, height := data.Max.X-data.Min.X, data.Max.Y-data.Min.Y
	want := vg.Length((p.X.Max - p.X.Min) / (p.Y.Max - p.Y.Min))
	if width/height > want {
		spare := (width - height*want) / 2
		return draw.Crop(tile, spare, -spare, 0, 0)
	}
	spare := (height - width/want) / 2
	return draw.Crop(tile, 0, 0, spare, -spare)
}

// newHeatMap is a heat map with a scale that does not depend on its own numbers.
func newHeatMap(m *heatMap, colors palette.Palette, least, most float64) *plotter.HeatMap {
	h := plotter.NewHeatMap(m, colors)
	h.Min, h.Max, h.NaN = least, most, gapColor
	h.Rasterized = len(m.values) > maxCells
	return h
}

// formatNumber writes a number on a scale.
func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
