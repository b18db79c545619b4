// Package ndarray describes n-dimensional arrays in memory and copies them:
// element types, shapes, strides, boxes (strided selections), byte order and
// exact widening. It knows no file and no format, does no I/O and imports only
// the standard library.
//
// Conventions, everywhere in the package:
//
//   - Shapes are row-major: the last axis varies fastest. An empty shape is a
//     0-d array, which has one element. An extent of zero makes an array empty.
//   - Shapes, counts and flat indices are in elements; strides, offsets and
//     sizes are in bytes.
//   - Numbers may come from strangers. Every product and sum is checked for
//     overflow before it is used, and nothing panics on bad values: errors wrap
//     [ErrShape], [ErrDType], [ErrBounds] or [ErrOverflow] and say what was
//     expected and what was found.
//   - Values are never bent: a conversion that could lose anything is refused.
//
// All types are plain values. Functions keep nothing they are given, unless they
// say that a result shares it, and may be called from any number of goroutines, as
// long as no memory is written by one and used by another at the same time.
package ndarray
