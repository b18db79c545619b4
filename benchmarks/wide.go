package main

import "fmt"

// The rows beside the simple ones: files as people have them, parts of arrays, tables, elements, conversions.

func (e effort) realistic() experiment {
	return experiment{name: "realistic", title: "realistic: five variables with axes, attributes and a text", place: "tmpfs", rounds: e.rounds, rows: []row{{
		case_: "int64:1", operations: []string{"realistic-write", "realistic-read", "realistic-info"}, count: max(20, e.tiny/500),
		contenders: named("python", "syscalls", "ds", "ds-open", "ds-format", "netcdf4", "cdf5", "h5py", "xarray")}}}
}

func (e effort) parts() experiment {
	ours := func(than string) []string { return named("python", "ndfile", than) }
	side := max(100, e.tinyChunks/16)
	array := fmt.Sprintf("float32:%dx%d", side, 2*side)
	walk := fmt.Sprintf("int32:%d", e.storeBytes/4)
	rows := fmt.Sprintf("int32:%d", max(1000, e.tinyChunks*15))
	numbers := fmt.Sprintf("float64:%d", e.storeBytes/8)
	return experiment{name: "parts", title: "parts of arrays and tables, conversions", place: "tmpfs", rounds: e.rounds, rows: []row{
		{array, []string{"part-column", "part-stride", "part-lists", "part-widen", "part-strided-out"}, ours("numpy"), 3, 0},
		{array, []string{"part-element"}, ours("h5py"), max(10, e.tinyChunks/10), 0},
		{walk, []string{"part-ten"}, ours("b2nd"), max(10, e.tinyChunks/20), 0},
		{rows, []string{"part-where-1", "part-where-20", "part-rows", "part-sorted-rows"}, ours("numpy"), 2, 0},
		{numbers, []string{"convert-ds-ds", "convert-ra-ds", "convert-ra-npy"}, ours("syscalls"), 1, 0},
	}}
}

// wideClaims are the aims for them.
func wideClaims() []claim {
	var all []claim
	realistic := func(what, operation string, bound float64, atMost bool, peer string) {
		for _, ours := range []string{"python/ds", "python/ds-open"} {
			all = append(all, claim{what, "realistic", "cpu", operation, ours, operation, []string{peer}, bound, atMost})
			if operation == "realistic-write" {
				return // there is one way to write
			}
		}
	}
	realistic("read a realistic file vs ds-format", "realistic-read", 2.86, false, "python/ds-format")
	realistic("read a realistic file vs NetCDF-4", "realistic-read", 20, false, "python/netcdf4")
	realistic("write a realistic file vs ds-format", "realistic-write", 8.33, false, "python/ds-format")
	realistic("write a realistic file over the system calls", "realistic-write", 8, true, "python/syscalls")
	part := func(what, operation, peer string, bound float64) {
		all = append(all, claim{what, "parts", "cpu", operation, "python/ndfile", operation, []string{peer}, bound, true})
	}
	part("a column over NumPy on a map", "part-column", "python/numpy", 3)
	part("strides over NumPy on a map", "part-stride", "python/numpy", 3)
	part("two lists over NumPy on a map", "part-lists", "python/numpy", 3)
	part("one element over h5py", "part-element", "python/h5py", 1)
	part("ten elements over b2nd", "part-ten", "python/b2nd", 1)
	part("widen over NumPy on a map", "part-widen", "python/numpy", 1.2)
	part("into strided memory over NumPy on a map", "part-strided-out", "python/numpy", 1.2)
	part("where, one term, over columns and NumPy", "part-where-1", "python/numpy", 1)
	part("where, 20 terms, over columns and NumPy", "part-where-20", "python/numpy", 1)
	part("rows over columns put together", "part-rows", "python/numpy", 0.8)
	part("sorted rows over the whole column", "part-sorted-rows", "python/numpy", 1)
	part("convert ds to ds over a read and a write", "convert-ds-ds", "python/syscalls", 1.5)
	part("convert RawArray to ds over a read and a write", "convert-ra-ds", "python/syscalls", 1.5)
	part("convert RawArray to npy over a read and a write", "convert-ra-npy", "python/syscalls", 1.5)
	return all
}
