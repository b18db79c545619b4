package main

import (
	"cmp"
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// plot draws everything into a folder, each plot as PNG and SVG.
func (r *Results) plot(folder string, experiments []experiment) error {
	for _, x := range experiments {
		for _, row := range x.rows {
			for _, operation := range row.operations {
				var err error
				name := strings.Join([]string{x.name, operation, x.place}, "-")
				switch {
				case x.scale != "":
					continue
				case x.name == "tiny" || x.name == "small":
					err = r.dots(folder, name, x, row, operation, "cpu")
				case x.name == "large":
					err = r.dots(folder, name, x, row, operation, "wall")
				}
				if err != nil {
					return err
				}
			}
		}
		if x.scale != "" {
			for _, operation := range x.rows[0].operations {
				if err := r.lines(folder, x, operation); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// dots draws the times of one operation on a logarithmic axis, the quickest on top, with their intervals.
func (r *Results) dots(folder, name string, x experiment, row row, operation, metric string) error {
	type dot struct {
		contender string
		time      Estimate
	}
	var all []dot
	for _, contender := range row.contenders {
		if s := r.at(x, row, operation, contender); s != nil && len(s.Wall) > 0 {
			all = append(all, dot{contender, estimate(s.times(metric))})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b dot) int { return cmp.Compare(b.time.Median, a.time.Median) })
	const unit = 1e3 // ns in a µs
	var names []string
	var ours, theirs plotter.XYs
	var points errorPoints
	for i, d := range all {
		at := plotter.XY{X: d.time.Median / unit, Y: float64(i)}
		names = append(names, "  "+d.contender) // gonum cuts off what is as wide as it says
		if isOurs(d.contender) {
			ours = append(ours, at)
		} else {
			theirs = append(theirs, at)
		}
		points.XYs = append(points.XYs, at)
		points.XErrors = append(points.XErrors, struct{ Low, High float64 }{(d.time.Low - d.time.Median) / unit, (d.time.High - d.time.Median) / unit})
	}
	p := plot.New()
	p.Title.Text = operation + " " + x.title + ", in " + x.place
	p.X.Label.Text = metric + " time of a file, µs"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.NominalY(names...)
	p.Legend.Top, p.Legend.XOffs = true, -vg.Points(10)
	p.Add(plotter.NewGrid())
	intervals, err := plotter.NewXErrorBars(points)
	if err != nil {
		return err
	}
	p.Add(intervals)
	for _, kind := range []struct {
		points plotter.XYs
		color  color.Color
		label  string
	}{{ours, color.RGBA{0x1f, 0x77, 0xb4, 0xff}, "ndfile"}, {theirs, color.RGBA{0xd6, 0x60, 0x27, 0xff}, "others"}} {
		if len(kind.points) == 0 {
			continue
		}
		marks, err := plotter.NewScatter(kind.points)
		if err != nil {
			return err
		}
		marks.GlyphStyle = draw.GlyphStyle{Color: kind.color, Radius: vg.Points(4), Shape: draw.CircleGlyph{}}
		p.Add(marks)
		p.Legend.Add(kind.label, marks)
	}
	// From one power of ten to another, so that there are ticks.
	p.X.Min = math.Pow(10, math.Floor(math.Log10(all[len(all)-1].time.Median/unit)))
	p.X.Max = math.Pow(10, math.Ceil(math.Log10(all[0].time.High/unit)))
	return save(p, filepath.Join(folder, name), 18*vg.Centimeter, vg.Length(len(all))*0.5*vg.Centimeter+3*vg.Centimeter)
}

// isOurs reports whether a contender is a way to call ndfile.
func isOurs(contender string) bool {
	_, name, _ := strings.Cut(contender, "/")
	format, _, _ := strings.Cut(name, "-")
	return slices.Contains([]string{"ds", "ra", "npy", "bcolz", "zarr0", "zarr2", "zarr3", "ndfile"}, format) && !strings.HasPrefix(name, "ds-format") && name != "bcolz-zipline"
}

// errorPoints are points with an interval along x.
type errorPoints struct {
	plotter.XYs
	plotter.XErrors
}

// lines draws how the cost of an operation grows with the size.
func (r *Results) lines(folder string, x experiment, operation string) error {
	p := plot.New()
	p.Title.Text = operation + " " + x.title
	p.X.Label.Text, p.Y.Label.Text = x.scale, "CPU time of a piece of work, ms"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Left, p.Legend.Top = true, true
	p.Add(plotter.NewGrid())
	drawn := 0
	for _, contender := range x.rows[0].contenders {
		var points plotter.XYs
		for _, row := range x.rows {
			s := r.at(x, row, operation, contender)
			if s == nil || len(s.CPU) == 0 {
				continue
			}
			cost := median(slices.Clone(s.CPU)) / 1e6
			if x.scale == "files" {
				cost *= s.X
			}
			points = append(points, plotter.XY{X: s.X, Y: cost})
		}
		if len(points) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, marks.Color, marks.Shape = plotutil.Color(drawn), plotutil.Color(drawn), plotutil.Shape(drawn)
		p.Add(line, marks)
		p.Legend.Add(contender, line, marks)
		drawn++
	}
	if drawn == 0 {
		return nil
	}
	return save(p, filepath.Join(folder, x.name+"-"+operation), 16*vg.Centimeter, 12*vg.Centimeter)
}

// save writes a plot as PNG and SVG.
func save(p *plot.Plot, stem string, width, height vg.Length) error {
	for _, kind := range []string{".png", ".svg"} {
		if err := p.Save(width, height, stem+kind); err != nil {
			return err
		}
	}
	return nil
}
