package zarr

import (
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile/formattest"
)

var dtypes3 = []string{"<f8", "<f4", "<f2", "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<c8", "<c16",
	"|S3", "<U3", "<M8[ns]", "<m8[s]", "|V5", `[["a", "<f8"], ["b", "|u1"]]`, "bytes", "str"}

// TestFormat2 and TestFormat3 run the suite that all formats share.
func TestFormat2(t *testing.T) {
	formattest.Run(t, formattest.Config{
		Format: Format2,
		DTypes: append([]string{"<f16", "<c32"}, dtypes3...),
		Quirks: formattest.Quirks{SortedAttrs: true, DimsInAttrs: true},
	})
}

func TestFormat3(t *testing.T) {
	formattest.Run(t, formattest.Config{Format: Format3, DTypes: append([]string{"bfloat16", "<c4"}, dtypes3...), Quirks: formattest.Quirks{
		OneOrder: true, // of records
	}})
}
