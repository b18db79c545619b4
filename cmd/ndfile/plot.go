package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// plotJSON is the result of "plot --json".
type plotJSON struct {
	Path   text `json:"path"`
	Name   text `json:"name"`
	Out    text `json:"out"`
	Kind   text `json:"kind"`
	Slices int  `json:"slices"`
	Width  int  `json:"width"`
	Height int  `json:"height"`
}

// The largest pictures, in pixels along a side, and the most slices in one.
const (
	maxPixels = 10000
	maxSlices = 16
)

func newPlot() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plot FILE[:NAME][SLICE]",
		Short: "draw an array as a PNG: a line, a heat map, or slices",
		Long: "plot draws an array of one axis as a line, of two as a heat map with the first axis down,\n" +
			"and of more as heat maps of the last two axes, at up to 16 places spread evenly over the\n" +
			"others. Missing values, NaN and what is beyond 1e300 are gaps. Of complex numbers it draws the\n" +
			"absolute values. Where a line has more elements than the picture pixels, it goes through\n" +
			"the least and the greatest of each pixel; of a heat map every n-th element is drawn.",
		Example: "  ndfile plot x.ds:temp\n  ndfile plot 'x.ds:temp[0]' --out first.png --width 1200 --height 800",
		Annotations: map[string]string{
			schemaKey: schema(plotJSON{})[schemaKey] + "\n\nkind is line, heatmap or slices.",
		},
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := one(args[0])
			if err != nil {
				return err
			}
			done, err := plotTarget(cmd, t)
			if err != nil || !asJSON(cmd) {
				return err
			}
			return emit(cmd, done)
		},
	}
	cmd.Flags().StringP("out", "o", "", "the picture; else NAME.png or the name of the file with .png, in the current folder")
	cmd.Flags().Int("width", 800, "pixels")
	cmd.Flags().Int("height", 600, "pixels")
	cmd.Flags().Bool("force", false, "overwrite the picture if it exists")
	return cmd
}

func plotTarget(cmd *cobra.Command, t target) (plotJSON, error) {
	width, _ := cmd.Flags().GetInt("width")
	height, _ := cmd.Flags().GetInt("height")
	if min(width, height) < 50 || max(width, height) > maxPixels {
		return plotJSON{}, usage("a picture has 50 to " + strconv.Itoa(maxPixels) + " pixels along each side")
	}
	f, _, err := t.open(cmd.Context())
	if err != nil {
		return plotJSON{}, err
	}
	defer f.Abort()
	a, name, err := t.only(f)
	if err != nil {
		return plotJSON{}, err
	}
	out := word(cmd, "out")
	if out == "" {
		out = pictureName(t.path, name)
	}
	done := plotJSON{Path: text(t.path), Name: text(name), Out: text(out), Width: width, Height: height}
	if exists(out) && !flag(cmd, "force") {
		return done, ndfile.NewError(ndfile.ErrExists, "").On(out)
	}
	pic, err := drawArray(cmd.Context(), a, either(name == "", filepath.Base(t.path), name), width, height)
	if err != nil {
		return done, ndfile.Locate(err, t.path, name, f.Kind() != ndfile.Single)
	}
	done.Kind, done.Slices = text(pic.kind), pic.slices
	var opt ndfile.WriteOptions
	opt.Exclusive = !flag(cmd, "force")
	return done, ndfile.Locate(ndfile.OS.WriteFile(out, [][]byte{pic.png}, opt), out, "", false)
}

