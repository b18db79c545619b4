package main

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

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

// readFloats reads a box as numbers, which part gives of stored ones; gaps are NaN.
func readFloats(ctx context.Context, a ndfile.Array, box ndarray.Box, part func(float64) float64) ([]float64, error) {
	return readNumbers(ctx, a, box, func(d ndarray.DType, data []byte) float64 { return part(number(d, data)) })
}

// readNumbers reads a box as the numbers that are made of its elements; gaps are NaN.
func readNumbers(ctx context.Context, a ndfile.Array, box ndarray.Box, of func(ndarray.DType, []byte) float64) ([]float64, error) {
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
		if v[i] = of(d, b.element(int64(i))); b.missing(int64(i)) || math.Abs(v[i]) > maxNumber {
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

// phase is the angle of a complex number, from -pi to pi.
func phase(_ ndarray.DType, data []byte) float64 {
	return math.Atan2(math.Float64frombits(unsigned(data[8:])), math.Float64frombits(unsigned(data[:8])))
}

// point is a place on a line.
type point struct{ x, y float64 }

// readLine reads an array of one axis block by block. Of more elements than
// 2*width, it gives the least and the greatest of each of width parts.
func readLine(ctx context.Context, a ndfile.Array, width int, of func(ndarray.DType, []byte) float64) ([]point, error) {
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
		v, err := readNumbers(ctx, a, box, of)
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
// last axis, rows along the one before. Places rise along both; counted rows run
// down, so that their places are negative.
type heatMap struct {
	title      string
	values     []float64 // row-major, as they are read
	xs, ys     []float64 // places, rising
	cols, rows []int     // the elements at the places
}

func (m *heatMap) Dims() (cols, rows int) { return len(m.xs), len(m.ys) }
func (m *heatMap) Z(col, row int) float64 { return m.values[m.rows[row]*len(m.cols)+m.cols[col]] }
func (m *heatMap) X(col int) float64      { return m.xs[col] }
func (m *heatMap) Y(row int) float64      { return m.ys[row] }

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
func readHeatMap(ctx context.Context, a ndfile.Array, axes []axis, lead []int64, width, height int, of func(ndarray.DType, []byte) float64) (m heatMap, err error) {
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
	down, along := len(shape)-2, len(shape)-1
	rowStep, colStep := thin(down, height), thin(along, width)
	m.ys, m.rows = places(&axes[down], box.Count[down], rowStep, true)
	m.xs, m.cols = places(&axes[along], box.Count[along], colStep, false)
	if len(lead) > 0 {
		m.title = "[" + strings.Join(parts, ", ") + "]"
	}
	if m.values, err = readNumbers(ctx, a, box, of); err != nil {
		return m, err
	}
	if len(m.values) > maxCells {
		m.ys, m.rows = even(m.ys, m.rows)
		m.xs, m.cols = even(m.xs, m.cols)
	}
	return m, nil
}

// places are where every step-th element of an axis lies, and which elements lie
// there. They rise; counted ones that run down are negative.
func places(x *axis, n, step int64, down bool) (at []float64, elements []int) {
	at, elements = make([]float64, n), make([]int, n)
	for i := range n {
		at[i], elements[i] = x.at(float64(i*step)), int(i)
		if x.places == nil && down {
			at[i] = -at[i]
		}
	}
	if n > 1 && at[1] < at[0] {
		slices.Reverse(at)
		slices.Reverse(elements)
	}
	return at, elements
}

// even gives as many places at one distance, each with the nearest element: pictures
// of many elements are drawn pixel by pixel.
func even(at []float64, elements []int) ([]float64, []int) {
	n := len(at)
	if n < 3 {
		return at, elements
	}
	out, of := make([]float64, n), make([]int, n)
	near := 0
	for i := range out {
		out[i] = at[0] + (at[n-1]-at[0])*float64(i)/float64(n-1)
		for near+1 < n && math.Abs(at[near+1]-out[i]) <= math.Abs(at[near]-out[i]) {
			near++
		}
		of[i] = elements[near]
	}
	return out, of
}

// bins is how many columns a histogram has at most.
const bins = 100

// readHistogram counts the values of an array: how many lie in each of equal parts
// between the least and the greatest.
func readHistogram(ctx context.Context, a ndfile.Array, of func(ndarray.DType, []byte) float64) (least, most float64, counts []float64, err error) {
	s := a.Spec()
	least, most = math.Inf(1), math.Inf(-1)
	each := func(do func(v float64)) error {
		for box := range ndfile.RowBlocks(s.Shape, s.DType.Size, blockBytes) {
			values, err := readNumbers(ctx, a, box, of)
			if err != nil {
				return err
			}
			for _, v := range values {
				if !math.IsNaN(v) {
					do(v)
				}
			}
		}
		return nil
	}
	if err := each(func(v float64) { least, most = min(least, v), max(most, v) }); err != nil {
		return 0, 0, nil, err
	}
	least, most = widened(least, most, least <= most)
	counts = make([]float64, bins)
	err = each(func(v float64) { counts[min(bins-1, int((v-least)/(most-least)*bins))]++ })
	return least, most, counts, err
}
