//go:build !unix

package formattest

// checkFIFOs has nothing to do: the file system has no FIFOs.
func checkFIFOs(*suite) {}
