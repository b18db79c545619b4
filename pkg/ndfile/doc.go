// Package ndfile is the waist between the formats and everybody who uses
// them: the C library, the command and Go programs see files and arrays only
// through the types declared here, and a format is whatever implements
// [Format].
//
// A file holds one array ([Single]), many named arrays ([Dataset]) or named
// columns of one length ([Table]). Shapes are always row-major (the last axis
// varies fastest), whatever order a format stores.
//
// Abilities that not every format has are optional interfaces ([Masked],
// [Strings], [OneShot], ...), found by type assertion and announced by a bit
// of [Caps]; package formattest proves that both agree.
//
// What needs no format of its own is written once, above them: rows of a table that
// fulfil conditions ([Where], [Select]), rows anywhere ([Take]), sums and extremes
// ([Reduce]), [Verify], [Convert], [Split] and [Concat]. These work block by block,
// in memory that does not grow with the file.
//
// The list of formats is an argument, not a registry: package all holds the
// list that the library ships.
//
// Files and arrays may be used by several goroutines at once for reading.
// Calls that change a file need the caller's own exclusion, unless a format's
// documentation says more; the C library provides it for its users.
package ndfile

// Version is the version of the library, in all languages.
const Version = "1.0.0"
