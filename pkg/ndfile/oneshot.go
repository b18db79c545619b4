package ndfile

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Item is one array to be saved.
type Item struct {
	// Name is the array's name; "" in single-array formats.
	Name string
	// Data are the elements in the caller's memory, in any strides and byte
	// order. For the dtypes "bytes" and "str" only DType, Shape and Data count:
	// Data.Data holds the bytes of all elements and Offsets delimits them.
	Data ndarray.Buffer
	// Offsets has count+1 entries for the dtypes of variable length, else nil.
	Offsets []int64
	// Mask has one byte an element in row-major order, 1 = missing; nil when
	// nothing is missing.
	Mask []byte
	// Dims, Attrs and Extra are as in Spec.
	Dims  []string
	Attrs *Attrs
	Extra *Attrs
}

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
	// DataOffset and DataLen locate the elements: row-major, native byte order.
	DataOffset, DataLen int64
	// MaskOffset locates Count mask bytes, 1 = missing; -1 when there are none.
	MaskOffset int64
	// OffsetsOffset locates Count+1 int64 offsets that delimit elements of
	// variable length; -1 when there are none.
	OffsetsOffset int64
	// DTypeOffset and DTypeLen locate the dtype's name (a NUL follows) where it
	// takes 64 bytes or more; else 0.
	DTypeOffset, DTypeLen int64
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
)

// Alignment is the alignment in bytes of every array in a sink's buffer,
// relative to its start.
const Alignment = 64

// Sink receives the arrays of a one-shot load in the caller's memory. A format
// calls Add for each array that it Wants, then Reserve for each of its parts,
// and fills what Reserve gives it.
type Sink struct {
	// One restricts the load to the array called Name.
	One  bool
	Name string
	// Buf receives elements, masks, offsets and names.
	Buf []byte
	// Infos receives one entry an array.
	Infos []LoadInfo
	// N counts the arrays, also those that Infos has no room for.
	N int
	// Need is the number of bytes of Buf that everything takes.
	Need int64
	// Series, where a format sets it, is the number of a series of files: it stands
	// for all that is in Infos and the names in Buf, in this process for nothing else.
	Series uint64
	// Limits bound what the file can make the library allocate.
	Limits Limits

	spare LoadInfo
	// unnamed is the array called "". The NUL of its name goes behind the elements:
	// before them it would move them by Alignment, 8 bytes out of step with those of
	// a RawArray vector in the file, where copying takes four times as long.
	unnamed *LoadInfo
}

// Wants reports whether the array of that name is to be loaded.
func (s *Sink) Wants(name []byte) bool { return !s.One || string(name) == s.Name }

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
	li := &s.spare
	if s.N < len(s.Infos) {
		li = &s.Infos[s.N]
	}
	if s.N == 0 {
		s.unnamed = nil // of a load that has failed
	}
	s.N++
	d = d.Native()
	if d.IsVar() {
		flags |= InfoStrings
	}
	li.NDim, li.Flags, li.Count, li.ItemSize = int32(len(shape)), flags, count, int64(d.Size)
	li.DataOffset, li.DataLen, li.MaskOffset, li.OffsetsOffset = 0, 0, -1, -1
	copy(li.Shape[:], shape)
	li.NameLen = int64(len(name))
	if len(name) > 0 {
		li.NameOffset = s.text(name)
	} else {
		s.unnamed = li
	}
	li.DTypeOffset, li.DTypeLen = 0, 0
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
func (s *Sink) reset() { s.N, s.Need, s.Series = 0, 0, 0 }

// Load reads the arrays of a small file in one pass: all, or the one that the
// sink names. The format goes by the extension first and, when the content
// says otherwise, by content. With ErrBuffer, Need, N and the infos are filled
// so that the caller can come again.
func Load(ctx context.Context, formats []Format, fsys FS, path string, sink *Sink) error {
	small := fsys
	if _, ok := fsys.(*Near); ok {
		fsys = OS
	}
	var tried Format
	var refused error // what the format that the extension names says
	for _, f := range formats {
		if o, ok := f.(OneShot); ok && hasExtension(f, path) {
			err := o.Load(ctx, small, path, sink)
			if err == nil {
				return nil
			}
			if !errors.Is(err, ErrFormat) {
				return Locate(err, path, "", false)
			}
			tried, refused = f, err
			break
		}
	}
	sink.reset()
	f, err := Detect(ctx, formats, fsys, path)
	if errors.Is(err, ErrFormat) && refused != nil {
		err = Locate(refused, path, "", false)
	}
	if err != nil {
		return err
	}
	if o, ok := f.(OneShot); ok && f != tried {
		return Locate(o.Load(ctx, fsys, path, sink), path, "", false)
	}
	file, err := f.Open(ctx, fsys, path, OpenOptions{FS: fsys, Limits: sink.Limits})
	if err != nil {
		return Locate(err, path, "", false)
	}
	defer file.Abort()
	return Locate(LoadFile(ctx, file, sink), path, "", false)
}

// LoadFile is Load on an open file: the way of formats without a OneShot, and
// of OneShots for what is not small and simple.
func LoadFile(ctx context.Context, file File, sink *Sink) error {
	for _, name := range file.Names() {
		if !sink.Wants([]byte(name)) {
			continue
		}
		a, err := file.Array(name)
		if err == nil {
			err = loadArray(ctx, name, a, file.Kind(), sink)
		}
		if err != nil {
			return Locate(err, "", name, file.Kind() != Single)
		}
	}
	return sink.Finish()
}

