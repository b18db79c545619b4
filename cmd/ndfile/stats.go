package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// statsJSON is an array in "stats --json".
type statsJSON struct {
	Path    text    `json:"path"`
	Name    text    `json:"name"`
	Units   text    `json:"units"`
	At      text    `json:"at"`
	DType   text    `json:"dtype"`
	Shape   []int64 `json:"shape" null:"without data"`
	Count   int64   `json:"count"`
	Missing int64   `json:"missing"`
	Min     value   `json:"min" null:"without elements, or order"`
	Max     value   `json:"max" null:"without elements, or order"`
	Mean    value   `json:"mean" null:"without elements, or not a number"`
}

func newStats() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats FILE[:NAME][SLICE]...",
		Short: "count, minimum, maximum and mean of arrays",
		Long: "stats reads arrays block by block, in bounded memory, and shows how many elements there\n" +
			"are, how many are missing, and minimum, maximum and mean of those that are not. As in\n" +
			"NumPy, a NaN makes all three NaN. Integers are summed exactly. What an element type has\n" +
			"no result for is shown as - (the mean of datetimes, the order of complex numbers).\n\n" +
			"Values are what the attributes say, in their units (scale_factor, add_offset, _FillValue,\n" +
			"missing_value, valid_range, times since a date), but with --raw as they are stored. --by\n" +
			"gives a line for each place along an axis, with its time, number or name; arrays without\n" +
			"that axis are left out.",
		Example:     "  ndfile stats x.ds\n  ndfile stats 'x.ds:temp[0:100]'\n  ndfile stats x.nc:sst --by time",
		Annotations: schema([]statsJSON{}),
		Args:        cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list := []statsJSON{}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
			by := word(cmd, "by")
			err := each(cmd.Context(), args, func(t target) error {
				t.decode = decodes(cmd)
				rows, err := statsFile(cmd.Context(), t, by)
				list = append(list, rows...)
				return err
			})
			if asJSON(cmd) {
				return joined(err, emit(cmd, list))
			}
			if len(list) > 0 {
				fmt.Fprintln(w, strings.Join([]string{"array", either(by == "", "dtype", by), "shape", "count", "missing", "min", "max", "mean", "units"}, "\t"))
			}
			for _, r := range list {
				r.print(w)
			}
			return joined(err, w.Flush())
		},
	}
	addDecode(cmd)
	cmd.Flags().String("by", "", "the name of an axis: a line for each place along it")
	return cmd
}

func (s *statsJSON) print(w *tabwriter.Writer) {
	shape := either(s.Shape == nil, "no data", shapeText(s.Shape))
	where := printablePath(string(s.Path))
	if s.Name != "" {
		where += ":" + printable(string(s.Name))
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", where, either(s.At == "", string(s.DType), string(s.At)), shape, s.Count, s.Missing,
		plain(s.Min), plain(s.Max), plain(s.Mean), either(s.Units == "", "-", string(s.Units)))
}

// plain is a JSON value of a number or a time as text.
func plain(v value) string {
	if v == nil {
		return "-"
	}
	return strings.ReplaceAll(string(v), `"`, "")
}

// statsFile gives the results of each array, with by of each place along that axis.
func statsFile(ctx context.Context, t target, by string) (rows []statsJSON, err error) {
	f, _, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Abort()
	names, err := t.names(f, nil)
	if err != nil {
		return nil, err
	}
	var failed failures
	for _, name := range names {
		a, err := t.array(f, name)
		if err != nil {
			return rows, err
		}
		found, err := statsPlaces(ctx, f, name, a, by)
		for i := range found {
			found[i].Path, found[i].Name = text(t.path), text(name)
			if t.decode {
				found[i].Units = text(unitsOf(a))
			}
		}
		rows = append(rows, found...)
		if err != nil {
			failed.add(ndfile.Locate(err, t.path, name, f.Kind() != ndfile.Single))
		}
	}
	if by != "" && len(rows) == 0 && failed == nil {
		return nil, usage("no array has the axis " + printable(by)).On(t.path)
	}
	return rows, failed.err()
}

// statsPlaces gives the results of an array, or those at each place along an axis;
// none where it has no such axis.
func statsPlaces(ctx context.Context, f ndfile.File, name string, a ndfile.Array, by string) ([]statsJSON, error) {
	s := a.Spec()
	if by == "" {
		row, err := statsArray(ctx, a, ndarray.Full(s.Shape))
		if err != nil {
			return nil, err
		}
		return []statsJSON{row}, nil
	}
	along := slices.Index(s.Dims, by)
	if along < 0 || s.NoData || path.Base(name) == by { // the places themselves
		return nil, nil
	}
	x := axesOf(ctx, f, name, a)[along]
	var rows []statsJSON
	for i := range s.Shape[along] {
		box := ndarray.Full(s.Shape)
		box.Start[along], box.Count[along] = i, 1
		row, err := statsArray(ctx, a, box)
		if err != nil {
			return rows, err
		}
		row.At = text(x.place(i))
		rows = append(rows, row)
	}
	return rows, nil
}

// statsArray reads a box of an array, once where its dtype has all of the results.
func statsArray(ctx context.Context, a ndfile.Array, box ndarray.Box) (statsJSON, error) {
	s := a.Spec()
	row := statsJSON{DType: text(s.DType.String())}
	if s.NoData {
		return row, nil
	}
	row.Shape = append([]int64{}, box.Count...)
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return row, err
	}
	if s.DType.IsVar() && !s.Masked {
		row.Count = n
		return row, nil
	}
	var sum ndfile.Summary
	for _, what := range []ndfile.Reduction{
		ndfile.ReduceMin | ndfile.ReduceMax | ndfile.ReduceMean, ndfile.ReduceMin | ndfile.ReduceMax, ndfile.ReduceMean, 0,
	} {
		sum, err = ndfile.Reduce(ctx, a, box, what)
		switch ndfile.KindOf(err) {
		case ndfile.ErrDType, ndfile.ErrNotSupported: // refused before anything is read
			continue
		case ndfile.ErrValue: // no elements
			sum, err = ndfile.Reduce(ctx, a, box, 0)
		}
		break
	}
	if err != nil {
		return row, err
	}
	row.Count, row.Missing = sum.Count, n-sum.Count
	if row.Count > 0 {
		row.Min, row.Max, row.Mean = scalarJSON(sum.Min), scalarJSON(sum.Max), scalarJSON(sum.Mean)
	}
	return row, nil
}

// scalarJSON is a result as a JSON value, nil where there is none.
func scalarJSON(s ndfile.Scalar) value {
	if s.DType.Kind == ndarray.Invalid {
		return nil
	}
	return appendScalar(nil, s, true)
}
