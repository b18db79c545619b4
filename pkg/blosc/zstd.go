package blosc

// zstdLevels are libzstd's levels for the levels of Blosc, as C-Blosc has them.
var zstdLevels = [MaxLevel + 1]int{0, 1, 3, 5, 7, 9, 11, 13, 15, 22}
