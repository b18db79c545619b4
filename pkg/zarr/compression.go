package zarr

import (
	"strconv"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/chunk"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// bloscCodec makes the codec of elements of itemSize bytes. compat18 keeps to
// what C-Blosc 1.8 reads, of which zarr 0.4 has a copy. Errors are ErrArgument.
func bloscCodec(c *ndfile.Compression, itemSize int, compat18 bool) (chunk.Codec, error) {
	codec, err := blosc.ParseCodec(c.Codec)
	if err != nil {
		return nil, ndfile.NewError(ndfile.ErrArgument, "expected the codec blosclz, lz4, lz4hc, snappy, zlib or zstd, found "+strconv.Quote(c.Codec))
	}
	if c.Level < 0 || c.Level > blosc.MaxLevel {
		return nil, ndfile.NewError(ndfile.ErrArgument, "expected a level of compression from 0 to "+strconv.Itoa(blosc.MaxLevel)+", found "+strconv.Itoa(c.Level))
	}
	if c.Shuffle < 0 || c.Shuffle > int(blosc.BitShuffle) {
		return nil, ndfile.NewError(ndfile.ErrArgument, "expected a shuffle of 0 (none), 1 (bytes) or 2 (bits), found "+strconv.Itoa(c.Shuffle))
	}
	return chunk.Blosc{Codec: codec, Level: c.Level, Shuffle: blosc.Shuffle(c.Shuffle), TypeSize: itemSize, Compat18: compat18}, nil
}

// checkRaw18 refuses a chunk that C-Blosc 1.8 misreads, without an error: one of
// zstd, and one that is not split where 1.8 expects it, which newer versions
// tell by a flag.
func checkRaw18(raw []byte, c *ndfile.Compression) error {
	info, err := blosc.Info(raw)
	if err != nil {
		return ndfile.NewError(ndfile.ErrCorrupt, "").Because(err)
	}
	const dontSplit = 0x10
	switch {
	case info.Memcpyed:
	case info.Codec == blosc.Zstd:
		if c.Codec != "zstd" { // as was asked for
			return ndfile.NewError(ndfile.ErrNotSupported, "zarr 0.4 cannot read chunks of zstd: write the elements instead")
		}
	case info.Flags&dontSplit != 0 && info.TypeSize > 1 && info.TypeSize <= 16 && info.BlockSize/info.TypeSize >= 128 && info.NBytes >= info.BlockSize:
		return ndfile.NewError(ndfile.ErrNotSupported, "zarr 0.4 cannot read chunks that are not split by bytes, as C-Blosc >= 1.14 writes: write the elements instead")
	}
	return nil
}
