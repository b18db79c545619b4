package zarr

import (
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile/formattest"
)

// TestFormat0 runs the suite that all formats share.
func TestFormat0(t *testing.T) {
	formattest.Run(t, formattest.Config{
		Format: Format0,
		DTypes: []string{"<f8", "<f4", "<f2", "<f16", "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<c8", "<c16", "<c32",
			"|S3", "<U3", "<M8[ns]", "<m8[s]", "|V5", `[["a", "<f8"], ["b", "|u1"]]`},
		Quirks: formattest.Quirks{SortedAttrs: true, Shapes: func(shape []int64) bool { return len(shape) > 0 }},
	})
}
