package ndfile

import (
	"slices"
	"strconv"
)

// choose has the caller of Convert say how an array is to be stored.
func (p *plan) choose(c *carried) error {
	if p.to.Caps()&CapChunked == 0 {
		return NewError(ErrNotSupported, "the format "+p.to.Name()+" stores no chunks")
	}
	s := c.add
	s.Dims = c.spec.Dims
	if err := p.storage(c.from, &s); err != nil {
		return err
	}
	if s.Chunks != nil && len(s.Chunks) != len(s.Shape) {
		return NewError(ErrArgument, "chunks "+shapeText(s.Chunks)+" of an array of the shape "+shapeText(s.Shape))
	}
	for axis, n := range s.Chunks {
		if n < 1 {
			return NewError(ErrArgument, "a chunk of "+strconv.FormatInt(n, 10)+" elements along axis "+strconv.Itoa(axis))
		}
	}
	if !slices.Equal(s.Chunks, c.add.Chunks) && slices.Equal(s.Shards, c.add.Shards) {
		s.Shards = nil // they were those of other chunks
	}
	c.add.Chunks, c.add.Shards, c.add.Codecs = s.Chunks, s.Shards, s.Codecs
	c.asked = true
	return nil
}
