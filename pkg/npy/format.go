package npy

import (
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format is the .npy format, name "npy", extension ".npy". Beside the methods of
// [ndfile.Format] it has those of [ndfile.OneShot].
//
// A file is written once, and has neither attributes nor names of axes. What
// follows the data is ignored. Arrays in C order and this machine's byte order can
// be mapped: NumPy 1.14 and later align the bytes to 64, older versions to 16;
// other writers may not. See README.md for what is refused.
var Format ndfile.Format = &single

var single = flat.Format{
	Traits: ndfile.NewTraits("npy", ndfile.CapCreate|ndfile.CapWriteOnce|ndfile.CapOneShot|ndfile.CapMap, extension),
	Called: "a .npy file",
	Magic:  magic,
	Parse:  parse,
	Append: appendHeader,
}

const extension = ".npy"
