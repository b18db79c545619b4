package zarr

import (
	"os"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/formattest"
)

var dtypes3 = []string{"<f8", "<f4", "<f2", "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<c8", "<c16",
	"|S3", "<U3", "<M8[ns]", "<m8[s]", "|V5", `[["a", "<f8"], ["b", "|u1"]]`, "bytes", "str"}

// TestFormat2 and TestFormat3 run the suite that all formats share, on single arrays
// and on groups.
func TestFormat2(t *testing.T) {
	forKinds(t, formattest.Config{
		Format: Format2,
		DTypes: append([]string{"<f16", "<c32"}, dtypes3...),
		Quirks: formattest.Quirks{SortedAttrs: true, DimsInAttrs: true},
	})
}

func TestFormat3(t *testing.T) {
	forKinds(t, formattest.Config{Format: Format3, DTypes: append([]string{"bfloat16", "<c4"}, dtypes3...), Quirks: formattest.Quirks{
		OneOrder: true, // of records
	}})
}

func forKinds(t *testing.T, c formattest.Config) {
	for _, kind := range []ndfile.Kind{ndfile.Single, ndfile.Dataset} {
		t.Run(kind.String(), func(t *testing.T) {
			if kind == ndfile.Dataset && c.Format == Format2 && os.Getenv("NDFILE_TORTURE") == "" {
				t.Skip("20 seconds; version 3 is tested, whose groups are the same code")
			}
			c := c
			c.Kind = kind
			formattest.Run(t, c)
		})
	}
}
