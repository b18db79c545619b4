package codec_test

import (
	"bytes"
	"fmt"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// A chain encodes the elements of a chunk, and decodes them again. It is made for
// elements of one dtype and shape.
func ExampleNewChain() {
	form, err := codec.Elements(ndarray.MustParse("<i4"), []int64{1000}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	chain, err := codec.NewChain(codec.V2, []codec.Spec{{Name: "shuffle"}, {Name: "zstd"}}, form)
	if err != nil {
		fmt.Println(err)
		return
	}
	elements := make([]byte, 4000)
	for i := range 1000 {
		elements[4*i] = byte(i % 7)
	}
	var chunk codec.Buffer
	defer chunk.Free()
	if err := chain.Encode(&chunk, elements); err != nil {
		fmt.Println(err)
		return
	}
	again := make([]byte, 4000)
	err = chain.Decode(again, chunk.B)
	fmt.Println(len(chunk.B) < 100, bytes.Equal(again, elements), err)
	// Output: true true <nil>
}

// Names are those of the codecs that can be asked for.
func ExampleNames() {
	fmt.Println(codec.Names(codec.V3)[:4])
	// Output: [bitround blosc bytes cast_value]
}
