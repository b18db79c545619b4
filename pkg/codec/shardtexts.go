package codec

import (
	"encoding/binary"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// order lists for each element of the shard, in order, the inner chunk that it is in
// and its number there.
func (s *Shard) order(each func(chunk, element int) error) error {
	index := make([]int64, len(s.Grid))
	var stored []int64 // elements between neighbours along an axis of an inner chunk
	e := s.Inner.Elements()
	stored, _ = ndarray.AppendStrides(nil, e.Shape, 1) // was counted
	strides := stored
	if order := s.Inner.Order(); order != nil {
		strides = make([]int64, len(order))
		for i, axis := range order {
			strides[axis] = stored[i]
		}
	}
	for range s.in.count() {
		chunk, element := 0, int64(0)
		for axis, i := range index {
			chunk = chunk*int(s.Grid[axis]) + int(i/s.Chunks[axis])
			element += i % s.Chunks[axis] * strides[axis]
		}
		if err := each(chunk, int(element)); err != nil {
			return err
		}
		for axis := len(index) - 1; axis >= 0; axis-- {
			if index[axis]++; index[axis] < s.in.Shape[axis] {
				break
			}
			index[axis] = 0
		}
	}
	return nil
}

// decodeTexts is Decode of elements of variable length.
func (s *Shard) decodeTexts(dst *Buffer, src []byte, entries []Entry, limit int64) error {
	// All decoded chunks lie in one piece of memory; where holds the place of each text
	// in it, 4 bytes each, as the sum is at most maxVar.
	var all, places Buffer
	defer all.Free()
	defer places.Free()
	per, _ := ndarray.Count(s.Chunks) // was counted
	where, err := places.Extend(int(4 * per * int64(len(entries))))
	if err != nil {
		return err
	}
	clear(where) // 0: the fill value
	for k, e := range entries {
		if e == Missing {
			continue
		}
		from := len(all.B)
		if err := s.Inner.AppendDecoded(&all, src[e.Off:e.Off+e.Len]); err != nil {
			return err
		}
		if int64(len(all.B)) > limit {
			return tooMuch("sharding_indexed", limit)
		}
		for i, p := 0, from+4; i < int(per); i++ {
			binary.LittleEndian.PutUint32(where[4*(k*int(per)+i):], uint32(p))
			p += 4 + int(binary.LittleEndian.Uint32(all.B[p:]))
		}
	}
	at := len(dst.B)
	if err := appendCount(dst, s.in.count()); err != nil {
		return err
	}
	return s.order(func(chunk, element int) error {
		text := s.in.Fill
		if p := binary.LittleEndian.Uint32(where[4*(chunk*int(per)+element):]); p > 0 {
			text = all.B[p+4:][:binary.LittleEndian.Uint32(all.B[p:])]
		}
		if int64(len(dst.B)-at) > limit {
			return tooMuch("sharding_indexed", limit)
		}
		return appendElement(dst, text)
	})
}

// encodeTexts is Encode of elements of variable length.
func (s *Shard) encodeTexts(dst *Buffer, src []byte) error {
	per, _ := ndarray.Count(s.Chunks) // was counted
	if n := len(src); n < 4 || int64(binary.LittleEndian.Uint32(src)) != s.in.count() {
		return errorf(ErrValue, "sharding_indexed", "expected %d elements", s.in.count())
	}
	at, entries, err := s.begin(dst)
	if err != nil {
		return err
	}
	var places, plain Buffer
	defer places.Free()
	defer plain.Free()
	where, err := places.Extend(int(4 * per * int64(len(entries)))) // as in decodeTexts
	if err != nil {
		return err
	}
	p := 4
	err = s.order(func(chunk, element int) error {
		binary.LittleEndian.PutUint32(where[4*(chunk*int(per)+element):], uint32(p))
		p += 4 + int(binary.LittleEndian.Uint32(src[p:]))
		return nil
	})
	for k := 0; err == nil && k < len(entries); k++ {
		plain.B = plain.B[:0]
		if err = appendCount(&plain, per); err != nil {
			break
		}
		for i := range int(per) {
			p := binary.LittleEndian.Uint32(where[4*(k*int(per)+i):])
			if err = appendElement(&plain, src[p+4:][:binary.LittleEndian.Uint32(src[p:])]); err != nil {
				return err
			}
		}
		from := len(dst.B)
		if err = s.Inner.Encode(dst, plain.B); err == nil {
			entries[k] = Entry{uint64(from - at), uint64(len(dst.B) - from)}
		}
	}
	if err != nil {
		return err
	}
	return s.close(dst, at, entries)
}
