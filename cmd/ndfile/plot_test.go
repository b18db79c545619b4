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
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/plot"

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

// weather is a file with coordinates: latitudes that fall, times, names of stations.
func weather(t *testing.T) string {
	t.Helper()
	attrs := func(text string) *ndfile.Attrs {
		o, err := ndfile.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	packed := attrs(`{"units": "degC", "long_name": "temperature", "scale_factor": 0.5, "_FillValue": -1}`)
	path := filepath.Join(t.TempDir(), "w.ds")
	items := []ndfile.Item{
		{Name: "t", Data: float32s([]int64{3, 4}, 1, 2, 3, 4, 5, -1, 7, 8, 9, 10, 11, 12), Dims: []string{"lat", "time"}, Attrs: packed},
		{Name: "lat", Data: float32s([]int64{3}, 60, 0, -60), Dims: []string{"lat"}, Attrs: attrs(`{"units": "degrees_north"}`)},
		{Name: "time", Data: float32s([]int64{4}, 0, 1, 2, 5), Dims: []string{"time"}, Attrs: attrs(`{"units": "days since 2026-11-01"}`)},
		{Name: "uneven", Data: float32s([]int64{4}, 0, 3, 2, 5), Dims: []string{"uneven"}},
		{Name: "z", Data: float32s([]int64{4}, 0, 3, 2, 5), Dims: []string{"uneven"}},
	}
	if err := ndfile.Save(context.Background(), all.Formats, path, items, ndfile.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPlotAxes: arrays that bear the names of dimensions give the places, also of a
// part of an array; attributes say what values are.
func TestPlotAxes(t *testing.T) {
	path, ctx := weather(t), context.Background()
	f, err := ndfile.Open(ctx, all.Formats, path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	target, err := one(path + ":t[1:, ::-1]")
	if err != nil {
		t.Fatal(err)
	}
	a, name, err := target.only(f)
	if err != nil {
		t.Fatal(err)
	}
	axes := axesOf(ctx, f, name, a)
	const day, first = 86400, 1793491200 // 2026-11-01
	if want := []float64{0, -60}; !slices.Equal(axes[0].places, want) || axes[0].label != "lat [degrees_north]" || !axes[0].degrees() {
		t.Errorf("%+v", axes[0])
	}
	if want := []float64{first + 5*day, first + 2*day, first + day, first}; !slices.Equal(axes[1].places, want) || !axes[1].times || axes[1].label != "time" {
		t.Errorf("%+v", axes[1])
	}
	d := decodingOf(a.Attrs(), false)
	m, err := readHeatMap(ctx, a, axes, nil, 300, 200, func(t ndarray.DType, data []byte) float64 { return d.unpack(number(t, data)) })
	if err != nil {
		t.Fatal(err)
	}
	// Places rise: latitude -60 comes first, and of its row the first time.
	if m.Z(0, 0) != 4.5 || m.Z(3, 0) != 6 || m.Z(0, 1) != 2.5 || !math.IsNaN(m.Z(1, 1)) || m.Y(0) != -60 || m.X(3) != first+5*day {
		t.Errorf("%+v", m)
	}
	if d.label() != "temperature [degC]" {
		t.Errorf("label %q", d.label())
	}
	if raw := decodingOf(a.Attrs(), true); raw.unpack(-1) != -1 || raw.units != "degC" {
		t.Errorf("raw: %+v", raw)
	}
	if a, err = f.Array("z"); err != nil {
		t.Fatal(err)
	}
	if x := axesOf(ctx, f, "z", a)[0]; x.places != nil || x.label != "uneven" {
		t.Errorf("places that neither rise nor fall: %+v", x)
	}
}

func TestTimeUnit(t *testing.T) {
	for units, want := range map[string][2]float64{
		"hours since 2026-11-22":                 {3600, 1795305600},
		"seconds since 1970-01-01T00:00:00Z":     {1, 0},
		"s since 1970-01-01 00:01:00":            {1, 60},
		"days since 2000-1-1 12:00":              {86400, 946728000},
		"days since -4712-01-01 12:00 UTC":       {86400, julianEpoch},
		"milliseconds since 1970-01-01 00:00:01": {1e-3, 1},
		"months since 2000-01-01":                {},
		"days since 1500-01-01":                  {},
		"K":                                      {},
	} {
		seconds, epoch, ok := timeUnit(units, "standard")
		if ok != (want[0] != 0) || seconds != want[0] || epoch != want[1] {
			t.Errorf("%s: %g, %g, %v", units, seconds, epoch, ok)
		}
	}
	if _, _, ok := timeUnit("days since 2000-01-01", "noleap"); ok {
		t.Error("a calendar of its own is taken for ours")
	}
}

func TestTimeTicks(t *testing.T) {
	const day, first = 86400, 1793491200 // 2026-11-01
	for span, want := range map[float64]string{30: "00:00:00", 7200: "00:00", 2 * day: "11-01 00:00", 20 * day: "2026-11-12", 400 * day: "2027-01", 4000 * day: "2028"} {
		ticks := timeTicks{6}.Ticks(first, first+span)
		if len(ticks) < 2 || len(ticks) > 8 || !slices.ContainsFunc(ticks, func(x plot.Tick) bool { return x.Label == want }) {
			t.Errorf("%g days: %v, want %s among them", span/day, ticks, want)
		}
	}
}

// TestPlotOptions: histograms, logarithms, SVG, phases, maps of degrees.
func TestPlotOptions(t *testing.T) {
	path := weather(t)
	for _, args := range [][]string{{path + ":t", "--histogram"}, {path + ":t", "--histogram", "--log"}, {path + ":t", "--log"}, {path + ":t", "--raw"}, {path + ":z"}} {
		out := filepath.Join(t.TempDir(), "x.svg")
		ok(t, append([]string{"plot", "-o", out}, args...)...)
		if data, err := os.ReadFile(out); err != nil || !bytes.Contains(data, []byte("<svg")) {
			t.Errorf("%v: %v, %.40q", args, err, data)
		}
	}
	out := filepath.Join(t.TempDir(), "x.svg")
	ok(t, "plot", path+":t", "-o", out)
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"temperature [degC]", "lat [degrees_north]", "2026-11-03", ">-80<"} {
		if !bytes.Contains(data, []byte(want)) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	img, done := plotted(t, raDir+"test.ra", 600, 300)
	if done.Slices != 1 || colors(img) < 100 {
		t.Errorf("complex: %+v, %d colours", done, colors(img))
	}
}
