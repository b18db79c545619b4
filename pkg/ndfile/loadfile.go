package ndfile

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// LoadFile is Load on an open file, which gives arrays, what describes them, or both.
// It is the way of formats without a OneShot, too, and of OneShots for what is not
// small and simple.
func LoadFile(ctx context.Context, file File, sink *Sink) error {
	if l, ok := file.(Loader); ok {
		return l.Load(ctx, sink)
	}
	names, kind := file.Names(), file.Kind()
	attrs := func(dst []byte) []byte { return AppendJSON(dst, file.Attrs()) }
	name := func(i int) []byte { return []byte(names[i]) }
	return sink.Each(len(names), attrs, name, func(i int) error {
		a, err := file.Array(names[i])
		if err == nil {
			err = loadArray(ctx, names[i], a, kind, sink)
		}
		return Locate(err, "", names[i], kind != Single)
	})
}

// LoadAhead puts into the sink what is at hand of a file that has just been opened:
// what describes its first arrays, where they need not be looked for one by one, and
// their elements where these are in memory. What cannot be loaded is not there.
func LoadAhead(ctx context.Context, file File, sink *Sink) {
	l, ok := file.(Loader)
	if !ok {
		return
	}
	sink.One, sink.First, sink.Names, sink.Some, sink.Bare = false, 0, false, true, sink.Bare || !l.Whole()
	err := l.Load(ctx, sink)
	if err != nil && !sink.Bare {
		sink.reset()
		sink.Bare = true
		err = l.Load(ctx, sink)
	}
	if err != nil {
		sink.reset()
	}
}

// loadArray puts one whole array into the sink.
func loadArray(ctx context.Context, name string, a Array, kind Kind, sink *Sink) error {
	spec := a.Spec()
	var flags uint32
	if kind == Single {
		flags |= InfoSingle
	}
	shape := spec.Shape
	if spec.NoData {
		flags, shape = flags|InfoNoData, nil
	}
	if spec.Masked {
		flags |= InfoMasked
	}
	li, err := sink.Add([]byte(name), spec.DType, shape, flags)
	if err != nil {
		return err
	}
	sink.AddMeta(li, &spec, func(dst []byte) []byte {
		if spec.Dims == nil {
			return dst
		}
		return AppendDimsJSON(dst, spec.Dims)
	}, func(dst []byte) []byte { return AppendJSON(dst, a.Attrs()) })
	if spec.NoData || sink.Bare {
		return nil
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