// loadArray puts one whole array into the sink.
func loadArray(ctx context.Context, name string, a Array, kind Kind, sink *Sink) error {
	spec := a.Spec()
	var flags uint32
	if kind == Single {
		flags |= InfoSingle
	}
	if spec.NoData {
		_, err := sink.Add([]byte(name), spec.DType, nil, flags|InfoNoData)
		return err
	}
	if spec.Masked {
		flags |= InfoMasked
	}
	li, err := sink.Add([]byte(name), spec.DType, spec.Shape, flags)
	if err != nil {
		return err
	}
	box := ndarray.Full(spec.Shape)
	var mask []byte
	if spec.Masked {
		if li.MaskOffset, mask, err = sink.Reserve(li.Count); err != nil {
			return err
		}
	}
	if spec.DType.IsVar() {
		return loadStrings(ctx, a, box, spec, li, mask, sink)
	}
	if li.DataLen, err = ndarray.NBytes(spec.Shape, spec.DType.Size); err != nil {
		return err
	}
	var data []byte
	if li.DataOffset, data, err = sink.Reserve(li.DataLen); err != nil || data == nil {
		return err
	}
	dst := ndarray.Buffer{DType: spec.DType.Native(), Shape: spec.Shape, Data: data}
	if spec.Masked {
		if mask == nil {
			return nil
		}
		return a.(Masked).ReadMasked(ctx, box, dst, mask)
	}
	return a.ReadBox(ctx, box, dst)
}

// loadStrings puts a whole array of variable length into the sink. When the
// buffer is short the lengths are still read, for Need.
func loadStrings(ctx context.Context, a Array, box ndarray.Box, spec Spec, li *LoadInfo, mask []byte, sink *Sink) error {
	bytes, ok := ndarray.Mul(li.Count+1, 8)
	if !ok {
		return NewError(ErrLimit, "too many elements")
	}
	off, raw, err := sink.Reserve(bytes)
	if err != nil {
		return err
	}
	li.OffsetsOffset = off
	offsets := make([]int64, li.Count+1)
	if spec.Masked && mask == nil {
		mask = make([]byte, li.Count)
	}
	s := a.(Strings)
	need, err := s.ReadStrings(ctx, box, offsets, nil, mask)
	if err != nil && !errors.Is(err, ErrBuffer) {
		return err
	}
	var data []byte
	if li.DataOffset, data, err = sink.Reserve(need); err != nil {
		return err
	}
	li.DataLen = need
	if data != nil {
		if _, err = s.ReadStrings(ctx, box, offsets, data, mask); err != nil {
			return err
		}
	}
	if raw != nil {
		putInt64s(raw, offsets)
	}
	return nil
}

// putInt64s writes native int64 values.
func putInt64s(dst []byte, v []int64) {
	for i, x := range v {
		binary.NativeEndian.PutUint64(dst[i*8:], uint64(x))
	}
}

// Save writes arrays as a new file in one pass. The format is opt.Format or
// goes by the extension.
func Save(ctx context.Context, formats []Format, path string, items []Item, opt SaveOptions) error {
	if opt.FS == nil {
		opt.FS = OS
	}
	f, err := formatToCreate(formats, path, &opt)
	if err != nil {
		return err
	}
	if o, ok := f.(OneShot); ok {
		return Locate(o.Save(ctx, opt.FS, path, items, opt), path, "", false)
	}
	if _, ok := opt.FS.(*Near); ok {
		opt.FS = OS
	}
	return Locate(SaveByFile(ctx, f, opt.FS, path, items, opt), path, "", false)
}

// SaveByFile is Save by way of a File: for formats without a OneShot, and for
// OneShots what is not small and simple. After an error nothing is left.
func SaveByFile(ctx context.Context, f Format, fsys FS, path string, items []Item, opt SaveOptions) error {
	file, err := f.Create(ctx, fsys, path, opt)
	if err != nil {
		return err
	}
	if err := SaveFile(ctx, file, items); err != nil {
		file.Abort()
		return err
	}
	return file.Close(ctx)
}

// SaveFile adds and writes arrays to a file that is being created.
func SaveFile(ctx context.Context, file File, items []Item) error {
	for i := range items {
		if err := saveItem(ctx, file, &items[i]); err != nil {
			return Locate(err, "", items[i].Name, file.Kind() != Single)
		}
	}
	return nil
}

func saveItem(ctx context.Context, file File, it *Item) error {
	a, err := file.Add(ctx, it.Name, Spec{DType: it.Data.DType, Shape: it.Data.Shape, Masked: it.Mask != nil,
		Dims: it.Dims, Attrs: it.Attrs, Extra: it.Extra})
	if err != nil {
		return err
	}
	box := ndarray.Full(it.Data.Shape)
	if it.Data.DType.IsVar() {
		s, ok := a.(Strings)
		if !ok {
			return NewError(ErrDType, "the format has no elements of variable length")
		}
		return s.WriteStrings(ctx, box, it.Offsets, it.Data.Data, it.Mask)
	}
	if it.Mask == nil {
		return a.WriteBox(ctx, box, it.Data)
	}
	m, ok := a.(Masked)
	if !ok {
		return NewError(ErrNotSupported, "the format has no missing elements")
	}
	return m.WriteMasked(ctx, box, it.Data, it.Mask)
}
