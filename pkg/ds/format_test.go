package ds

import (
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile/formattest"
)

// TestFormat runs the suite that all formats share.
func TestFormat(t *testing.T) {
	formattest.Run(t, formattest.Config{
		Format: Format,
		DTypes: []string{"<f8", "<f4", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "|b1", "bytes", "str"},
		Quirks: formattest.Quirks{
			Guesses:  true, // files of ds-format 2.0
			StoredAs: map[string]string{"|S3": "bytes", "<U3": "str"},
		},
	})
}
