package main

import (
	"bytes"
	"context"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// dpi is the resolution: a pixel is a point.
const dpi = 72

// margin is left free around what is drawn.
const margin = vg.Length(8)

// timeWidth is what a time below an axis takes.
const timeWidth = vg.Length(100)

// maxCells is how many elements are drawn as rectangles; more are drawn as a picture.
const maxCells = 1 << 14

var (
	lineColor = color.RGBA{R: 31, G: 90, B: 166, A: 255}
	gapColor  = color.RGBA{R: 200, G: 200, B: 200, A: 255}
	gridColor = color.RGBA{R: 225, G: 225, B: 225, A: 255}
)

// drawing is how an array is drawn.
type drawing struct {
	title          string
	axes           []axis
	values         decoding
	width, height  int
	svg            bool
	log, histogram bool
}

// picture is a plot.
type picture struct {
	data   []byte
	kind   string
	slices int
}

// part is a number that is drawn of each element.
type part struct {
	of     func(ndarray.DType, []byte) float64
	label  string
	cyclic bool // angles, from -pi to pi
}

// parts are what is drawn: of complex numbers two.
func (w *drawing) parts(d ndarray.DType) []part {
	scaled := part{label: w.values.label(), of: func(d ndarray.DType, data []byte) float64 {
		v := w.values.unpack(number(d, data))
		if w.log && !w.histogram {
			if v <= 0 {
				return math.NaN()
			}
			return math.Log10(v)
		}
		return v
	}}
	if d.Kind != ndarray.Complex {
		return []part{scaled}
	}
	scaled.label = either(scaled.label == "", "absolute value", scaled.label)
	return []part{scaled, {of: phase, label: "phase [rad]", cyclic: true}}
}

// draw reads an array and draws it.
func (w *drawing) draw(ctx context.Context, a ndfile.Array) (picture, error) {
	s := a.Spec()
	if s.NoData {
		return picture{}, ndfile.NewError(ndfile.ErrNoData, "")
	}
	if _, err := plotDType(s.DType); err != nil {
		return picture{}, err
	}
	if n, err := ndarray.Count(s.Shape); err != nil || n == 0 {
		return picture{}, usage("an array without elements cannot be drawn")
	}
	switch {
	case w.histogram:
		return w.histograms(ctx, a)
	case len(s.Shape) == 0:
		return picture{}, usage("a single number cannot be drawn")
	case len(s.Shape) == 1:
		return w.lines(ctx, a)
	}
	return w.maps(ctx, a)
}

// encode draws on the picture and gives it as PNG or SVG.
func (w *drawing) encode(drawOn func(draw.Canvas)) ([]byte, error) {
	var b bytes.Buffer
	var out io.WriterTo
	width, height := vg.Length(w.width)*vg.Inch/dpi, vg.Length(w.height)*vg.Inch/dpi
	if w.svg {
		c := vgsvg.New(width, height)
		drawOn(draw.New(c))
		out = c
	} else {
		img := vgimg.NewWith(vgimg.UseDPI(dpi), vgimg.UseWH(width, height))
		drawOn(draw.New(img))
		out = vgimg.PngCanvas{Canvas: img}
	}
	_, err := out.WriteTo(&b)
	return b.Bytes(), err
}

// newPlotOf is a plot of about that width whose axes show the places along two axes of
// the array.
func newPlotOf(title string, x, y *axis, width vg.Length) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.X.Padding, p.Y.Padding = 0, 0
	if x != nil {
		p.X.Label.Text, p.X.Tick.Marker = x.label, x.ticks(false, width)
	}
	if y != nil && y.names != nil {
		y = &axis{names: y.names} // names speak for themselves
	}
	if y != nil {
		p.Y.Label.Text, p.Y.Tick.Marker = y.label, y.ticks(true, width)
	}
	return p
}

