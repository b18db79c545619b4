// Package zarr reads and writes arrays of zarr: folders that hold a metadata
// document, attributes, and one file a chunk. README.md in this folder is the
// specification, byte by byte, with the source of every rule.
//
// Format0 is the layout of release 0.4, which only that release wrote and which
// no later one reads: __zmeta__, __zattr__ and __zdata__/0.0.blosc. Format2 and
// Format3 are what its arrays can become, in place too: Zarr version 2 and 3 with
// chunks of Blosc, one array a folder.
//
// The generations of zarr differ in the names of their files and in their
// documents; both are in a version. All else is shared: elements lie in a
// chunk.Array, a file is open for reading or changes (file, array), shapes change
// in the order of writes that leaves the old or the new array after a crash.
package zarr
