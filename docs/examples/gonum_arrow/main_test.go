package main

import (
	"context"
	"os"

	"gonum.org/v1/gonum/mat"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
	"github.com/ndfile/ndfile/pkg/ndmat"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	t := ndmat.Item("t", mat.NewDense(2, 2, []float64{271.25, 272.5, 268, 270.5}))
	check(ndfile.Save(ctx, all.Formats, dir+"/weather.ds", []ndfile.Item{t}, ndfile.SaveOptions{}))
	columns := []ndfile.Item{{Name: "day", Data: ndarray.Of([]uint32{1, 2})}, {Name: "close", Data: ndarray.Of([]float64{9.5, 10})}}
	check(ndfile.Save(ctx, all.Formats, dir+"/bars.bcolz", columns, ndfile.SaveOptions{}))
	os.Args = []string{"", dir + "/weather.ds", "t", dir + "/bars.bcolz"}
	main()
	// Output:
	// largest: 272.5
	// record:
	//   schema:
	//   fields: 2
	//     - day: type=uint32, nullable
	//     - close: type=float64, nullable
	//   rows: 2
	//   col[0][day]: [1 2]
	//   col[1][close]: [9.5 10]
}
