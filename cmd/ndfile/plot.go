package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

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
		Short: "draw an array as a PNG or SVG: a line, a heat map, slices, a histogram",
		Long: "plot draws an array of one axis as a line, of two as a heat map, and of more as heat maps\n" +
			"of the last two axes, at up to 16 places spread evenly over the others. Of complex numbers it\n" +
			"draws the absolute value and the phase.\n\n" +
			"An array of one axis that bears the name of a dimension gives the places along it: numbers,\n" +
			"times, names. Without one, elements are counted, and the first axis of a heat map runs down.\n" +
			"Degrees of latitude and longitude have one scale. long_name and units name the values;\n" +
			"scale_factor, add_offset, _FillValue, missing_value and valid_range are applied, but with\n" +
			"--raw.\n\n" +
			"--preview draws into the terminal instead: a line of dots, the first plane in colours (shades\n" +
			"where there are none, or NO_COLOR is set), a histogram.\n\n" +
			"Missing values, NaN and what is beyond 1e300 are gaps. Where a line has more elements than\n" +
			"the picture pixels, it goes through the least and the greatest of each pixel; of a heat map\n" +
			"every n-th element is drawn.",
		Example: "  ndfile plot x.ds:temp\n  ndfile plot 'x.ds:temp[0]' --out first.svg --width 1200 --height 800\n  ndfile plot x.ds:rain --histogram --log",
		Annotations: map[string]string{
			schemaKey: schema(plotJSON{})[schemaKey] + "\n\nkind is line, heatmap, slices or histogram.",
		},
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := one(args[0])
			if err != nil {
				return err
			}
			if flag(cmd, "preview") {
				return previewTarget(cmd, t)
			}
			done, err := plotTarget(cmd, t)
			if err != nil || !asJSON(cmd) {
				return err
			}
			return emit(cmd, done)
		},
	}
	cmd.Flags().StringP("out", "o", "", "the picture, .png or .svg; else NAME.png or the name of the file with .png, in the current folder")
	cmd.Flags().Bool("histogram", false, "draw how often values occur")
	cmd.Flags().Bool("log", false, "a logarithmic scale of values, of a histogram one of counts; what is not above 0 is a gap")
	cmd.Flags().Bool("preview", false, "draw into the terminal, no file")
	cmd.Flags().Bool("raw", false, "values as they are stored")
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
	how := drawingOf(cmd, t, f, name, a)
	how.width, how.height, how.svg = width, height, strings.EqualFold(filepath.Ext(out), ".svg")
	pic, err := how.draw(cmd.Context(), a)
	if err != nil {
		return done, ndfile.Locate(err, t.path, name, f.Kind() != ndfile.Single)
	}
	done.Kind, done.Slices = text(pic.kind), pic.slices
	var opt ndfile.WriteOptions
	opt.Exclusive = !flag(cmd, "force")
	return done, ndfile.Locate(ndfile.OS.WriteFile(out, [][]byte{pic.data}, opt), out, "", false)
}

// drawingOf is how the flags want an array to be drawn.
func drawingOf(cmd *cobra.Command, t target, f ndfile.File, name string, a ndfile.Array) drawing {
	return drawing{title: either(name == "", filepath.Base(t.path), name), log: flag(cmd, "log"), histogram: flag(cmd, "histogram"),
		axes: axesOf(cmd.Context(), f, name, a), values: decodingOf(a.Attrs(), flag(cmd, "raw"))}
}

// previewTarget draws into the terminal.
func previewTarget(cmd *cobra.Command, t target) error {
	f, _, err := t.open(cmd.Context())
	if err != nil {
		return err
	}
	defer f.Abort()
	a, name, err := t.only(f)
	if err != nil {
		return err
	}
	width := 80
	if o, ok := cmd.OutOrStdout().(*output); ok {
		width = columns(o.w)
	}
	how := drawingOf(cmd, t, f, name, a)
	text, err := how.preview(cmd.Context(), a, width, inColor(cmd))
	if err == nil {
		_, err = io.WriteString(cmd.OutOrStdout(), text)
	}
	return ndfile.Locate(err, t.path, name, f.Kind() != ndfile.Single)
}

// pictureName is the name of a picture that the user did not name.
func pictureName(path, name string) string {
	if name == "" {
		base := filepath.Base(path)
		name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	return strings.ReplaceAll(name, string(os.PathSeparator), "_") + ".png"
}
