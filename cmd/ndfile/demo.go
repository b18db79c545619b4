package main

import (
	"encoding/binary"
	"math"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

func newDemo() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "demo [FILE]",
		Short:       "write a small ds file with numbers, missing values and text, and show it",
		Long:        "demo writes a file to play with, demo.ds or FILE, and shows it as info does.",
		Annotations: schema([]infoJSON{}),
		Args:        cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "demo.ds"
			if len(args) > 0 {
				path = args[0]
			}
			var opt ndfile.SaveOptions
			opt.Exclusive = !flag(cmd, "force")
			opt.Attrs = ndfile.NewAttrs()
			opt.Attrs.Set("title", ndfile.StringValue("two stations, three days"))
			if err := ndfile.Save(cmd.Context(), all.Formats, path, demoItems(), opt); err != nil {
				return err
			}
			info, err := describe(cmd, target{path: path})
			if err != nil {
				return err
			}
			if asJSON(cmd) {
				return emit(cmd, []infoJSON{info})
			}
			info.print(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().Bool("force", false, "overwrite the file if it exists")
	return cmd
}

// demoItems are the arrays of the demonstration: docs/examples reads them.
func demoItems() []ndfile.Item {
	kelvin := ndfile.NewAttrs()
	kelvin.Set("units", ndfile.StringValue("K"))
	days := ndfile.NewAttrs()
	days.Set("units", ndfile.StringValue("days since 2026-01-01"))
	names := "Praha-LibušReykjavík"
	return []ndfile.Item{
		{Name: "temperature", Dims: []string{"station", "time"}, Attrs: kelvin, Mask: []byte{0, 0, 1, 0, 0, 0},
			Data: float32s([]int64{2, 3}, 271.25, 272.5, 0, 268, 269.75, 270.5)},
		{Name: "time", Dims: []string{"time"}, Attrs: days, Data: int64s([]int64{3}, 0, 1, 2)},
		{Name: "rain", Dims: []string{"station", "time"},
			Data: ndarray.Buffer{DType: ndarray.MustParse("|b1"), Shape: []int64{2, 3}, Data: []byte{0, 1, 1, 0, 0, 1}}},
		{Name: "station", Dims: []string{"station"}, Offsets: []int64{0, 12, int64(len(names))},
			Data: ndarray.Buffer{DType: ndarray.MustParse("str"), Shape: []int64{2}, Data: []byte(names)}},
		{Name: "height", Data: int64s(nil, 2)},
	}
}

// float32s and int64s give native arrays.
func float32s(shape []int64, v ...float32) ndarray.Buffer {
	b := ndarray.Buffer{DType: ndarray.MustParse("f4"), Shape: shape}
	for _, x := range v {
		b.Data = binary.NativeEndian.AppendUint32(b.Data, math.Float32bits(x))
	}
	return b
}

func int64s(shape []int64, v ...int64) ndarray.Buffer {
	b := ndarray.Buffer{DType: ndarray.MustParse("i8"), Shape: shape}
	for _, x := range v {
		b.Data = binary.NativeEndian.AppendUint64(b.Data, uint64(x))
	}
	return b
}
