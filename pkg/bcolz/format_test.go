package bcolz

import (
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/formattest"
)

func TestFormat(t *testing.T) {
	for _, kind := range []ndfile.Kind{ndfile.Single, ndfile.Table} {
		t.Run(kind.String(), func(t *testing.T) {
			formattest.Run(t, formattest.Config{
				Format: Format,
				Kind:   kind,
				DTypes: []string{"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16",
					"|S3", "<U3", "<M8[ns]", "<m8[s]", "|V5"},
				Quirks: formattest.Quirks{
					Shapes: func(shape []int64) bool {
						if len(shape) == 0 {
							return false
						}
						for _, n := range shape[1:] {
							if n == 0 {
								return false
							}
						}
						return true
					},
				},
			})
		})
	}
}
