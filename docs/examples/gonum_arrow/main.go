// gonum_arrow reads a variable of a ds file as a matrix of gonum, and a table of bcolz as records of Arrow.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"gonum.org/v1/gonum/mat"

	"github.com/ndfile/ndfile/pkg/ndarrow"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
	"github.com/ndfile/ndfile/pkg/ndmat"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: gonum_arrow FILE.ds VARIABLE TABLE.bcolz")
	}
	ctx := context.Background()
	weather, bars := open(ctx, os.Args[1]), open(ctx, os.Args[3])

	t, err := weather.Array(os.Args[2])
	check(err)
	m, err := ndmat.Dense(ctx, t)
	check(err)
	fmt.Println("largest:", mat.Max(m))
	records, err := ndarrow.NewReader(ctx, bars, ndarrow.Options{})
	check(err)
	for records.Next() {
		fmt.Println(records.RecordBatch())
	}
	check(records.Err())
}

func open(ctx context.Context, path string) ndfile.File {
	f, err := ndfile.Open(ctx, all.Formats, path, ndfile.OpenOptions{})
	check(err)
	return f
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
