// Package codec holds the codecs that turn the elements of a chunk into the bytes
// that are stored, and back: one file a codec, with the names and the configuration
// that it has in Zarr 2 and in Zarr 3.
//
// A [Spec] is a name and a configuration. [NewChain] makes a [Chain] of a list of
// them for chunks of one shape and type of elements: first codecs that change
// elements (transpose, delta, ...), then one that makes bytes of them (bytes,
// vlen-utf8, sharding_indexed), then codecs that change bytes (gzip, blosc,
// crc32c, ...). Decoding goes the other way.
//
// Encoded chunks come from strangers. What a chunk decodes to is bounded by what
// its shape and type allow, whatever its bytes claim, and no codec allocates by a
// number that it read before it has compared it with that bound. Errors are
// [*Error].
//
// Configurations, chains and stages do not change once they are made and may be
// used by any number of goroutines.
//
// A new codec is one new file, which calls define. Nothing else names it.
package codec
