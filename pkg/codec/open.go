package codec

import (
	"bytes"
	"io"
)

// Stream is a chunk that is decoded from its beginning on.
type Stream struct {
	r       io.Reader
	done    func()
	chain   *Chain
	n       int64 // bytes that were read
	checked bool  // that there is no more
}

// Streams tells whether a chunk can be decoded as a stream, in memory that does not
// depend on what it decodes to: one codec makes a stream, those outside of it only look
// at bytes, and those inside of it change elements one by one.
func (c *Chain) Streams() bool {
	i := c.outer() - 1
	for ; i >= 0; i-- {
		if _, ok := c.stages[i].(piecewise); !ok && !c.isPassive(i) {
			return false
		}
	}
	return true
}

// outer is the number of stages up to the one that makes a stream; 0 is none.
func (c *Chain) outer() int {
	for i := len(c.stages); i > 0; i-- {
		if _, ok := c.stages[i-1].(viewer); !ok {
			return i
		}
	}
	return 0
}

// isPassive tells of a stage within a stream that what is stored is what is decoded.
func (c *Chain) isPassive(i int) bool {
	switch c.stages[i].(type) {
	case *bitroundStage, *vlenStage:
		return true
	case opener:
		return i == c.outer()-1
	}
	return false
}

// Open begins to decode src, all of a stored chunk, by at most about most bytes of
// memory: a chunk that needs more is ErrLimit. The chain must be one that Streams. src
// must not change until the stream is closed. Elements of variable length are as
// stored: nothing was looked at.
func (c *Chain) Open(src []byte, most int64) (*Stream, error) {
	s := &Stream{chain: c, done: func() {}}
	last := c.outer()
	for i := len(c.stages) - 1; i >= last; i-- {
		var err error
		if _, ok := c.stages[i].(*vlenStage); ok {
			continue
		}
		if src, err = c.stages[i].(viewer).view(src, c.forms[i].Size); err != nil {
			return nil, err
		}
	}
	if s.r = bytes.NewReader(src); last == 0 {
		return s, nil
	}
	if o, ok := c.stages[last-1].(opener); ok {
		var err error
		if s.r, s.done, err = o.open(src, c.forms[last-1].Size, most); err != nil {
			return nil, streamError(c.nameOf(last-1), err)
		}
		last--
	}
	for i := last - 1; i >= 0; i-- {
		if p, ok := c.stages[i].(piecewise); ok {
			stage := c.stages[i]
			if keeps, ok := stage.(interface{ inPieces() Stage }); ok { // something from one piece for the next
				stage = keeps.inPieces()
			}
			s.r = newPieces(s.r, stage, p)
		}
	}
	return s, nil
}

// Read gives the next bytes. When it has given all that there should be it looks
// whether there are more.
func (s *Stream) Read(p []byte) (n int, err error) {
	in := &s.chain.forms[0]
	left := in.Size - s.n
	if left > 0 {
		n, err = s.r.Read(p[:min(int64(len(p)), left)])
		s.n += int64(n)
		left -= int64(n)
	}
	switch {
	case err == io.EOF && in.Exact && left > 0:
		return n, s.chain.checkSize(0, s.n)
	case err != nil && err != io.EOF:
		return n, streamError(s.chain.nameOf(0), err)
	case left == 0 && !s.checked && err == nil:
		if err = readEnd(s.chain.nameOf(0), s.r, in.Size); err == nil {
			s.checked = true
		}
		return n, err
	case left == 0 && n == 0:
		return 0, io.EOF
	}
	return n, err
}

// Offset is the number of bytes that were read.
func (s *Stream) Offset() int64 { return s.n }

// Close frees what the stream holds.
func (s *Stream) Close() {
	s.done()
	s.done = func() {}
}

// pieces decodes elements one by one.
type pieces struct {
	r     io.Reader
	stage Stage
	raw   []byte // whole elements, or the beginning of them
	have  int    // bytes in raw
	size  int    // of an element in raw
	made  Buffer
	ready []byte // of made, not read
}

func newPieces(r io.Reader, stage Stage, p piecewise) *pieces {
	stored, _ := p.sizes()
	return &pieces{r: r, stage: stage, size: stored, raw: make([]byte, max(1, (64<<10)/stored)*stored)}
}

func (s *pieces) Read(p []byte) (int, error) {
	for len(s.ready) == 0 {
		n, err := s.r.Read(s.raw[s.have:])
		s.have += n
		whole := s.have / s.size * s.size
		if whole == 0 {
			if err == io.EOF && s.have > 0 {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return 0, err
			}
			continue
		}
		s.made.B = s.made.B[:0]
		if err := s.stage.Decode(&s.made, s.raw[:whole], MaxSize); err != nil {
			return 0, err
		}
		s.ready = s.made.B
		s.have = copy(s.raw, s.raw[whole:s.have])
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}
