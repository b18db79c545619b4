package codec

// beginner is a Stage that can decode the beginning of what it encoded without the rest.
type beginner interface {
	// beginning fills dst with the first of the size bytes that src decodes to. done is
	// false where all of src has to be decoded, or looked at, for that.
	beginning(dst, src []byte, size int64) (done bool, err error)
}

// StopsEarly tells whether the first elements of a chunk can be decoded without the
// others: nothing but one codec makes its bytes, and it goes from the front to the back.
func (c *Chain) StopsEarly() bool {
	_, ok := c.Only().(beginner)
	return ok && c.forms[0].Exact
}

// DecodeBeginning is Decode of the first len(dst) bytes of the elements. Where the chunk
// has a checksum, or parts that have to be looked at together, done is false and nothing
// was decoded.
func (c *Chain) DecodeBeginning(dst, src []byte) (done bool, err error) {
	b, ok := c.Only().(beginner)
	if !ok || len(dst) == 0 {
		return false, nil
	}
	return b.beginning(dst, src, c.forms[0].Size)
}
