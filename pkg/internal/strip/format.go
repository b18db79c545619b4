// Package strip is the format of docs/adding-a-format.md: invented, small, and
// whole. It shows what a format of one flat array takes, and the library does not
// ship it. README.md has its bytes.
package strip

import (
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format is the format strip, name "strip", extension ".strip".
var Format ndfile.Format = &flat.Format{
	Traits: ndfile.NewTraits("strip", ndfile.CapCreate|ndfile.CapWriteOnce|ndfile.CapOneShot|ndfile.CapMap, ".strip"),
	Called: "a strip file",
	Magic:  magic,
	Parse:  parse,
	Append: appendHeader,
}
