// Package bcolz reads and writes the folders of bcolz 1.x: a carray, which is one
// array cut into chunks along its first axis, or a ctable, whose columns are
// carrays of one length. README.md in this folder is the specification, byte by
// byte, with the source of every rule.
//
// A carray is a file of kind Single, a ctable one of kind Table. The folder of a
// column is a carray and can be opened by itself. What this package writes, bcolz
// reads, and a crash at any moment leaves the old state or the new one to both.
//
// A file belongs to one writer at a time; nothing keeps another process out.
// Readers need not be told: each file that they may be looking at is replaced in
// one step. All calls may come from several goroutines at once; those that change
// the structure (rows, columns, Flush, Close) exclude all others on the file.
package bcolz
