// Package main is the C library libndfile: n-dimensional array files through a C ABI.
//
// A file is one array, a dataset of named arrays, or a table of columns of one length. Files are opened by content,
// arrays are read and written in whole or in boxes (start, count, step along each axis) to and from memory of the
// caller in any strides. ndf_load and ndf_save read and write a small file in one call. What a format can do is told by
// the NDF_CAP_* bits of ndf_format_info; what it cannot is NDF_ERR_NOT_SUPPORTED.
//
// # Errors
//
// Every function that can fail returns int32_t: NDF_OK (0) or a negative NDF_ERR_* code. Codes never change their
// meaning. The last parameter is ndf_error *err [out, nullable], where the reason goes: the code, the errno of
// the operating system (or 0), the byte position in the file (or -1) and a message that names path, array, what was
// expected and what was found. On success only err->code is written. There is no global or thread-local error state.
// Any function can also return NDF_ERR_INTERNAL, which is a bug in the library, and NDF_ERR_NO_MEMORY.
//
// # Memory
//
// The library never returns memory that the caller must free (but for Arrow, whose structs have a release), and keeps
// no pointer of the caller after a call.
// What is read goes to a buffer of the caller with its length in and out: before the call *len is the capacity of buf
// in bytes, after it the number of bytes that were stored; of a text without the NUL that follows. When buf is too small
// (or NULL, with *len 0) the status is NDF_ERR_BUFFER and *len the capacity that is needed, the NUL included. Texts that go in are UTF-8
// and NUL-terminated; a path is any bytes that the operating system takes.
//
// Tags tell how a parameter is used. [in]: the library reads what the pointer leads to, during the call. [out]: it
// stores something there. [inout]: both. [nullable]: NULL is allowed; any other pointer that is NULL is
// NDF_ERR_ARGUMENT. [owned]: what is stored has to be closed or released by the caller. [borrowed]: what is stored
// belongs to something else, as the text says. [taken]: the handle is no longer valid after the call, whatever the
// status. [opaque]: the pointer is handed back as it is, and may be anything.
//
// # Structs
//
// Structs that begin with struct_size want it set to sizeof(the struct) before the call, for structs that are filled
// too. The other fields of an input struct are best zeroed: zero means the default. A struct may be larger than the
// library knows, from a newer header: what lies behind the known fields must be 0 in an input struct (else
// NDF_ERR_NOT_SUPPORTED), and stays as it is in one that is filled. In an array of structs the struct_size of the first
// element is the distance between elements.
//
// # Handles
//
// Files and arrays are 64-bit numbers. 0 is never a handle. A handle that was closed, or is of another kind, is
// refused with NDF_ERR_HANDLE: it is never taken for another object. Files and arrays can be closed in any order:
// an array keeps the file that it belongs to open for reading.
//
// # Arrays
//
// Shapes, starts and counts are in elements, row-major (the last axis varies fastest). Strides are in bytes and may
// be negative or 0; NULL means row-major without gaps. Data that goes with them begins at element 0, wherever that
// lies in memory. Data may be NULL where there are no elements. A dtype is a NumPy typestring ("<f8", "|b1", "S10",
// "<M8[ns]"), "bfloat16", "bytes" or "str" (elements of variable length), or a record as a JSON list. A mask has one
// byte an element in row-major order, 1 = missing.
//
// # Changing files
//
// A new file or folder appears when it is closed, whole or not at all. One that is open for changes (NDF_MODE_UPDATE) is
// changed in place: boxes are stored at once, chunk by chunk; appended elements and attributes at the latest by
// ndf_file_flush and ndf_file_close. A process that dies leaves the old state or the new one of each of these steps.
//
// # Threads
//
// Every function may be called from any thread, with any handle. On one file, reads and writes of boxes run beside
// each other as far as its format allows; changes of structure (adding, removing, appending, resizing, flushing,
// attributes, closing) wait for the calls that are running and let no other in. No lock is shared by different files.
package main

// version is that of the library and of its header.
const version = "1.0.0"

// buildCommit is the commit that was built; "" where that is not known. The linker sets it (build.sh).
var buildCommit string

func main() {}
