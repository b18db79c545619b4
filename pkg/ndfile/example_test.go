package ndfile_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

var (
	ctx = context.Background()
	// mem is a file system in memory; without one in the options it is the machine's.
	mem = ndfile.NewMem()
)

// A file is saved in one call, opened, and read as slices.
func Example() {
	t := ndarray.Of([]float32{271.25, 270, 272.5, 268, 269.75, 270.5}, 2, 3)
	items := []ndfile.Item{
		{Name: "t", Data: t, Dims: []string{"station", "day"}},
		ndfile.Texts("station", []string{"Praha", "Oslo"}),
	}
	if err := ndfile.Save(ctx, all.Formats, "weather.ds", items, ndfile.SaveOptions{FS: mem}); err != nil {
		log.Fatal(err)
	}

	f, err := ndfile.Open(ctx, all.Formats, "weather.ds", ndfile.OpenOptions{FS: mem})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close(ctx)
	a, err := f.Array("t")
	if err != nil {
		log.Fatal(err)
	}
	spec := a.Spec()
	fmt.Println(f.Names(), spec.DType, spec.Shape, spec.Dims)
	lastDay, err := ndfile.Read[float64](ctx, a, ndarray.Box{Start: []int64{0, 2}, Count: []int64{2, 1}})
	fmt.Println(lastDay, err)
	// Output:
	// [station t] <f4 [2 3] [station day]
	// [272.5 270.5] <nil>
}

// Errors are of kinds, which errors.Is knows, and say where.
func ExampleOpen() {
	_, err := ndfile.Open(ctx, all.Formats, "none.ds", ndfile.OpenOptions{FS: mem})
	fmt.Println(errors.Is(err, ndfile.ErrNotFound))
	fmt.Println(ndfile.KindOf(err) == ndfile.ErrNotFound)
	// Output:
	// true
	// true
}

