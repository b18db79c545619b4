// Package crosstest proves that the crate rawarray reads what package rawarray
// writes, and the other way round. It has only a test, which builds the small
// program in src with cargo. Without cargo the test is skipped, but where the
// environment variable CI is set it fails.
package crosstest
