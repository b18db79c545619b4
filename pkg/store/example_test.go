package store_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/ndfile/ndfile/pkg/store"
)

// Any io/fs.FS is a store: keys are its paths, and parts of a value are read alone.
func ExampleOfFS() {
	s := store.OfFS(fstest.MapFS{"a.zarr/0.0": {Data: []byte("a chunk")}})
	part := make([]byte, 5)
	n, info, err := s.Get(context.Background(), "a.zarr/0.0", 2, part)
	fmt.Println(string(part[:n]), info.Size, err)
	// Output: chunk 7 <nil>
}
