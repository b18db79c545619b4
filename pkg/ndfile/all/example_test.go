package all_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
	"github.com/ndfile/ndfile/pkg/store"
)

// An array of Zarr 2 in a store: here one over an fs.FS, as an embed.FS is.
func ExampleOpenStore() {
	ctx := context.Background()
	files := store.OfFS(fstest.MapFS{
		"run/temp/.zarray": {Data: []byte(`{"zarr_format": 2, "shape": [5], "chunks": [3], "dtype": "<i2",
			"fill_value": 7, "order": "C", "filters": null, "compressor": null}`)},
		"run/temp/.zattrs": {Data: []byte(`{"units": "K"}`)},
		"run/temp/0":       {Data: []byte{1, 0, 2, 0, 3, 0}},
	})
	f, err := ndfile.OpenStore(ctx, all.Formats, files, "run/temp", ndfile.OpenOptions{Format: "zarr2"})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close(ctx)
	a, err := f.Array("")
	if err != nil {
		log.Fatal(err)
	}
	values, err := ndfile.ReadAll[int16](ctx, a)
	if err != nil {
		log.Fatal(err)
	}
	value, _ := f.Attrs().Get("units")
	units, _ := value.Str()
	fmt.Println(units, values)
	// Output: K [1 2 3 7 7]
}

// An array of Zarr 2 written to a store, which takes whole values by Put.
func ExampleCreateStore() {
	ctx, bucket := context.Background(), store.NewMem()
	f, err := ndfile.CreateStore(ctx, all.Formats, bucket, "run/temp.zarr", ndfile.CreateOptions{Format: "zarr2"})
	if err != nil {
		log.Fatal(err)
	}
	a, err := f.Add(ctx, "", ndfile.Spec{DType: ndarray.MustParse("<f8"), Shape: []int64{4}, Chunks: []int64{2}})
	if err == nil {
		err = ndfile.WriteAll(ctx, a, []float64{1, 2, 3, 4})
	}
	if err == nil {
		err = f.Close(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
	err = bucket.List(ctx, "run/temp.zarr", func(e store.Entry) error { return print(e.Name) })
	fmt.Println(err)
	// Unordered output:
	// .zarray
	// 0
	// 1
	// <nil>
}

func print(name string) error {
	_, err := fmt.Println(name)
	return err
}
