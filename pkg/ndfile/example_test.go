package ndfile_test

import (
	"context"
	"fmt"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// A file is saved in one call, opened, and read by boxes: start, count and step along
// each axis. mem is a file system in memory; ndfile.OS, the default, is the
// machine's.
func Example() {
	ctx, mem := context.Background(), ndfile.NewMem()
	t := ndarray.Buffer{DType: ndarray.MustParse("|i1"), Shape: []int64{2, 3}, Data: []byte{1, 2, 3, 4, 5, 6}}
	items := []ndfile.Item{{Name: "t", Data: t, Dims: []string{"station", "day"}}}
	opt := ndfile.SaveOptions{}
	opt.FS = mem
	if err := ndfile.Save(ctx, all.Formats, "weather.ds", items, opt); err != nil {
		fmt.Println(err)
		return
	}

	f, err := ndfile.Open(ctx, all.Formats, "weather.ds", ndfile.OpenOptions{FS: mem})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close(ctx)
	a, err := f.Array("t")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Spec().DType, a.Spec().Shape, a.Spec().Dims)
	box := ndarray.Box{Start: []int64{0, 2}, Count: []int64{2, 1}} // the last day
	last, err := ndarray.NewBuffer(ndarray.MustParse("<f4"), box.Count)
	if err == nil {
		err = a.ReadBox(ctx, box, last) // int8 widens to float32 exactly
	}
	fmt.Printf("% x %v\n", last.Data, err)
	// Output:
	// |i1 [2 3] [station day]
	// 00 00 40 40 00 00 c0 40 <nil>
}

// Errors are of kinds, which errors.Is knows, and say where.
func ExampleOpen() {
	_, err := ndfile.Open(context.Background(), all.Formats, "none.ds", ndfile.OpenOptions{FS: ndfile.NewMem()})
	fmt.Println(ndfile.KindOf(err) == ndfile.ErrNotFound)
	// Output: true
}

// What a format can do is a set of bits with names.
func ExampleCaps_Names() {
	f, err := ndfile.FormatByName(all.Formats, "npy")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Caps().Names())
	// Output: [create write-once one-shot map]
}
