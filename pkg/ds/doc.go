// Package ds reads and writes files of the ds format: one file with a JSON
// header and many named variables, which can have missing elements, hold byte
// strings or texts, and carry attributes. README.md describes the bytes.
//
// It reads everything that ds-format 2.0 to 5.0 wrote and that has one meaning:
// also bool variables that ds-format cannot read itself, and files in which it
// put wrong offsets. It writes the bytes that ds-format 5.0.2 writes, except
// where those are wrong.
//
// Files are written once: in one pass by [ndfile.OneShot], or variable by
// variable through [ndfile.Format.Create]; then a temporary file keeps the
// data until Close, because the header precedes them.
package ds
