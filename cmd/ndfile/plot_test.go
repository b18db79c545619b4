package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// plotted draws an argument and decodes the picture.
func plotted(t *testing.T, arg string, width, height int) (image.Image, plotJSON) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x.png")
	text := ok(t, "plot", "--json", arg, "-o", out, "--width", strconv.Itoa(width), "--height", strconv.Itoa(height))
	var done plotJSON
	if err := json.Unmarshal([]byte(text), &done); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != width || size.Y != height {
		t.Errorf("%s: %v, want %d x %d", arg, size, width, height)
	}
	return img, done
}

// count is the number of pixels of a colour.
func count(img image.Image, c color.RGBA) (n int) {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); r>>8 == uint32(c.R) && g>>8 == uint32(c.G) && b>>8 == uint32(c.B) {
				n++
			}
		}
	}
	return n
}

// colors is the number of colours.
func colors(img image.Image) int {
	seen := map[color.Color]bool{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			seen[img.At(x, y)] = true
		}
	}
	return len(seen)
}

func TestPlotKinds(t *testing.T) {
	demo := demoFile(t)
	for _, c := range []struct {
		arg, kind     string
		slices        int
		width, height int
	}{
		{demo + ":time", "line", 1, 300, 200},
		{demo + ":temperature", "heatmap", 1, 800, 600},
		{demo + ":temperature[0]", "line", 1, 300, 200},
		{demo + ":rain", "heatmap", 1, 300, 200},
		{raDir + "f8_5d_2x3x2x2x3.ra", "slices", 12, 800, 600},
		{raDir + "i4_3d_2x3x4.ra", "slices", 4, 400, 300},
		{raDir + "test.ra", "heatmap", 1, 300, 200},
		{raDir + "i64_1d.ra", "line", 1, 300, 200},
		{raDir + "u64_1d.ra", "line", 1, 300, 200},
		{raDir + "f64_1d.ra", "line", 1, 300, 200},
		{raDir + "bf16_1d.ra", "line", 1, 300, 200},
		{bcolzDir + "dt_day", "line", 1, 300, 200},
		{bcolzDir + "quantize", "line", 1, 200, 100},
		{bcolzDir + "nd_wide", "heatmap", 1, 400, 300},
		{bcolzDir + "one", "line", 1, 300, 200},
		{zarrDir + "zero_length[...]", "", 0, 300, 200},
	} {
		if c.kind == "" {
			fails(t, exitUsage, "without elements", "plot", c.arg, "-o", filepath.Join(t.TempDir(), "x.png"))
			continue
		}
		img, done := plotted(t, c.arg, c.width, c.height)
		if string(done.Kind) != c.kind || done.Slices != c.slices {
			t.Errorf("%s: %+v", c.arg, done)
		}
		if n := colors(img); n < 10 {
			t.Errorf("%s: %d colours", c.arg, n)
		}
	}
}

// Missing elements are grey in a heat map and gaps in a line.
func TestPlotGaps(t *testing.T) {
	demo := demoFile(t)
	img, _ := plotted(t, demo+":temperature", 400, 300)
	if n := count(img, gapColor); n < 400*300/12 {
		t.Errorf("%d pixels of the gap", n)
	}
	// the second row has none: what is grey there is the edge of other things
	img, _ = plotted(t, demo+":temperature[1:]", 400, 300)
	if n := count(img, gapColor); n > 400*300/50 {
		t.Errorf("%d pixels of a gap that is not there", n)
	}
	zeros := make([]float32, 9)
	for i := range zeros {
		zeros[i] = float32(i % 3)
	}
	item := ndfile.Item{Name: "x", Data: float32s([]int64{9}, zeros...)}
	gaps := item
	gaps.Name, gaps.Mask = "gaps", []byte{0, 0, 1, 1, 1, 1, 1, 0, 0}
	gaps.Data = item.Data
	path := filepath.Join(t.TempDir(), "x.ds")
	if err := ndfile.Save(context.Background(), all.Formats, path, []ndfile.Item{item, gaps}, ndfile.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	full, _ := plotted(t, path+":x", 400, 300)
	holes, _ := plotted(t, path+":gaps", 400, 300)
	if a, b := ink(full), ink(holes); b == 0 || b > a/2 {
		t.Errorf("%d pixels of the line, %d with gaps", a, b)
	}
}

// ink is the number of bluish pixels.
func ink(img image.Image) (n int) {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, _, b, _ := img.At(x, y).RGBA(); b > r+0x2000 {
				n++
			}
		}
	}
	return n
}

// A single peak among many elements stays visible, and far apart, tiny, constant and
// extreme numbers can be drawn.
func TestPlotNumbers(t *testing.T) {
	peak := make([]float64, 200000)
	peak[123457] = 1
	for name, values := range map[string][]float64{
		"peak": peak, "constant": {7, 7, 7, 7}, "missing": {math.NaN(), math.NaN()}, "huge": {-math.MaxFloat64, 0, math.MaxFloat64},
		"tiny": {0, 5e-324, 1e-320}, "close": {1, math.Nextafter(1, 2)}, "inf": {1, math.Inf(1), math.Inf(-1), 2},
	} {
		b := ndarray.Buffer{DType: ndarray.MustParse("f8"), Shape: []int64{int64(len(values))}}
		for _, v := range values {
			b.Data = binary.NativeEndian.AppendUint64(b.Data, math.Float64bits(v))
		}
		square := b
		square.Shape = []int64{1, b.Shape[0]}
		path := filepath.Join(t.TempDir(), "x.ds")
		items := []ndfile.Item{{Name: "line", Data: b}, {Name: "map", Data: square}}
		if err := ndfile.Save(context.Background(), all.Formats, path, items, ndfile.SaveOptions{}); err != nil {
			t.Fatal(err)
		}
		img, _ := plotted(t, path+":line", 300, 200)
		if colors(img) < 2 {
			t.Errorf("%s: one colour", name)
		}
		if name == "peak" && ink(img) < 300+100 {
			t.Errorf("the peak is not there: %d pixels", ink(img))
		}
		if img, _ = plotted(t, path+":map", 300, 200); colors(img) < 2 {
			t.Errorf("%s: heat map of one colour", name)
		}
	}
}

func TestPlotRefuses(t *testing.T) {
	demo := demoFile(t)
	out := filepath.Join(t.TempDir(), "x.png")
	fails(t, exitUsage, "which of the arrays", "plot", demo, "-o", out)
	fails(t, exitUsage, "single number", "plot", demo+":height", "-o", out)
	fails(t, exitBad, "cannot be drawn", "plot", demo+":station", "-o", out)
	fails(t, exitUsage, "pixels", "plot", demo+":time", "-o", out, "--width", "20000")
	ok(t, "plot", demo+":time", "-o", out)
	fails(t, exitIO, "x.png", "plot", demo+":time", "-o", out)
	ok(t, "plot", demo+":time", "-o", out, "--force")
}

func TestIndexTicks(t *testing.T) {
	for _, most := range []float64{0.5, 1.5, 7.5, 9.5, 14.5, 49.5, 99.5, 1234.5, 1e6, 1e12} {
		n := len(indexTicks{}.Ticks(-0.5, most))
		if n < 1 || n > 9 {
			t.Errorf("to %g: %d ticks", most, n)
		}
	}
	if ticks := (indexTicks{down: true}).Ticks(-2.5, 0.5); len(ticks) != 3 || ticks[0].Label != "2" || ticks[2].Label != "0" {
		t.Errorf("%v", ticks)
	}
}