// pictureName is the name of a picture that the user did not name.
func pictureName(path, name string) string {
	if name == "" {
		base := filepath.Base(path)
		name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	return strings.ReplaceAll(name, string(os.PathSeparator), "_") + ".png"
}

// picture is a plot.
type picture struct {
	png    []byte
	kind   string
	slices int
}

// drawArray reads an array and draws it.
func drawArray(ctx context.Context, a ndfile.Array, title string, width, height int) (picture, error) {
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
	labels := axisLabels(s, a.Attrs())
	switch len(s.Shape) {
	case 0:
		return picture{}, usage("a single number cannot be drawn")
	case 1:
		points, err := readLine(ctx, a, width)
		if err != nil {
			return picture{}, err
		}
		png, err := drawLine(points, title, labels, width, height)
		return picture{png, "line", 1}, err
	}
	var maps []heatMap
	lead := s.Shape[:len(s.Shape)-2]
	total, err := ndarray.Count(lead)
	if err != nil {
		return picture{}, err
	}
	count := min(total, maxSlices)
	for i := range count {
		at := int64(0)
		if count > 1 {
			at = int64(float64(i) * float64(total-1) / float64(count-1))
		}
		m, err := readHeatMap(ctx, a, unravel(at, lead), width, height)
		if err != nil {
			return picture{}, err
		}
		maps = append(maps, m)
	}
	png, err := drawHeatMaps(maps, title, labels, width, height)
	return picture{png, either(len(lead) == 0, "heatmap", "slices"), len(maps)}, err
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

// axisLabels are the names of the last two axes, and behind them the unit of the
// values.
func axisLabels(s ndfile.Spec, attrs *ndfile.Attrs) [3]string {
	var labels [3]string
	for i := range min(2, len(s.Shape)) {
		axis := len(s.Shape) - 1 - i
		if labels[1-i] = "axis " + strconv.Itoa(axis); s.Dims != nil {
			labels[1-i] = s.Dims[axis]
		}
	}
	if attrs != nil {
		if v, ok := attrs.Get("units"); ok {
			labels[2], _ = v.Str()
		}
	}
	return labels
}

// plotDType is the type in which elements are read to be drawn.
func plotDType(d ndarray.DType) (ndarray.DType, error) {
	float, complex := ndarray.MustParse("f8"), ndarray.MustParse("c16")
	switch {
	case ndarray.CanConvert(d, float):
		return float, nil
	case d.Kind == ndarray.Complex && d.Size <= 16:
		return complex, nil
	case d.Size == 8 && (d.Kind == ndarray.Int || d.Kind == ndarray.Uint || d.Kind == ndarray.Datetime || d.Kind == ndarray.Timedelta):
		return d.Native(), nil
	}
	return d, ndfile.NewError(ndfile.ErrDType, "elements of "+d.String()+" cannot be drawn")
}

// maxNumber keeps the scales of a picture finite.
const maxNumber = 1e300

// readFloats reads a box as numbers to be drawn; gaps are NaN.
func readFloats(ctx context.Context, a ndfile.Array, box ndarray.Box) ([]float64, error) {
	d, err := plotDType(a.Spec().DType)
	if err != nil {
		return nil, err
	}
	b, err := readBlock(ctx, a, box, d)
	if err != nil {
		return nil, err
	}
	v := make([]float64, b.n)
	for i := range v {
		if v[i] = number(d, b.element(int64(i))); b.missing(int64(i)) || math.Abs(v[i]) > maxNumber {
			v[i] = math.NaN()
		}
	}
	return v, nil
}

// number is an element as plotDType gives it.
func number(d ndarray.DType, data []byte) float64 {
	switch d.Kind {
	case ndarray.Float:
		return math.Float64frombits(unsigned(data))
	case ndarray.Complex:
		return math.Hypot(math.Float64frombits(unsigned(data[:8])), math.Float64frombits(unsigned(data[8:])))
	case ndarray.Uint:
		return float64(unsigned(data))
	}
	n := signed(data)
	if n == math.MinInt64 && d.Kind != ndarray.Int {
		return math.NaN() // NaT
	}
	return float64(n)
}

// point is a place on a line.
type point struct{ x, y float64 }

// readLine reads an array of one axis block by block. Of more elements than
// 2*width, it gives the least and the greatest of each of width parts.
func readLine(ctx context.Context, a ndfile.Array, width int) ([]point, error) {
	s := a.Spec()
	n := s.Shape[0]
	part := int64(1)
	if n > 2*int64(width) {
		part = (n + int64(width) - 1) / int64(width)
	}
	var points []point
	var b bucket
	flush := func() {
		points = b.points(points)
		b = bucket{}
	}
	for box := range ndfile.RowBlocks(s.Shape, s.DType.Size, blockBytes) {
		v, err := readFloats(ctx, a, box)
		if err != nil {
			return nil, err
		}
		for i, y := range v {
			x := box.Start[0] + int64(i)
			b.add(point{float64(x), y})
			if (x+1)%part == 0 {
				flush()
			}
		}
	}
	flush()
	return points, nil
}

// bucket is the part of a line that falls on one pixel.
type bucket struct {
	n         int
	gap       point // some element that is a gap
	least     point
	most      point
	any, gaps bool
}

func (b *bucket) add(p point) {
	b.n++
	switch {
	case math.IsNaN(p.y):
		b.gap, b.gaps = p, true
	case !b.any:
		b.least, b.most, b.any = p, p, true
	case p.y < b.least.y:
		b.least = p
	case p.y > b.most.y:
		b.most = p
	}
}

// points appends what represents the bucket, in the order of the elements; a gap
// only where there is nothing else.
func (b *bucket) points(list []point) []point {
	switch {
	case !b.any && b.gaps:
		return append(list, b.gap)
	case !b.any:
		return list
	case b.least.x == b.most.x:
		return append(list, b.least)
	case b.least.x < b.most.x:
		return append(list, b.least, b.most)
	}
	return append(list, b.most, b.least)
}

// heatMap is a plane of numbers. It implements plotter.GridXYZ: columns along the
// last axis, rows along the one before, which runs down: its places are negative.
type heatMap struct {
	title            string
	values           []float64
	rows, cols       int
	rowStep, colStep int64
}

func (m *heatMap) Dims() (cols, rows int) { return m.cols, m.rows }
func (m *heatMap) Z(col, row int) float64 { return m.values[(m.rows-1-row)*m.cols+col] }
func (m *heatMap) X(col int) float64      { return float64(int64(col) * m.colStep) }
func (m *heatMap) Y(row int) float64      { return -float64(int64(m.rows-1-row) * m.rowStep) }

// bounds are the least and greatest number; ok is false where all are gaps.
func (m *heatMap) bounds() (least, most float64, ok bool) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range m.values {
		if !math.IsNaN(v) {
			least, most, ok = min(least, v), max(most, v), true
		}
	}
	return least, most, ok
}

// readHeatMap reads the plane at an index of the leading axes, at most as many
// elements as there are pixels.
func readHeatMap(ctx context.Context, a ndfile.Array, lead []int64, width, height int) (m heatMap, err error) {
	shape := a.Spec().Shape
	box := ndarray.Full(shape)
	box.Step = make([]int64, len(shape))
	parts := make([]string, len(lead))
	for axis := range shape {
		box.Step[axis] = 1
		if axis < len(lead) {
			box.Start[axis], box.Count[axis] = lead[axis], 1
			parts[axis] = strconv.FormatInt(lead[axis], 10)
		}
	}
	thin := func(axis int, most int) int64 {
		step := (shape[axis]-1)/int64(most) + 1
		box.Step[axis], box.Count[axis] = step, (shape[axis]-1)/step+1
		return step
	}
	m.rowStep, m.colStep = thin(len(shape)-2, height), thin(len(shape)-1, width)
	m.rows, m.cols = int(box.Count[len(shape)-2]), int(box.Count[len(shape)-1])
	if len(lead) > 0 {
		m.title = "[" + strings.Join(parts, ", ") + "]"
	}
	m.values, err = readFloats(ctx, a, box)
	return m, err
}
