package rawarray

import (
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format is the RawArray format, name "rawarray", extension ".ra". Beside the
// methods of [ndfile.Format] it has those of [ndfile.OneShot].
//
// A file is written once, and has neither attributes nor names of axes. Raw
// elements can be read and written as records of the same size: their bytes are
// copied as they are. A bool that is written is an unsigned byte in the file.
// Arrays that are mapped are aligned to 8 bytes, also those of wider elements.
// See README.md for what is refused.
var Format ndfile.Format = &flat.Format{
	Traits: ndfile.NewTraits("rawarray",
		ndfile.CapCreate|ndfile.CapWriteOnce|ndfile.CapOneShot|ndfile.CapMap|ndfile.CapTrailing, ".ra"),
	Called: "a RawArray file",
	Magic:  magic,
	Parse:  parse,
	Append: appendHeader,
}
