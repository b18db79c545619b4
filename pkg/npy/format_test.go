package npy

import (
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile/formattest"
)

var dtypes = []string{"|i1", "|b1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<f16", "<c8", "<c16", "<c32",
	"|S3", "<U5", "<M8[ns]", "<m8[25s]", "<M8", "|V5", `[["a", "|S3"], ["naïve ☃", "<u2", [2]], ["n", [["x", ">f8"]]]]`}

func TestFormat(t *testing.T) {
	formattest.Run(t, formattest.Config{
		Format: Format,
		DTypes: dtypes,
	})
}

// TestArchiveFormat: the same suite over archives.
func TestArchiveFormat(t *testing.T) {
	formattest.Run(t, formattest.Config{
		Format: Archive,
		DTypes: dtypes,
	})
}
