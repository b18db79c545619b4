package rawarray

import (
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile/formattest"
)

func TestFormat(t *testing.T) {
	const record = `[["a", "|S3"], ["b", "|u1", [2]]]`
	formattest.Run(t, formattest.Config{
		Format: Format,
		DTypes: []string{"|i1", "|b1", "<i2", "<i4", "<i8", "<i16", "|u1", "<u2", "<u4", "<u8", "<u16", "<f2", "<f4", "<f8", "bfloat16",
			"<c4", "<c8", "<c16", "|V5", record},
		Quirks: formattest.Quirks{StoredAs: map[string]string{"|b1": "|u1", record: "|V5"}},
	})
}
