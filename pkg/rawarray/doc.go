// Package rawarray reads and writes RawArray files (.ra): a header of 64-bit
// words, one array, and optionally bytes after it. README.md in this folder is
// the specification, byte by byte, with the source of every rule.
//
// The shape of an array is the reverse of the dims in the file, which are stored
// first axis fastest: no data moves. A file holds exactly one array, called "".
//
// Files are written once. The array's size is known from Add on, so boxes of it
// go straight to their place in the new file, in any order; Close checks that
// every element was written, and makes the file visible. Nothing in a file
// depends on time or chance: the same array gives the same bytes.
package rawarray
