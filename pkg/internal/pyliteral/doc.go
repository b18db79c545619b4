// Package pyliteral reads and writes values as Python's repr writes them: the
// headers of .npy files, and dtypes of records in metadata of bcolz. Nothing is
// ever evaluated, and a text cannot take more than a small multiple of its
// length in memory.
package pyliteral
