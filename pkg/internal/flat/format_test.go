package flat_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// toy is a format whose header is the magic, its own length and the number of
// axes, the extents, the width of the unsigned integers, and any number of zeros.
func toy(zeros int) *flat.Format {
	const (
		magic    = "toy!"
		atShape  = 12
		maxShape = atShape + 8*ndarray.MaxNDim
	)
	le := binary.LittleEndian
	return &flat.Format{
		Traits: ndfile.NewTraits("toy",
			ndfile.CapCreate|ndfile.CapWriteOnce|ndfile.CapOneShot|ndfile.CapMap|ndfile.CapTrailing, ".toy"),
		Called: "a toy file",
		Magic:  magic,
		Parse: func(h *flat.Header, head []byte, size int64, limits ndfile.Limits) (int, error) {
			if len(head) < atShape {
				return 0, flat.Wrong(ndfile.ErrCorrupt, size, "header", "12 bytes", "less")
			}
			length, ndim := int64(le.Uint32(head[4:])), int64(le.Uint32(head[8:]))
			end := atShape + 8*ndim + 1
			if ndim > ndarray.MaxNDim || length < end || length > min(size, limits.Header()) {
				return 0, flat.Wrong(ndfile.ErrCorrupt, 4, "header", "a header inside the file", "another")
			}
			if int64(len(head)) < length {
				return int(length), nil
			}
			for i := range ndim {
				h.Shape = append(h.Shape, int64(le.Uint64(head[atShape+8*i:])))
			}
			h.Offset = length
			h.DType = ndarray.DType{Kind: ndarray.Uint, Size: int(head[end-1])}.WithOrder(ndarray.Little)
			if _, err := ndarray.NBytes(h.Shape, h.DType.Size); err != nil || h.DType.Check() != nil || len(bytes.Trim(head[end:length], "\x00")) > 0 {
				return 0, flat.Wrong(ndfile.ErrCorrupt, 8, "header", "a shape, a width and zeros", "something else")
			}
			return int(length), nil
		},
		Append: func(h *flat.Header, dst []byte, spec ndfile.Spec) ([]byte, error) {
			if h.DType = spec.DType; h.DType.Kind != ndarray.Uint || h.DType.Size > 8 || h.DType.Swapped() {
				return nil, ndfile.NewError(ndfile.ErrDType, "no toy")
			}
			if spec.Extra.Len() > 0 {
				return nil, ndfile.NewError(ndfile.ErrArgument, "no toy")
			}
			ndim := len(spec.Shape)
			dst = le.AppendUint32(append(dst, magic...), uint32(atShape+8*ndim+1+zeros))
			dst = le.AppendUint32(dst, uint32(ndim))
			for _, n := range spec.Shape {
				dst = le.AppendUint64(dst, uint64(n))
			}
			return append(append(dst, byte(h.DType.Size)), make([]byte, zeros)...), nil
		},
	}
}

// TestLongHeaders: headers and data of all lengths around those of single reads,
// in all ways.
func TestLongHeaders(t *testing.T) {
	ctx := context.Background()
	for _, zeros := range []int{0, flat.HeadSize - 22, flat.HeadSize - 21, flat.HeadSize - 20, 5000, 64<<10 - 22, 64<<10 - 21, 64 << 10, 200000} {
		for _, n := range []int64{0, 1, 3000, 100000} {
			format, mem := toy(zeros), ndfile.NewMem()
			data := ndarray.Buffer{DType: ndarray.MustParse("|u1"), Shape: []int64{n}, Data: make([]byte, n)}
			for i := range data.Data {
				data.Data[i] = byte(i * 7)
			}
			items := []ndfile.Item{{Data: data}}
			opt := ndfile.SaveOptions{Trailing: []byte("behind")}
			if err := format.Save(ctx, mem, "/a.toy", items, opt); err != nil {
				t.Fatal(err)
			}
			if err := ndfile.SaveByFile(ctx, format, mem, "/b.toy", items, opt); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"/a.toy", "/b.toy"} {
				sink := &ndfile.Sink{Buf: make([]byte, n+100), Infos: make([]ndfile.LoadInfo, 1)}
				if err := format.Load(ctx, mem, path, sink); err != nil {
					t.Fatalf("%d zeros, %d elements: %v", zeros, n, err)
				}
				if li := &sink.Infos[0]; li.DataLen != n || !bytes.Equal(sink.Buf[li.DataOffset:][:n], data.Data) {
					t.Errorf("%s, %d zeros, %d elements: Load differs", path, zeros, n)
				}
				f, err := format.Open(ctx, mem, path, ndfile.OpenOptions{})
				if err != nil {
					t.Fatalf("%d zeros, %d elements: %v", zeros, n, err)
				}
				a, err := f.Array("")
				if err != nil {
					t.Fatal(err)
				}
				got, _ := ndarray.NewBuffer(data.DType, data.Shape)
				if err := a.ReadBox(ctx, ndarray.Full(data.Shape), got); err != nil || !bytes.Equal(got.Data, data.Data) {
					t.Errorf("%s, %d zeros, %d elements: ReadBox differs, %v", path, zeros, n, err)
				}
				if text, err := f.(ndfile.Trailer).Trailing(ctx); string(text) != "behind" || err != nil {
					t.Errorf("%s, %d zeros, %d elements: trailing %q, %v", path, zeros, n, text, err)
				}
				if err := f.Close(ctx); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
