// Package flat reads and writes boxes of an array that lies in a file as one
// contiguous block of fixed-size elements, row-major. The formats ds and
// rawarray are made of such blocks.
//
// Neighbouring runs of a box are read together, gaps included, in preads of
// bounded size. What already has the shape and type of the caller's memory is
// read straight into it; the rest goes through one scratch buffer.
package flat