// ticks are the marks along an axis; down where counted elements run down.
func (x *axis) ticks(down bool, width vg.Length) plot.Ticker {
	switch {
	case x.names != nil:
		return nameTicks{x.names, down}
	case x.places == nil:
		return indexTicks{down}
	case x.times:
		return timeTicks{int(width / timeWidth)}
	}
	return plot.DefaultTicks{}
}

// lines draws an array of one axis, each part in a plot of its own below the last.
func (w *drawing) lines(ctx context.Context, a ndfile.Array) (picture, error) {
	var plots []*plot.Plot
	x := &w.axes[0]
	for i, of := range w.parts(a.Spec().DType) {
		points, err := readLine(ctx, a, w.width, of.of)
		if err != nil {
			return picture{}, err
		}
		for i := range points {
			points[i].x = x.at(points[i].x)
		}
		p := newPlotOf(either(i == 0, w.title, ""), x, nil, vg.Length(w.width))
		p.Y.Label.Text = of.label
		if w.log && !of.cyclic {
			p.Y.Tick.Marker = logTicks{}
		}
		p.Add(grid())
		if err := addLine(p, points); err != nil {
			return picture{}, err
		}
		plots = append(plots, p)
	}
	return w.stacked(plots, "line")
}

// stacked draws plots one below the other.
func (w *drawing) stacked(plots []*plot.Plot, kind string) (picture, error) {
	data, err := w.encode(func(c draw.Canvas) {
		tiles := draw.Tiles{Rows: len(plots), Cols: 1, PadY: margin, PadRight: 2 * margin, PadTop: margin, PadBottom: margin, PadLeft: margin}
		for i, p := range plots {
			p.Draw(tiles.At(c, 0, i))
		}
	})
	return picture{data, kind, 1}, err
}

// grid is a grid that stays behind the line.
func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color, g.Horizontal.Color = gridColor, gridColor
	return g
}

// addLine adds points from left to right, in pieces between gaps. A piece of one
// point is a dot.
func addLine(p *plot.Plot, points []point) error {
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
			l.Color, l.Width = lineColor, vg.Points(1.25)
			p.Add(l)
		}
		piece = nil
		return nil
	}
	for _, at := range points {
		if math.IsNaN(at.y) {
			if err := end(); err != nil {
				return err
			}
			continue
		}
		piece = append(piece, plotter.XY{X: at.x, Y: at.y})
	}
	if err := end(); err != nil {
		return err
	}
	first, last := points[0].x, points[len(points)-1].x
	p.X.Min, p.X.Max = widened(min(first, last), max(first, last), true)
	p.Y.Min, p.Y.Max = widened(p.Y.Min, p.Y.Max, p.Y.Min <= p.Y.Max)
	return nil
}

// histograms draws how often values occur, each part in a plot of its own.
func (w *drawing) histograms(ctx context.Context, a ndfile.Array) (picture, error) {
	var plots []*plot.Plot
	for i, of := range w.parts(a.Spec().DType) {
		least, most, counts, err := readHistogram(ctx, a, of.of)
		if err != nil {
			return picture{}, err
		}
		p := newPlotOf(either(i == 0, w.title, ""), nil, nil, 0)
		p.X.Label.Text, p.Y.Label.Text = either(of.label == "", "value", of.label), "elements"
		top := 0.0
		h := &plotter.Histogram{FillColor: lineColor, Width: (most - least) / bins, LogY: w.log}
		for i, n := range counts {
			h.Bins = append(h.Bins, plotter.HistogramBin{Min: least + float64(i)*h.Width, Max: least + float64(i+1)*h.Width, Weight: n})
			top = max(top, n)
		}
		p.Add(grid(), h)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = least, most, 0, max(top*1.05, 1)
		if w.log {
			p.Y.Min, p.Y.Scale, p.Y.Tick.Marker = 0.5, plot.LogScale{}, plot.LogTicks{Prec: -1}
			p.Y.Max = max(2*top, 10)
		}
		plots = append(plots, p)
	}
	return w.stacked(plots, "histogram")
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
