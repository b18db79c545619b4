package ndfile

import (
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// LoadInfo describes one loaded array and where it lies in the sink's buffer.
// Its layout is that of the C struct ndf_load_info, and frozen.
type LoadInfo struct {
	// StructSize is for C callers; Go leaves it as it is.
	StructSize uint32
	// NDim is the number of axes, at most ndarray.MaxNDim.
	NDim int32
	// Flags is a set of Info bits.
	Flags uint32
	_     uint32
	// Count is the number of elements, ItemSize the bytes of one (0: variable).
	Count, ItemSize int64
	// NameOffset and NameLen locate the name (UTF-8; a NUL follows).
	NameOffset, NameLen int64
	// DataOffset and DataLen locate the elements: row-major, native byte order. With
	// Sink.Bare they are -1 and 0.
	DataOffset, DataLen int64
	// MaskOffset locates Count mask bytes, 1 = missing; -1 when there are none.
	MaskOffset int64
	// OffsetsOffset locates Count+1 int64 offsets that delimit elements of
	// variable length; -1 when there are none.
	OffsetsOffset int64
	// DTypeOffset and DTypeLen locate the dtype's name (a NUL follows) where it
	// takes 64 bytes or more; else 0.
	DTypeOffset, DTypeLen int64
	// MetaOffset and MetaLen locate the metadata as a JSON object, see
	// [Sink.Meta]; without it all of these are 0.
	MetaOffset, MetaLen int64
	// DimsOffset and DimsLen locate the list of the axes' names within it, or are
	// 0; AttrsOffset and AttrsLen locate the object of the attributes.
	DimsOffset, DimsLen, AttrsOffset, AttrsLen int64
	// StoredOffset and StoredLen locate the stored dtype's name within it, without
	// quotes and escaped as JSON has it, where that is not DType; else 0.
	StoredOffset, StoredLen int64
	// DType is the dtype's name in native byte order, NUL-terminated; empty
	// when it is too long.
	DType [64]byte
	// Shape is row-major; entries from NDim on are unspecified.
	Shape [ndarray.MaxNDim]int64
}

// The bits of LoadInfo.Flags and of the C struct ndf_array_info.
const (
	// InfoMasked: elements can be missing; there is a mask.
	InfoMasked = 1 << iota
	// InfoStrings: elements of variable length ("bytes" or "str").
	InfoStrings
	// InfoNoData: metadata without data; shape and elements are absent.
	InfoNoData
	// InfoSingle: the file is this one array.
	InfoSingle
	// InfoChunked: the elements are stored in chunks. Only with Sink.Meta, as the
	// next.
	InfoChunked
	// InfoFill: elements that were never written have a value of their own.
	InfoFill
)

// Alignment is the alignment in bytes of every array in a sink's buffer,
// relative to its start.
const Alignment = 64

// Sink receives arrays of a file, what describes them, or both, in the caller's
// memory. A format calls Each, and for each array Add, AddMeta, then Reserve for
// each of its parts, and fills what Reserve gives it.
type Sink struct {
	// One restricts the load to the array called Name.
	One  bool
	Name string
	// First is the position of the first array to load, and Some has the load end
	// before the first array that finds no room, when there is one before it: so a
	// file of any number of arrays goes through memory of any size.
	First int
	Some  bool
	// Meta asks for metadata. They are one JSON text in Buf, in ASCII, for which
	// MetaOffset and MetaLen stand: a list of the file's attributes (an object; null where
	// First is not 0) and of one object for each array, with the members "dims"
	// (names of the axes, where they have some), "attrs" (an object), "dtype" (as
	// stored, where that is not the info's), "chunks", "shards" and "compression"
	// (codec, level, shuffle; each only where there is such a thing).
	Meta                bool
	MetaOffset, MetaLen int64
	// Bare leaves out the elements, Names all but the names.
	Bare, Names bool
	// Buf receives elements, masks, offsets and names.
	Buf []byte
	// Infos receives one entry an array.
	Infos []LoadInfo
	// N counts the arrays, also those that Infos has no room for; Total all that
	// the file has.
	N, Total int
	// Need is the number of bytes of Buf that everything takes.
	Need int64
	// Series, where a format sets it, is the number of a series of files: it stands
	// for all that is in Infos and the names in Buf, and in this process never for
	// anything else.
	Series uint64
	// Limits bound what the file can make the library allocate.
	Limits Limits

	spare LoadInfo
	// unnamed is the array called "". The NUL of its name goes behind the elements:
	// before them it would move them by Alignment, 8 bytes out of step with those of
	// a RawArray vector in the file, where copying takes four times as long.
	unnamed *LoadInfo
	meta    []byte // the text until Finish, which places it
}

// Want sets what is to be loaded into which memory, for a sink that is used again.
func (s *Sink) Want(buf []byte, infos []LoadInfo, limits Limits) {
	s.One, s.Name, s.First, s.Some, s.Meta, s.Bare, s.Names = false, "", 0, false, false, false, false
	s.Buf, s.Infos, s.Limits = buf, infos, limits
	s.reset()
}

// Release lets go of what belongs to others.
func (s *Sink) Release() {
	s.Name, s.Buf, s.Infos, s.unnamed = "", nil, nil, nil
	if cap(s.meta) > mostMeta {
		s.meta = nil
	}
}

// mostMeta is how much memory for metadata a sink that is not in use may have.
const mostMeta = 1 << 16

// Plain reports whether the load is of whole arrays, all or one.
func (s *Sink) Plain() bool { return s.First == 0 && !s.Some && !s.Bare && !s.Names }

// Wants reports whether the array of that name is to be loaded.
func (s *Sink) Wants(name []byte) bool { return !s.One || string(name) == s.Name }

// Each has load put those of the file's n arrays into the sink that are wanted, and
// Finishes it. With Some an array that fails ends the load too, when there is one
// before it.
func (s *Sink) Each(n int, attrs func([]byte) []byte, name func(i int) []byte, load func(i int) error) error {
	s.Total = n
	if s.Meta {
		s.beginMeta(attrs)
	}
	for i := s.First; i < n; i++ {
		if !s.Wants(name(i)) {
			continue
		}
		if s.Some && s.N > 0 && s.N == len(s.Infos) {
			break
		}
		count, need, meta, unnamed := s.N, s.Need, len(s.meta), s.unnamed
		var err error
		if s.Names {
			s.addName(name(i))
		} else {
			err = load(i)
		}
		if s.Some && count > 0 && (err != nil || s.wanted() > int64(len(s.Buf))) {
			s.N, s.Need, s.meta, s.unnamed = count, need, s.meta[:meta], unnamed
			break
		}
		if err != nil {
			return err
		}
	}
	return s.Finish()
}

// addName registers an array of which nothing but the name is wanted.
func (s *Sink) addName(name []byte) {
	li := s.next()
	*li = LoadInfo{StructSize: li.StructSize, MaskOffset: -1, OffsetsOffset: -1, NameLen: int64(len(name))}
	s.placeName(li, name)
}

// next is the entry of the next array.
func (s *Sink) next() *LoadInfo {
	li := &s.spare
	if s.N < len(s.Infos) {
		li = &s.Infos[s.N]
	}
	if s.N == 0 {
		s.unnamed = nil // of a load that has failed
	}
	s.N++
	return li
}

func (s *Sink) placeName(li *LoadInfo, name []byte) {
	if len(name) > 0 {
		li.NameOffset = s.text(name)
	} else {
		s.unnamed = li
	}
}

// Add registers an array of the stored dtype d. The entry it returns is valid
// until the next Add; the caller sets its places from Reserve.
func (s *Sink) Add(name []byte, d ndarray.DType, shape []int64, flags uint32) (*LoadInfo, error) {
	if len(shape) > ndarray.MaxNDim {
		return nil, NewError(ErrLimit, strconv.Itoa(len(shape))+" axes; at most "+strconv.Itoa(ndarray.MaxNDim)+" are supported")
	}
	count, err := ndarray.Count(shape)
	if err != nil {
		return nil, err
	}
	li := s.next()
	d = d.Native()
	if d.IsVar() {
		flags |= InfoStrings
	}
	li.NDim, li.Flags, li.Count, li.ItemSize = int32(len(shape)), flags, count, int64(d.Size)
	li.DataOffset, li.DataLen, li.MaskOffset, li.OffsetsOffset = 0, 0, -1, -1
	if s.Bare {
		li.DataOffset = -1
	}
	copy(li.Shape[:], shape)
	li.NameLen = int64(len(name))
	s.placeName(li, name)
	li.DTypeOffset, li.DTypeLen = 0, 0
	li.MetaOffset, li.MetaLen, li.DimsOffset, li.DimsLen = 0, 0, 0, 0
	li.AttrsOffset, li.AttrsLen, li.StoredOffset, li.StoredLen = 0, 0, 0, 0
	text := d.AppendName(li.DType[:0])
	if len(text) < len(li.DType) {
		li.DType[len(text)] = 0
	} else {
		li.DType[0] = 0
		li.DTypeOffset, li.DTypeLen = s.text(text), int64(len(text))
	}
	return li, nil
}

// text places bytes and a NUL, unaligned.
func (s *Sink) text(t []byte) int64 {
	off := s.Need
	end, ok := ndarray.Add(off, int64(len(t))+1)
	if !ok {
		return off
	}
	s.Need = end
	if end <= int64(len(s.Buf)) {
		copy(s.Buf[off:], t)
		s.Buf[end-1] = 0
	}
	return off
}

// Reserve takes n aligned bytes of the buffer. dst is nil when they do not
// fit (or n is 0); Need counts them all the same.
func (s *Sink) Reserve(n int64) (offset int64, dst []byte, err error) {
	offset, ok := ndarray.Add(s.Need, Alignment-1)
	offset &^= Alignment - 1
	end, ok2 := ndarray.Add(offset, n)
	if !ok || !ok2 {
		return 0, nil, NewError(ErrLimit, "the arrays take more than 2^63 bytes")
	}
	s.Need = end
	if n > 0 && end <= int64(len(s.Buf)) {
		dst = s.Buf[offset:end:end]
	}
	return offset, dst, nil
}

// Finish is the last call of a load: ErrName when the one array that was
// asked for did not come, ErrBuffer when the buffer or the infos were short.
func (s *Sink) Finish() error {
	if s.unnamed != nil {
		s.unnamed.NameOffset, s.unnamed = s.text(nil), nil
	}
	if s.Meta {
		s.placeMeta()
	}
	switch {
	case s.One && s.N == 0:
		return NewError(ErrName, ErrName.Text).In(string([]byte(s.Name)))
	case s.Need > int64(len(s.Buf)):
		return NewError(ErrBuffer, "the buffer has "+strconv.Itoa(len(s.Buf))+" bytes, "+strconv.FormatInt(s.Need, 10)+" are needed")
	case s.N > len(s.Infos):
		return NewError(ErrBuffer, "room for "+strconv.Itoa(len(s.Infos))+" infos, "+strconv.Itoa(s.N)+" are needed")
	}
	return nil
}

// reset makes the sink as it was before a load that went nowhere.
func (s *Sink) reset() {
	s.N, s.Total, s.Need, s.Series, s.meta = 0, 0, 0, 0, s.meta[:0]
	s.MetaOffset, s.MetaLen, s.unnamed = 0, 0, nil
}
