// Package formattest is the one test suite that every format runs:
//
//	func TestFormat(t *testing.T) {
//		formattest.Run(t, formattest.Config{Format: Format, DTypes: []string{"<f8", "|b1"}})
//	}
//
// It is driven by the format's [ndfile.Caps] and proves each bit: what a format
// announces must work, and what it does not announce it must refuse, never drop.
// Files are compared with a small model in memory that knows no file. Beside
// round trips the suite makes every call of the file system fail once, cuts
// the power before every change and in many ways, fills the disk, cuts and flips the bytes of files, and runs
// random sequences of operations. A format that has both arrays and tables
// (CapRows) is run once for each [Config.Kind].
//
// A check talks to a [TB], not to *testing.T, so that the suite's own tests can
// run it against broken formats and see it fail.
//
// # Rules that the suite holds formats to
//
// They go beyond what the interfaces of package ndfile say.
//
// Attributes. A file of one array has one set of attributes: those of the file are
// those of the array, and what Create and Add were given is in it together.
//
// Kinds. After the first Add a file is an array or a table for good: other Adds to
// an array, and an Add of "" to a table, are refused, and a refused first Add
// decides nothing. Columns have one number of rows from the start. The columns of
// a table have no Resizer, or one that is ErrNotSupported; so have the calls of
// tables on an array.
//
// Folders. A slash behind the path changes nothing, and the path may be a symlink.
// Something else at the path of a new store, or a file of somebody in an old one,
// is kept or the call is refused, also when it came after Create. Symlinks inside
// a store, of files and of folders, are refused and never written through, unless
// FollowSymlinks is set. A FIFO is an error, and nothing waits for it. Where a file
// is missing there is an error or the fill value, never other elements.
//
// Chunks. Opening takes the same number of calls for any number of chunks and
// lists no folder. A wish for Chunks is kept along axis 0; along other axes it is
// kept or the whole axis is taken. Extents below 1, other ranks, and chunks beyond
// the limits are refused. Codecs of Blosc are kept as they are or refused. The Fill of
// numbers and bools of at most 8 bytes is kept exactly, that of others is kept or
// refused. WriteChunk refuses an index outside the grid and bytes that do not
// decode to a chunk of the array, and leaves what was there.
//
// Shapes. Resize and Append work along axis 0; along other axes they work or are
// ErrNotSupported. What is cut off never comes back, also not after a crash. A
// refused call changes nothing.
//
// Sessions (mode r+). Opening and closing changes no file. Region writes of chunked
// formats are on disk when the call returns; attributes are written by Flush and
// Close, and Abort drops them. An append is on disk after Flush or Close, or
// earlier; Abort leaves the state after one of the calls before it. Flush of a new
// file makes nothing visible. What is removed or cut off leaves no file behind.
//
// Faults. Whatever call of the file system fails, and wherever the process is
// killed, the store opens in the state after one of the calls of the session: a
// resize, an append, attributes, a removal are old or new for all arrays at once.
// A region is old or new chunk by chunk, and so is an array that was added: it may
// be there with fill values. An error that keeps a change from the disk is
// reported. Nothing stays open, and without a kill no temporary file is left. After
// an error that is over the session can go on: the open file shows the old state or
// the new one, and Close writes what it shows. After a kill the store can be
// changed, and repaired without another content.
//
// Full disks. Nothing is left that is no part of the store: neither temporary files
// nor chunks of an append that failed. What is deleted goes before what needs room.
//
// Power cuts. See checkPowerCuts.
//
// Threads. Chunked formats allow WriteBox from several goroutines, also over
// several open files of one process: no element is lost, and a reader sees each
// chunk old or new.
//
// Verify. It finds nothing in what the suite has written, and something wherever
// reading fails. Temporary files and folders are ErrValue, and a repair removes
// them; files of somebody stay. A repair does what it announced, once, and never
// changes what could be read.
//
// Splitting. Parts hold the rows, attributes and stored chunks of the whole, and the
// source stays as it is. Whatever is refused leaves nothing.
package formattest
