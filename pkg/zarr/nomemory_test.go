package zarr

import (
	"os"
	"testing"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/formattest"
)

// TestNoMemoryInCodecs has requests for large memory fail where chunks go through
// chains of codecs, and where they lie in shards.
func TestNoMemoryInCodecs(t *testing.T) {
	for _, c := range []struct {
		format ndfile.Format
		dtype  string
		codecs string
		shards bool
		long   bool
	}{
		{Format2, "<i8", `["delta", "zlib"]`, false, false},
		{Format3, "<f8", `[{"name": "bytes", "endian": "big"}, "gzip", "crc32c"]`, true, false},
		{Format2, "<f8", `["shuffle", "zstd"]`, false, true},
		{Format2, "<i8", `[{"name": "fixedscaleoffset", "scale": 1}, "lz4", "adler32"]`, false, true},
		{Format2, "<f8", `["bz2"]`, false, true},
		{Format2, "<f8", `["lzma"]`, false, true},
		{Format2, "str", `["json2", "zlib"]`, false, true},
		{Format2, "str", `["msgpack2", "blosc"]`, false, true},
		{Format3, "str", `["vlen-utf8", "gzip"]`, true, true},
	} {
		t.Run(c.codecs, func(t *testing.T) {
			if c.long && os.Getenv("NDFILE_TORTURE") == "" {
				t.Skip("some seconds each")
			}
			v, err := pyjson.Parse([]byte(c.codecs), pyjson.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			specs, err := codec.ParseSpecs(v)
			if err != nil {
				t.Fatal(err)
			}
			stored := ndfile.Spec{DType: ndarray.MustParse(c.dtype), Codecs: specs}
			if c.shards {
				stored.Shards = []int64{1} // as many as there are
			}
			formattest.NoMemory(t, formattest.Config{Format: c.format, DTypes: []string{c.dtype}, Kind: ndfile.Single}, stored)
		})
	}
}
