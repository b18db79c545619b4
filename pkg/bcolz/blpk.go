package bcolz

import (
	"encoding/binary"
	"fmt"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// blpk is the header of a chunk file, before the one Blosc chunk in it:
// "blpk", a version, three reserved bytes, and the number of chunks (int64).
type blpk struct{}

const (
	blpkSize    = 16
	blpkMagic   = "blpk"
	blpkVersion = 1
	blpkChunks  = 1
)

// Size implements chunk.Header.
func (blpk) Size() int { return blpkSize }

// Append implements chunk.Header.
func (blpk) Append(dst []byte, _ int) []byte {
	dst = append(dst, blpkMagic...)
	dst = append(dst, blpkVersion, 0, 0, 0)
	return binary.LittleEndian.AppendUint64(dst, blpkChunks)
}

// Check implements chunk.Header. bcolz itself never looks at these bytes. The
// reserved ones may hold anything.
func (blpk) Check(p []byte) error {
	if len(p) < blpkSize {
		return ndfile.NewError(ndfile.ErrCorrupt, fmt.Sprintf("expected a header of %d bytes, found %d bytes", blpkSize, len(p))).At(int64(len(p)))
	}
	if string(p[:4]) != blpkMagic {
		return ndfile.NewError(ndfile.ErrCorrupt, fmt.Sprintf("expected the magic %q, found %q", blpkMagic, p[:4])).At(0)
	}
	if p[4] != blpkVersion {
		return ndfile.NewError(ndfile.ErrNotSupported, fmt.Sprintf("expected version %d of chunk files, found %d", blpkVersion, p[4])).At(4)
	}
	if n := int64(binary.LittleEndian.Uint64(p[8:])); n != blpkChunks {
		return ndfile.NewError(ndfile.ErrNotSupported, fmt.Sprintf("expected %d chunk in the file, found %d", blpkChunks, n)).At(8)
	}
	return nil
}
