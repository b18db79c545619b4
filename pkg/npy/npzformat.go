package npy

import (
	"context"
	"encoding/binary"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Archive is the .npz format: a ZIP archive of .npy files, which are arrays with
// the names of the members, without ".npy". Members that are deflated have the Extra
// {"compressed": true}. Those whose elements are Python objects (pickles) are not
// among the names of a file; asking for one is ErrNotSupported.
var Archive ndfile.Format = &archive{ndfile.NewTraits("npz", ndfile.CapCreate|ndfile.CapWriteOnce, ".npz")}

type archive struct{ ndfile.Traits }

// The signatures of ZIP, and the places in the header before a member.
const (
	zipMember   = "PK\x03\x04"
	zipEnd      = "PK\x05\x06" // at the start of an archive without members
	atZipName   = 30
	atZipLength = 26 // of the name
)

// Detect is Certain when the first member is a .npy file by its name, and
// Possible when there are no members. Other archives can be opened by giving the
// format.
func (*archive) Detect(ctx context.Context, fsys ndfile.FS, path string) (ndfile.Match, error) {
	head, err := flat.FirstBytes(ctx, fsys, path, make([]byte, 1024))
	switch {
	case err != nil:
		return ndfile.NoMatch, err
	case strings.HasPrefix(string(head), zipEnd):
		return ndfile.Possible, nil
	case len(head) < atZipName || string(head[:len(zipMember)]) != zipMember:
		return ndfile.NoMatch, nil
	}
	end := atZipName + int(binary.LittleEndian.Uint16(head[atZipLength:]))
	if end > len(head) || !strings.HasSuffix(string(head[atZipName:end]), extension) {
		return ndfile.NoMatch, nil
	}
	return ndfile.Certain, nil
}
