// Package flat is for arrays that lie in a file as one contiguous block of
// elements of fixed size.
//
// A [Block] says where a block lies, and reads and writes boxes of it.
// Neighbouring runs of a box are read together, gaps included, in preads of
// bounded size. What already has the shape and type of the caller's memory is
// read straight into it; the rest goes through one scratch buffer.
//
// A [Format] is a whole file format of which a file is a header and one such
// block, as rawarray and npy: all of it but the header.
package flat
