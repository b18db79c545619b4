// Package chunk reads and writes arrays that are stored in chunks on a regular
// grid, one file a chunk. The formats bcolz and zarr are metadata around it.
//
// A format fills in an [Array], which then reads and writes boxes: it finds the
// chunks that a box touches, decodes them on several goroutines where that pays
// (only the Blosc blocks that are needed, straight into the caller's memory
// where the layout allows it), and rewrites only chunks that a write touches.
//
// Where the chunks have several extents along an axis, the grid is cut into regular
// ones, each of them an Array: see [Rectilinear].
//
// Chunk files come from strangers. Every length in them is compared with the
// size of the file and with what the array's shape demands before memory is
// allocated. Errors are *ndfile.Error with the path of the chunk's file and the
// offset in it.
package chunk
