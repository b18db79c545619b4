// Package npy reads and writes NumPy's .npy files, which hold one array, and
// reads .npz files, ZIP archives of them. README.md in this folder is the
// specification, byte by byte, with the source of every rule.
//
// What is written is what numpy.save writes for an array in C order, bit for bit.
// Python objects are pickled in these files and refused: nothing from a file is
// ever evaluated or unpickled.
package npy
