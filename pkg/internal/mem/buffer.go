package mem

// Buffer is bytes that grow, in memory that can fail. It may begin in memory of
// somebody else, and moves to a block of its own where that is not enough. The zero
// value is empty. It is not for several goroutines at once.
type Buffer struct {
	// B is the bytes. It may be cut, or be set to memory of somebody else.
	B   []byte
	own Block
}

// Extend makes the buffer n bytes longer, and gives those: any may have any value.
// After an error the buffer is as before.
func (b *Buffer) Extend(n int) ([]byte, error) {
	have := len(b.B)
	if cap(b.B)-have < n {
		if err := b.Reserve(max(n, have)); err != nil {
			return nil, err
		}
	}
	b.B = b.B[:have+n]
	return b.B[have:], nil
}

// Reserve sees to it that n more bytes have room.
func (b *Buffer) Reserve(n int) error {
	have := len(b.B)
	if cap(b.B)-have >= n {
		return nil
	}
	if own := b.own.p; cap(own) > 0 && cap(b.B) > 0 && &own[:1][0] == &b.B[:1][0] {
		p, err := b.own.Grown(have+n, have)
		if err == nil {
			b.B = p[:have]
		}
		return err
	}
	p, err := b.own.Sized(have + n) // what it held is no longer used
	if err == nil {
		copy(p, b.B)
		b.B = p[:have]
	}
	return err
}

// Append puts bytes behind the others.
func (b *Buffer) Append(p []byte) error {
	to, err := b.Extend(len(p))
	copy(to, p)
	return err
}

// AppendByte puts a byte behind the others.
func (b *Buffer) AppendByte(c byte) error {
	to, err := b.Extend(1)
	if err == nil {
		to[0] = c
	}
	return err
}

// Write is Append, as an io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	if err := b.Append(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Sized makes the buffer n bytes long, in its own memory. The first kept ones of that
// stay; others may have any value.
func (b *Buffer) Sized(n, kept int) (err error) {
	b.B, err = b.own.Grown(n, kept)
	return err
}

// Reset empties the buffer and keeps its own memory for what comes next.
func (b *Buffer) Reset() { b.B = b.own.p[:0] }

// Free gives the memory back. The buffer is empty then.
func (b *Buffer) Free() {
	b.own.Free()
	b.B = nil
}

// FreeLarge is Free if the memory is large, else Reset.
func (b *Buffer) FreeLarge() {
	b.own.FreeLarge()
	b.Reset()
}
