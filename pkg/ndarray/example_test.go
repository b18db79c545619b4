package ndarray_test

import (
	"fmt"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Elements are copied between memory of any strides, byte order and types that widen
// exactly.
func ExampleCopy() {
	src := ndarray.Buffer{DType: ndarray.MustParse(">i2"), Shape: []int64{2, 2}, Data: []byte{0, 1, 0, 2, 0, 3, 0, 4}}
	dst := ndarray.Buffer{DType: ndarray.MustParse("<i4"), Shape: []int64{2, 2}, Strides: []int64{4, 8}, Data: make([]byte, 16)} // columns
	if err := ndarray.Copy(dst, src); err != nil {
		fmt.Println(err)
	}
	fmt.Println(dst.Data)
	// Output: [1 0 0 0 3 0 0 0 2 0 0 0 4 0 0 0]
}

// The names of dtypes are those of NumPy.
func ExampleParse() {
	for _, name := range []string{"<f8", ">u2", "S10", "<M8[ns]"} {
		d, err := ndarray.Parse(name)
		fmt.Println(d, d.Size, err)
	}
	// Output:
	// <f8 8 <nil>
	// >u2 2 <nil>
	// |S10 10 <nil>
	// <M8[ns] 8 <nil>
}
