package rawarray

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// words puts a file together: the words of a header and n bytes of data.
func words(n int, w ...uint64) []byte {
	b := []byte(magic)
	for _, x := range w {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return append(b, make([]byte, n)...)
}

func TestHeader(t *testing.T) {
	many := func(ndims int) []byte {
		return words(1, append([]uint64{0, eltUint, 1, 1, uint64(ndims)}, slices.Repeat([]uint64{1}, ndims)...)...)
	}
	for _, c := range []struct {
		name   string
		raw    []byte
		kind   *ndfile.ErrorKind // nil: good
		offset int64
		found  string // what the message says was found, or the dtype and shape
	}{
		{"0-d", words(4, 0, eltFloat, 4, 4, 0), nil, 0, "<f4 []"},
		{"0-d of the crate's RawArray::new: size 0", words(0, 0, eltFloat, 4, 0, 0), ndfile.ErrCorrupt, atSize, "found 0"},
		{"first axis fastest", words(12, 0, eltInt, 2, 12, 2, 2, 3), nil, 0, "<i2 [3 2]"},
		{"trailing singletons", words(4, 0, eltInt, 2, 4, 4, 2, 1, 1, 1), nil, 0, "<i2 [1 1 1 2]"},
		{"empty", words(0, 0, eltComplex, 4, 0, 2, 0, 5), nil, 0, "<c4 [5 0]"},
		{"empty, and nothing overflows", words(0, 0, eltInt, 8, 0, 3, 1<<62, 0, 1<<62), nil, 0, "<i8 [4611686018427387904 0 4611686018427387904]"},
		{"a dim beyond int64", words(0, 0, eltInt, 8, 0, 2, 0, 1<<63), ndfile.ErrCorrupt, atDims + 8, "found 9223372036854775808"},
		{"most axes", many(64), nil, 0, "|u1 [1 1"},
		{"too many axes", many(65), ndfile.ErrLimit, atNDims, "found 65"},
		{"more axes than bytes", many(65)[:atDims+8*65-1], ndfile.ErrCorrupt, atNDims, "found 65"},
		{"big endian", words(8, 1, eltFloat, 8, 8, 1, 1), nil, 0, ">f8 [1]"},
		{"big endian bfloat16", words(2, 1, eltBrain, 2, 2, 1, 1), nil, 0, ">bfloat16 [1]"},
		{"bool of RawArray.jl", words(3, 0, eltBrain, 1, 3, 1, 3), nil, 0, "|b1 [3]"},
		{"long double", words(16, 0, eltFloat, 16, 16, 1, 1), nil, 0, "|V16 [1]"},
		{"complex long double", words(32, 0, eltComplex, 32, 32, 1, 1), nil, 0, "|V32 [1]"},
		{"composite", words(80, 0, eltUser, 80, 80, 1, 1), nil, 0, "|V80 [1]"},
		{"composite of one byte", words(2, 0, eltUser, 1, 2, 1, 2), nil, 0, "|V1 [2]"},
		{"composite of no bytes", words(0, 0, eltUser, 0, 0, 1, 2), ndfile.ErrCorrupt, atElbyte, "found 0"},
		{"composite of 2 GiB", words(0, 0, eltUser, 1<<31, 0, 1, 0), ndfile.ErrLimit, atElbyte, "found 2147483648"},
		{"elbyte 2^63", words(0, 0, eltUser, 1<<63, 0, 1, 2), ndfile.ErrLimit, atElbyte, "found 9223372036854775808"},
		{"3-byte integer", words(3, 0, eltInt, 3, 3, 1, 1), ndfile.ErrCorrupt, atElbyte, "found 3"},
		{"4-byte brain float", words(4, 0, eltBrain, 4, 4, 1, 1), ndfile.ErrCorrupt, atElbyte, "found 4"},
		{"element type 6", words(4, 0, 6, 4, 4, 1, 1), ndfile.ErrNotSupported, atEltype, "found 6"},
		{"element type 2^32", words(4, 0, 1<<32, 4, 4, 1, 1), ndfile.ErrNotSupported, atEltype, "found 4294967296"},
		{"bytes overflow", words(0, 0, eltInt, 16, 0, 2, 1<<31, 1<<29), ndfile.ErrCorrupt, atDims, "found 1152921504606846976 elements of 16 bytes"},
		{"elements overflow", words(0, 0, eltInt, 1, 0, 3, 1<<31, 1<<31, 2), ndfile.ErrCorrupt, atDims + 16, "found 4611686018427387904 x 2"},
		{"claims a terabyte", words(9, 0, eltInt, 8, 1<<40, 1, 1<<37), ndfile.ErrCorrupt, 65, "found 9"},
		{"LZ4", words(66, 2, eltUint, 1, 66, 2, 20, 30), nil, 0, "|u1 [30 20]"},
		{"LZ4, big endian", words(3, 3, eltInt, 4, 3, 1, 2), nil, 0, ">i4 [2]"},
		{"LZ4 of nothing", words(1, 2, eltInt, 4, 1, 1, 0), nil, 0, "<i4 [0]"},
		{"LZ4 of too much", words(3, 2, eltUser, 255, 3, 1, 4), ndfile.ErrCorrupt, atSize, "found 3"},
		{"LZ4 of no bytes", words(3, 2, eltInt, 4, 0, 1, 4), ndfile.ErrCorrupt, atSize, "found 0"},
		{"LZ4 behind the end", words(3, 2, eltInt, 4, 4, 1, 2), ndfile.ErrCorrupt, 59, "found 3"},
		{"floats of RawArray.jl with the wrong flag", words(8, 2, eltFloat, 8, 8, 1, 1), nil, 0, "<f8 [1]"},
		{"LEB128", words(1, 2, eltInt, 4, 4, 1, 1), nil, 0, "<i4 [1]"},
		{"LEB128 behind the end", words(1, 2, eltInt, 4, 8, 1, 2), ndfile.ErrCorrupt, 57, "found 1"},
		{"BitArray", words(8, 6, eltBrain, 8, 8, 1, 3), nil, 0, "|b1 [3]"},
		{"BitArray without the first flag", words(16, 4, eltBrain, 8, 16, 1, 65), nil, 0, "|b1 [65]"},
		{"BitArray of too few words", words(8, 6, eltBrain, 8, 8, 1, 65), ndfile.ErrCorrupt, atSize, "found 8"},
		{"BitArray behind the end", words(7, 6, eltBrain, 8, 8, 1, 64), ndfile.ErrCorrupt, 63, "found 7"},
		{"BitArray of bytes", words(8, 6, eltBrain, 1, 8, 1, 3), ndfile.ErrCorrupt, atElbyte, "found 1"},
		{"BitArray of integers", words(8, 6, eltUint, 8, 8, 1, 3), ndfile.ErrCorrupt, atEltype, "found 2"},
		{"BitArray, big endian", words(8, 7, eltBrain, 8, 8, 1, 3), ndfile.ErrNotSupported, atFlags, "found 0x7"},
		{"gzip", words(8, 8, eltInt, 8, 8, 1, 1), ndfile.ErrNotSupported, atFlags, "unknown bits 0x8"},
		{"unknown beside known", words(8, 1<<40|3, eltInt, 8, 8, 1, 1), ndfile.ErrNotSupported, atFlags, "unknown bits 0x10000000000"},
	} {
		f, err := open(c.raw)
		if c.kind == nil {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			a, _ := f.Array("")
			var b strings.Builder
			b.WriteString(a.Spec().DType.String())
			if got := b.String() + " " + shapeText(a.Spec().Shape); !strings.HasPrefix(got, c.found) {
				t.Errorf("%s: %s, expected %s", c.name, got, c.found)
			}
			continue
		}
		if err == nil || ndfile.KindOf(err) != c.kind || ndfile.Offset(err) != c.offset || !strings.Contains(err.Error(), c.found) {
			t.Errorf("%s: %v, expected %s at byte %d with %q", c.name, err, c.kind.C, c.offset, c.found)
		}
	}
}

func shapeText(shape []int64) string {
	var s []string
	for _, n := range shape {
		s = append(s, decimal(n))
	}
	return "[" + strings.Join(s, " ") + "]"
}

// TestFill: what cannot be stored is refused.
func TestFill(t *testing.T) {
	extra := func(text string) *ndfile.Attrs {
		x, err := ndfile.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		dtype string
		shape []int64
		extra *ndfile.Attrs
		kind  *ndfile.ErrorKind // nil: good
		words [3]uint64         // flags, eltype, elbyte
	}{
		{"|b1", nil, nil, nil, [3]uint64{0, eltUint, 1}},
		{"|b1", nil, extra(`{"eltype": 5, "extension": "RawArray.jl Boolean"}`), nil, [3]uint64{0, eltBrain, 1}},
		{"|b1", nil, extra(`{"eltype": 2}`), nil, [3]uint64{0, eltUint, 1}},
		{"<f4", nil, extra(`{}`), nil, [3]uint64{0, eltFloat, 4}},
		{">f4", nil, nil, nil, [3]uint64{flagBig, eltFloat, 4}},
		{">u1", nil, nil, nil, [3]uint64{0, eltUint, 1}},
		{"|u1", nil, extra(`{"flags": 1}`), nil, [3]uint64{flagBig, eltUint, 1}},
		{">bfloat16", nil, nil, nil, [3]uint64{flagBig, eltBrain, 2}},
		{"<u16", nil, nil, nil, [3]uint64{0, eltUint, 16}},
		{"<c4", nil, nil, nil, [3]uint64{0, eltComplex, 4}},
		{"|V80", nil, nil, nil, [3]uint64{0, eltUser, 80}},
		{"|V80", nil, extra(`{"flags": 1}`), nil, [3]uint64{flagBig, eltUser, 80}},
		{"|V80", nil, extra(`{"flags": 0}`), nil, [3]uint64{0, eltUser, 80}},
		{"|V16", nil, extra(`{"eltype": 3, "extension": "C long double"}`), nil, [3]uint64{0, eltFloat, 16}},
		{`[["a", ">i4"], ["b", "<f8", [2]]]`, nil, nil, nil, [3]uint64{0, eltUser, 20}},

		{"<f4", nil, extra(`{"encoding": "lz4"}`), nil, [3]uint64{flagEncoded, eltFloat, 4}},
		{">f4", nil, extra(`{"encoding": "lz4"}`), nil, [3]uint64{flagEncoded | flagBig, eltFloat, 4}},
		{">i4", nil, extra(`{"encoding": "leb128"}`), nil, [3]uint64{flagEncoded, eltInt, 4}},
		{"|b1", nil, extra(`{"encoding": "leb128"}`), nil, [3]uint64{flagEncoded, eltUint, 1}},
		{"|b1", nil, extra(`{"encoding": "leb128", "eltype": 5}`), nil, [3]uint64{flagEncoded, eltBrain, 1}},
		{"|b1", nil, extra(`{"encoding": "bits"}`), nil, [3]uint64{flagEncoded | flagBits, eltBrain, 8}},

		{"<f16", nil, nil, ndfile.ErrDType, [3]uint64{}},
		{"<c32", nil, nil, ndfile.ErrDType, [3]uint64{}},
		{"|V0", nil, nil, ndfile.ErrDType, [3]uint64{}},
		{"|S3", nil, nil, ndfile.ErrDType, [3]uint64{}},
		{"<U3", nil, nil, ndfile.ErrDType, [3]uint64{}},
		{"<M8[s]", nil, nil, ndfile.ErrDType, [3]uint64{}},
		{"str", nil, nil, ndfile.ErrDType, [3]uint64{}},
		{"<f4", nil, extra(`{"eltype": 1}`), ndfile.ErrDType, [3]uint64{}},
		{"<f4", nil, extra(`{"eltype": 99}`), ndfile.ErrDType, [3]uint64{}},
		{"<f4", nil, extra(`{"flags": 1}`), ndfile.ErrDType, [3]uint64{}},
		{">f4", nil, extra(`{"flags": 0}`), ndfile.ErrDType, [3]uint64{}},
		{"<f4", nil, extra(`{"flags": 2}`), ndfile.ErrArgument, [3]uint64{}},
		{"<f4", nil, extra(`{"encoding": "zstd"}`), ndfile.ErrArgument, [3]uint64{}},
		{"<f4", nil, extra(`{"encoding": "leb128"}`), ndfile.ErrDType, [3]uint64{}},
		{"bfloat16", nil, extra(`{"encoding": "leb128"}`), ndfile.ErrDType, [3]uint64{}},
		{"|u1", nil, extra(`{"encoding": "bits"}`), ndfile.ErrDType, [3]uint64{}},
		{"<f4", nil, extra(`{"flags": "1"}`), ndfile.ErrArgument, [3]uint64{}},
		{"<f4", nil, extra(`{".time": 1}`), ndfile.ErrArgument, [3]uint64{}},
		{"<f4", []int64{-1}, nil, ndfile.ErrShape, [3]uint64{}},
		{"<f4", []int64{1 << 62}, nil, ndfile.ErrShape, [3]uint64{}},
		{"|u1", []int64{math.MaxInt64}, nil, ndfile.ErrLimit, [3]uint64{}},
		{"<f4", make([]int64, 65), nil, ndfile.ErrShape, [3]uint64{}},
	} {
		d, mem := ndarray.MustParse(c.dtype), ndfile.NewMem()
		one := ndfile.Item{Data: ndarray.Buffer{DType: d, Shape: c.shape, Data: make([]byte, d.Size)}, Extra: c.extra}
		err := Format.(ndfile.OneShot).Save(ctx, mem, "/x.ra", []ndfile.Item{one}, ndfile.SaveOptions{})
		if c.kind != nil {
			if err == nil || ndfile.KindOf(err) != c.kind {
				t.Errorf("%s %v %s: %v, expected %s", c.dtype, c.shape, ndfile.AppendJSON(nil, c.extra), err, c.kind.C)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", c.dtype, ndfile.AppendJSON(nil, c.extra), err)
			continue
		}
		raw := content(t, mem)
		if got := [3]uint64(wordsAt(raw, atFlags, atEltype, atElbyte)); got != c.words {
			t.Errorf("%s %s: %v, expected %v", c.dtype, ndfile.AppendJSON(nil, c.extra), got, c.words)
		}
	}
}

func wordsAt(raw []byte, at ...int) (w []uint64) {
	for _, i := range at {
		w = append(w, binary.LittleEndian.Uint64(raw[i:]))
	}
	return w
}
