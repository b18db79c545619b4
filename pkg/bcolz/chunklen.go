package bcolz

// chooseChunklen is the number of rows in a chunk that bcolz chooses for an array
// expected to grow to rows of rowsize bytes: as many as fit into 16 KiB for the
// smallest arrays, twice that for each power of ten that the array has more than
// 100 bytes (all counted in units of 2^20 bytes), up to 4 MiB; at least one.
func chooseChunklen(rows, rowsize int64) int64 {
	megabytes := float64(rows) * float64(rowsize) / (1 << 20)
	size := int64(16 << 10)
	for _, least := range [...]float64{1e-4, 1e-3, 1e-2, 1e-1} {
		if megabytes > least {
			size *= 2
		}
	}
	for _, least := range [...]float64{10, 100, 1e3, 1e4} {
		if megabytes >= least {
			size *= 2
		}
	}
	return max(1, size/rowsize)
}