// An array that grows is created empty and appended to.
func ExampleCreate() {
	f, err := ndfile.Create(ctx, all.Formats, "steps.zarr", ndfile.CreateOptions{FS: mem, Format: "zarr3"})
	if err != nil {
		log.Fatal(err)
	}
	a, err := f.Add(ctx, "", ndfile.Spec{DType: ndarray.TypeOf[float64](), Shape: []int64{0, 3}, Chunks: []int64{100, 3}})
	if err != nil {
		log.Fatal(err)
	}
	for step := range 4 {
		x := float64(step)
		if err := a.(ndfile.Resizer).Append(ctx, 0, ndarray.Of([]float64{x, x * x, x * x * x}, 1, 3)); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(a.Spec().Shape)
	if err := f.Close(ctx); err != nil { // here it appears
		log.Fatal(err)
	}
	// Output: [4 3]
}

// Only values that the stored type has are given: a slice may be of a wider type.
func ExampleReadAll() {
	a := stored("n.npy", ndfile.Item{Data: ndarray.Of([]int16{1, 2, 3})})
	wide, err := ndfile.ReadAll[float64](ctx, a)
	fmt.Println(wide, err)
	_, err = ndfile.ReadAll[uint8](ctx, a)
	fmt.Println(errors.Is(err, ndfile.ErrDType))
	// Output:
	// [1 2 3] <nil>
	// true
}

// Missing elements are zero, and marked.
func ExampleReadMasked() {
	a := stored("rain.ds", ndfile.Item{Name: "rain", Data: ndarray.Of([]float64{1.5, 0, 0}), Mask: []byte{0, 0, 1}})
	rain, missing, err := ndfile.ReadMasked[float64](ctx, a, ndarray.Full(a.Spec().Shape))
	fmt.Println(rain, missing, err)
	// Output: [1.5 0 0] [false false true] <nil>
}

func ExampleReadStrings() {
	a := stored("names.ds", ndfile.Texts("name", []string{"Praha", "Oslo", "Brno"}))
	names, _, err := ndfile.ReadStrings(ctx, a, ndarray.Box{Start: []int64{1}, Count: []int64{2}})
	fmt.Println(names, err)
	// Output: [Oslo Brno] <nil>
}

// An array of any size is gone over in memory for one block.
func ExampleBlocks() {
	a := stored("long.npy", ndfile.Item{Data: ndarray.Of(make([]uint16, 3_000_000), 1000, 3000)})
	rows, sum := int64(0), 0.0
	for b, err := range ndfile.Blocks[float64](ctx, a, 1<<20) {
		if err != nil {
			log.Fatal(err)
		}
		rows += b.Box.Count[0]
		for _, x := range b.Data {
			sum += x
		}
	}
	fmt.Println(rows, sum)
	// Output: 1000 0
}

// Rows of a table are structs.
func ExampleRows() {
	type bar struct {
		Day    time.Time
		Sym    string
		Close  float64
		Volume uint64 `ndfile:"shares traded"`
	}
	f, err := ndfile.Create(ctx, all.Formats, "bars.bcolz", ndfile.CreateOptions{FS: mem})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range [][2]string{{"day", "<M8[D]"}, {"sym", "S4"}, {"close", "<f8"}, {"shares traded", "<u8"}} {
		if _, err := f.Add(ctx, c[0], ndfile.Spec{DType: ndarray.MustParse(c[1]), Shape: []int64{0}}); err != nil {
			log.Fatal(err)
		}
	}
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	err = ndfile.Append(ctx, f, []bar{{day, "A", 1.5, 100}, {day, "B", 20, 50}, {day.AddDate(0, 0, 1), "A", 1.75, 300}})
	if err == nil {
		err = f.Close(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}

	if f, err = ndfile.Open(ctx, all.Formats, "bars.bcolz", ndfile.OpenOptions{FS: mem}); err != nil {
		log.Fatal(err)
	}
	defer f.Close(ctx)
	ofA, err := ndfile.ParseCondition(`sym == "A" and close < 10`)
	if err != nil {
		log.Fatal(err)
	}
	for b, err := range ndfile.Rows[bar](ctx, f, ndfile.Query{Condition: ofA}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.Day.Format(time.DateOnly), b.Close, b.Volume)
	}
	// Output:
	// 2026-03-02 1.5 100
	// 2026-03-03 1.75 300
}

// Reductions need no memory for the array.
func ExampleReduce() {
	a := stored("r.ra", ndfile.Item{Data: ndarray.Of([]float64{1, 2, 3, 4}, 2, 2)})
	s, err := ndfile.Reduce(ctx, a, ndarray.Full(a.Spec().Shape), ndfile.ReduceMean|ndfile.ReduceMax)
	fmt.Println(s.Count, s.Mean.Float, s.Max.Float, err)
	// Output: 4 2.5 4 <nil>
}

// What the other format has no place for is named before anything is written.
func ExampleConvert() {
	stored("masked.ds", ndfile.Item{Name: "x", Data: ndarray.Of([]int32{1, 2}), Mask: []byte{0, 1}})
	losses, err := ndfile.Convert(ctx, all.Formats, "masked.ds", "plain.npy", ndfile.ConvertOptions{FS: mem})
	fmt.Println(errors.Is(err, ndfile.ErrLoss))
	for _, l := range losses {
		fmt.Println(l.Array, l.What)
	}
	// Output:
	// true
	// x mask
}

// What a format can do is a set of bits with names.
func ExampleCaps_Names() {
	f, err := ndfile.FormatByName(all.Formats, "npy")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Caps().Names())
	// Output: [create write-once one-shot map]
}

// stored is a new file's only array, open.
func stored(path string, item ndfile.Item) ndfile.Array {
	if err := ndfile.Save(ctx, all.Formats, path, []ndfile.Item{item}, ndfile.SaveOptions{FS: mem}); err != nil {
		log.Fatal(err)
	}
	f, err := ndfile.Open(ctx, all.Formats, path, ndfile.OpenOptions{FS: mem})
	if err != nil {
		log.Fatal(err)
	}
	a, err := f.Array(item.Name)
	if err != nil {
		log.Fatal(err)
	}
	return a
}
