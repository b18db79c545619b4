package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"gonum.org/v1/plot/palette"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// previewRows is how many lines of a terminal a line or a histogram takes.
const previewRows = 10

// inColor tells whether output goes to a terminal that may be given colours
// (https://no-color.org).
func inColor(cmd *cobra.Command) bool {
	o, ok := cmd.OutOrStdout().(*output)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	f, ok := o.w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// preview draws an array with characters, in so many columns: an array of one axis as
// a line of dots, else the first plane, a cell for an element or every n-th; or a
// histogram. Without colours planes are shaded.
func (w *drawing) preview(ctx context.Context, a ndfile.Array, columns int, colors bool) (string, error) {
	s := a.Spec()
	if s.NoData {
		return "", ndfile.NewError(ndfile.ErrNoData, "")
	}
	if _, err := plotDType(s.DType); err != nil {
		return "", err
	}
	if n, err := ndarray.Count(s.Shape); err != nil || n < 2 {
		return "", usage("an array of less than two elements cannot be drawn")
	}
	of := w.parts(s.DType)[0]
	var b strings.Builder
	head := func(least, most float64) {
		fmt.Fprintf(&b, "%s  %s to %s%s\n", w.title, formatNumber(least), formatNumber(most), either(of.label == "", "", "  "+of.label))
	}
	switch {
	case w.histogram:
		least, most, counts, err := readHistogram(ctx, a, of.of)
		if err != nil {
			return "", err
		}
		head(least, most)
		bars(&b, counts, columns)
		return b.String(), nil
	case len(s.Shape) == 1:
		points, err := readLine(ctx, a, columns, of.of)
		if err != nil {
			return "", err
		}
		least, most, ok := bounds(points)
		least, most = widened(least, most, ok)
		head(least, most)
		dots(&b, points, float64(s.Shape[0]-1), least, most, columns)
		return b.String(), nil
	}
	m, err := readHeatMap(ctx, a, w.axes, make([]int64, len(s.Shape)-2), columns, 2*columns, of.of)
	if err != nil {
		return "", err
	}
	p := panel{part: of, maps: []heatMap{m}}
	p.scale()
	head(p.least, p.most)
	plane(&b, &p, columns, colors)
	return b.String(), nil
}

func bounds(points []point) (least, most float64, ok bool) {
	m := heatMap{}
	for _, p := range points {
		m.values = append(m.values, p.y)
	}
	return m.bounds()
}

// plane draws a plane: two elements to a character in colours, else one.
func plane(b *strings.Builder, p *panel, columns int, colors bool) {
	m := &p.maps[0]
	cols, rows := m.Dims()
	wide := min(4, max(1, columns/cols))
	if !colors {
		const shades = " ░▒▓█"
		for row := rows - 1; row >= 0; row-- {
			for col := range cols {
				shade := "·" // missing
				if v := m.Z(col, row); !math.IsNaN(v) {
					shade = string([]rune(shades)[min(4, int(5*(v-p.least)/(p.most-p.least)))])
				}
				b.WriteString(strings.Repeat(shade, wide))
			}
			b.WriteString("\n")
		}
		return
	}
	for row := rows - 1; row >= 0; row -= 2 {
		for col := range cols {
			b.WriteString(escape(38, p.colors, m.Z(col, row)))
			if row > 0 {
				b.WriteString(escape(48, p.colors, m.Z(col, row-1)))
			}
			b.WriteString(strings.Repeat("▀", wide))
		}
		b.WriteString("\x1b[0m\n")
	}
}

// escape sets the colour of letters (38) or of what is behind them (48).
func escape(what int, colors palette.ColorMap, v float64) string {
	c, err := colors.At(v)
	if err != nil || math.IsNaN(v) {
		c = gapColor
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("\x1b[%d;2;%d;%d;%dm", what, r>>8, g>>8, b>>8)
}

// dots draws a line in characters of two by four dots. x runs from 0 to last.
func dots(b *strings.Builder, points []point, last, least, most float64, columns int) {
	const bit = "\x01\x02\x04\x40\x08\x10\x20\x80" // of a dot of Braille: down the left side, down the right
	grid := make([]byte, columns*previewRows)
	set := func(x, y int) {
		y = 4*previewRows - 1 - y
		grid[y/4*columns+x/2] |= bit[x%2*4+y%4]
	}
	fromX, fromY, any := 0, 0, false
	for _, p := range points {
		if math.IsNaN(p.y) {
			any = false
			continue
		}
		x := int(p.x / last * float64(2*columns-1))
		y := int((p.y - least) / (most - least) * (4*previewRows - 1))
		if !any {
			fromX, fromY, any = x, y, true
		}
		before := fromY
		for at := fromX; at <= x; at++ { // dots in each column between the two
			now := y
			if x > fromX {
				now = fromY + (y-fromY)*(at-fromX)/(x-fromX)
			}
			for between := min(before, now); between <= max(before, now); between++ {
				set(at, between)
			}
			before = now
		}
		fromX, fromY = x, y
	}
	for row := range previewRows {
		for _, cell := range grid[row*columns : (row+1)*columns] {
			b.WriteRune(rune(0x2800 + int(cell)))
		}
		b.WriteString("\n")
	}
}

// bars draws a histogram in eighths of characters.
func bars(b *strings.Builder, counts []float64, columns int) {
	n := min(columns, len(counts))
	heights, top := make([]float64, n), 0.0
	for i, c := range counts {
		heights[i*n/len(counts)] += c
	}
	for _, h := range heights {
		top = max(top, h)
	}
	const eighths = " ▁▂▃▄▅▆▇█"
	for row := previewRows - 1; row >= 0; row-- {
		for _, h := range heights {
			full := int(math.Ceil(h/top*8*previewRows)) - 8*row
			b.WriteRune([]rune(eighths)[min(8, max(0, full))])
		}
		b.WriteString("\n")
	}
}
