package flat

import (
	"math/bits"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Coverage knows which elements of an array were written. As long as they come in
// row-major order it is a number; after that it is one bit an element. The zero
// value is an array of which nothing was written. One goroutine at a time.
type Coverage struct {
	next int64    // all elements before it were written
	bits []uint64 // nil until an element behind next was written
}

// MaxScattered is the number of elements of the largest array that can be
// written in any order. Its bits take 1 GiB.
const MaxScattered = 1 << 33

// Add marks the elements of a box of an array of that shape. An array of more
// than MaxScattered elements is ErrLimit unless it is written in row-major order.
func (c *Coverage) Add(box ndarray.Box, shape []int64) error {
	return box.Runs(shape, func(first, n, step, _ int64) error {
		if c.bits == nil && first <= c.next && step == 1 {
			c.next = max(c.next, first+n)
			return nil
		}
		if c.bits == nil {
			count, err := ndarray.Count(shape)
			if err != nil {
				return err
			}
			if count > MaxScattered {
				return ndfile.NewError(ndfile.ErrLimit, "an array of more than "+strconv.FormatInt(MaxScattered, 10)+" elements has to be written in row-major order")
			}
			c.bits = make([]uint64, (count+63)/64)
			c.mark(0, c.next)
		}
		if step == 1 {
			c.mark(first, first+n)
			return nil
		}
		for k := first; n > 0; k, n = k+step, n-1 {
			c.bits[k/64] |= 1 << (k % 64)
		}
		return nil
	})
}

// mark sets the bits from lo to hi, without hi.
func (c *Coverage) mark(lo, hi int64) {
	for lo < hi {
		n := min(64-lo%64, hi-lo)
		c.bits[lo/64] |= (1<<n - 1) << (lo % 64)
		lo += n
	}
}

// FirstMissing is the first of count elements that was not written, or -1.
func (c *Coverage) FirstMissing(count int64) int64 {
	missing := c.next
	for i, w := range c.bits {
		if missing = int64(i)*64 + int64(bits.TrailingZeros64(^w)); w != 1<<64-1 {
			break
		}
	}
	if missing >= count {
		return -1
	}
	return missing
}
