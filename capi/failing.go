package main

import (
	"os"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Tests of programs in other languages have requests for large memory fail, by a file that this variable names.
var _ = ndfile.InjectMemoryFaults(os.Getenv("NDFILE_TEST_MEMORY"))
