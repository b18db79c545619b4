// Package ndfile reads and writes n-dimensional arrays in files of several formats: ds,
// bcolz, early zarr, Zarr 2 and 3, RawArray, NumPy and NetCDF. It is the waist between
// the formats and everybody who uses them: programs see files and arrays only through the
// types declared here, and a format is whatever implements [Format].
//
// # Files and arrays
//
// A [File] holds one array ([Single]), many named arrays ([Dataset]) or named columns of
// one length ([Table]). [Open] finds its format by its content, [Create] takes it from the
// extension of the path; [Load] and [Save] read and write small files in one pass. The
// list of formats is an argument, not a registry: package all holds the list that the
// library ships.
//
//	f, err := ndfile.Open(ctx, all.Formats, "weather.ds", ndfile.OpenOptions{})
//	if err != nil { ... }
//	defer f.Close(ctx)
//	t, err := f.Array("t")
//
// Nothing is read yet. [Array.Spec] tells type, shape, names of axes, chunks and codecs.
// Shapes are always row-major (the last axis varies fastest), whatever order a format
// stores. A new file appears at its path when it is closed, or not at all ([File.Abort]).
//
// # Elements as slices
//
// [ReadAll], [Read] and [ReadInto] give the elements of an array, or of a box of it, as a
// slice of Go's numbers, [WriteAll] and [Write] store one, and [ndarray.Of] makes of a
// slice what [Item], [Resizer] and [RowResizer] take:
//
//	values, err := ndfile.ReadAll[float64](ctx, t)
//	day, err := ndfile.Read[float64](ctx, t, ndarray.Box{Start: []int64{0, 2}, Count: []int64{2, 1}})
//
// A type may be wider than the stored one, where it holds every value of that exactly;
// values are never bent. Elements that can be missing are read by [ReadMasked], texts by
// [ReadStrings]. [Array.ReadBox] is what lies below these: memory of any strides, byte
// order and type.
//
// What does not fit into memory is gone over by [Blocks]:
//
//	for b, err := range ndfile.Blocks[float64](ctx, t, 0) {
//		if err != nil { ... }
//		sum += floats.Sum(b.Data)
//	}
//
// # Tables
//
// The columns of a table are arrays. Its rows are structs for [Rows] and [Append]; a
// [Query] selects them by a condition:
//
//	type bar struct { Day time.Time; Close float64 }
//	rising, err := ndfile.ParseCondition(`close > open and sym in ("A", "B")`)
//	for b, err := range ndfile.Rows[bar](ctx, f, ndfile.Query{Condition: rising}) { ... }
//
// [Where] gives only the numbers of such rows, [Select] columns of them as blocks, [Take]
// rows anywhere.
//
// # Attributes
//
// Files and arrays carry [Attrs]: ordered JSON values, whose numbers keep their spelling.
//
// # What formats differ in
//
// Abilities that not every format has are optional interfaces ([Masked], [Strings],
// [Resizer], [RowResizer], [Chunked], [Mapper], ...), found by type assertion and announced
// by a bit of [Caps]; package formattest proves that both agree. What needs no format of
// its own is written once, above them: beside the above sums and extremes ([Reduce]),
// [Verify], [Seal], [Convert], [Split] and [Concat]. These work block by block, in memory that
// does not grow with the file.
//
// # Errors
//
// Every error is of one of [ErrorKinds], which errors.Is finds and [KindOf] tells, and an
// [Error] with path, array, byte offset, what was expected and what was found.
//
// # Contexts and goroutines
//
// Calls end soon after their context, with ErrCanceled; [ReadAll] and the like pass theirs
// on. Files and arrays may be used by several goroutines at once for reading. Calls that
// change a file need the caller's own exclusion, unless a format's documentation says
// more; the C library provides it for its users.
//
// # Other libraries
//
// Package ndmat makes gonum's matrices of arrays, package ndarrow streams of Arrow's records
// of tables. Each is a module of its own. [OpenStore] reads from whatever implements
// package store.
package ndfile

// Version is the version of the library, in all languages.
const Version = "1.0.0"
