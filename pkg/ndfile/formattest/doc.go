// Package formattest is the one test suite that every format runs:
//
//	func TestFormat(t *testing.T) {
//		formattest.Run(t, formattest.Config{Format: Format, DTypes: []string{"<f8", "|b1"}})
//	}
//
// It is driven by the format's [ndfile.Caps] and proves each bit: what a format
// announces must work, and what it does not announce it must refuse, never drop.
// Files are compared with a small model in memory that knows no file. Beside
// round trips the suite makes every call of the file system fail once, cuts
// the power before every change, cuts and flips the bytes of files, and runs
// random sequences of operations.
//
// A check talks to a [TB], not to *testing.T, so that the suite's own tests can
// run it against broken formats and see it fail.
package formattest
