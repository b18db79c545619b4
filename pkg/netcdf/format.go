package netcdf

import (
	"context"
	"errors"
	"io"
	"syscall"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format is the NetCDF format, name "netcdf", extensions ".nc", ".nc4" and ".cdf";
// what is written is NetCDF-4 with each. A file is written once. What the format
// can do does not depend on whether there is a libnetcdf.
var Format ndfile.Format = &format{ndfile.NewTraits("netcdf",
	ndfile.CapCreate|ndfile.CapWriteOnce|ndfile.CapFileAttrs|ndfile.CapArrayAttrs|ndfile.CapDims|
		ndfile.CapMasked|ndfile.CapStrings|ndfile.CapOneShot|ndfile.CapGroups,
	".nc", ".nc4", ".cdf")}

type format struct{ ndfile.Traits }

// hdf5Magic begins an HDF5 file, at byte 0, 512, 1024, 2048 and so on.
const hdf5Magic = "\x89HDF\r\n\x1a\n"

// Detect looks for the magic of the classic formats, which is Certain, or that
// of HDF5, which is Possible. It does not need libnetcdf.
func (format) Detect(ctx context.Context, fsys ndfile.FS, path string) (ndfile.Match, error) {
	if err := ctx.Err(); err != nil {
		return ndfile.NoMatch, err
	}
	var head [4 << 10]byte
	n, rest, err := fsys.ReadSmall(ctx, path, head[:])
	if rest != nil {
		defer rest.Close()
	}
	switch {
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ESPIPE):
		return ndfile.NoMatch, nil
	case err != nil:
		return ndfile.NoMatch, err
	case isClassic(head[:n]):
		return ndfile.Certain, nil
	}
	const size = int64(len(hdf5Magic))
	for at := int64(0); at >= 0; at = max(512, 2*at) {
		magic := head[:size]
		if at+size <= int64(n) {
			magic = head[at : at+size]
		} else if rest == nil {
			return ndfile.NoMatch, nil
		} else if _, err := rest.ReadAt(magic, at); errors.Is(err, io.EOF) {
			return ndfile.NoMatch, nil
		} else if err != nil {
			return ndfile.NoMatch, err
		}
		if string(magic) == hdf5Magic {
			return ndfile.Possible, nil
		}
	}
	return ndfile.NoMatch, nil
}

// isClassic reports whether a file begins as one of CDF-1, CDF-2 or CDF-5.
func isClassic(head []byte) bool {
	return len(head) >= 4 && string(head[:3]) == "CDF" && (head[3] == 1 || head[3] == 2 || head[3] == 5)
}
