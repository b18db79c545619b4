// Package crosstest compares package codec with numcodecs, in both directions.
package crosstest
