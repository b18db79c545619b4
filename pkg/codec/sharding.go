package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// The codec "sharding_indexed" of Zarr 3: a chunk, the shard, holds smaller ones in
// any order, each encoded by codecs of its own, and an index with the place and the
// length of each. Source: its page in the specification of Zarr 3.
var _ = define(Definition{Name: "sharding_indexed", kind: serializer, new: func(c *conf) (Codec, error) {
	s := &sharding{start: c.word("index_location", "end", "end", "start") == "start"}
	v, _ := c.get("chunk_shape")
	var ok bool
	if s.chunks, ok = extents(v); !ok || slices.Contains(s.chunks, 0) {
		c.fail("chunk_shape", "a list of extents of 1 or more")
	}
	for _, part := range [...]struct {
		key   string
		specs *[]Spec
	}{{"codecs", &s.codecs}, {"index_codecs", &s.index}} {
		list, _ := c.get(part.key)
		var err error
		if *part.specs, err = ParseSpecs(list); err != nil {
			c.fail(part.key, "a list of codecs")
		}
	}
	return s, nil
}})

// OfShards is the Spec of the codec for chunks of a shape that are encoded by some
// codecs. The index is at the end, with a checksum, as every program writes it.
func OfShards(chunks []int64, codecs []Spec) Spec {
	shape := make([]Value, len(chunks))
	for i, n := range chunks {
		shape[i] = pyjson.Int(n)
	}
	index := []Spec{{Name: "bytes", Conf: members("endian", "little")}, {Name: "crc32c"}}
	return Spec{Name: "sharding_indexed", Conf: members("chunk_shape", pyjson.List(shape...), "codecs", SpecsValue(codecs),
		"index_codecs", SpecsValue(index), "index_location", "end")}
}

type sharding struct {
	chunks        []int64
	codecs, index []Spec
	start         bool
}

func (s *sharding) Config(v Version) (*Object, error) {
	shape := make([]Value, len(s.chunks))
	for i, n := range s.chunks {
		shape[i] = pyjson.Int(n)
	}
	lists := [2]Value{}
	for k, specs := range [...][]Spec{s.codecs, s.index} {
		list := make([]Value, len(specs))
		for i, spec := range specs {
			one, err := New(spec, V3)
			if err != nil {
				return nil, err
			}
			if spec, err = one.(named).inVersion(V3); err != nil {
				return nil, err
			}
			list[i] = spec.Value3()
		}
		lists[k] = pyjson.List(list...)
	}
	place := map[bool]string{true: "start", false: "end"}[s.start]
	return members("chunk_shape", pyjson.List(shape...), "codecs", lists[0], "index_codecs", lists[1], "index_location", place), nil
}

// byteOrder is that of the elements in the inner chunks.
func (s *sharding) byteOrder() ndarray.Order {
	order, err := StoredOrder(s.codecs)
	if err != nil {
		return ndarray.Little // Bind tells
	}
	return order
}

func (s *sharding) Bind(in Form) (Stage, Form, error) {
	if len(s.chunks) != len(in.Shape) {
		return nil, Form{}, errorf(ErrConfig, "sharding_indexed", "chunk_shape: expected %d extents, found %d", len(in.Shape), len(s.chunks))
	}
	t := &Shard{in: in, Chunks: s.chunks, AtStart: s.start, Grid: make([]int64, len(s.chunks))}
	for i, n := range s.chunks {
		if in.Shape[i]%n != 0 {
			return nil, Form{}, errorf(ErrConfig, "sharding_indexed", "chunk_shape: %v does not divide the shard of %v", s.chunks, in.Shape)
		}
		t.Grid[i] = in.Shape[i] / n
	}
	inner, err := Elements(in.DType, s.chunks, in.Fill)
	if err != nil {
		return nil, Form{}, err
	}
	inner.Bits = in.Bits
	if t.Inner, err = NewChain(V3, s.codecs, inner); err != nil {
		return nil, Form{}, err
	}
	entries, err := Elements(ndarray.DType{Kind: ndarray.Uint, Order: ndarray.Little, Size: 8}, append(slices.Clone(t.Grid), 2), nil)
	if err == nil {
		t.index, err = NewChain(V3, s.index, entries)
	}
	if err != nil {
		return nil, Form{}, err
	}
	stored := t.index.Stored()
	if !stored.Exact || stored.Size > math.MaxInt32 {
		return nil, Form{}, errorf(ErrNotSupported, "sharding_indexed", "index_codecs: expected an index of a fixed size below 2^31 bytes, found %d bytes", stored.Size)
	}
	t.IndexSize = int(stored.Size)
	return t, opaque(compressed(in.Size).Size+stored.Size, false), nil
}

// Shard is the Stage of the codec "sharding_indexed".
type Shard struct {
	// Chunks is the shape of an inner chunk, Grid how many there are along each axis.
	Chunks, Grid []int64
	// Inner encodes inner chunks.
	Inner *Chain
	// IndexSize is the number of bytes of the index, which is at the start of the
	// shard or at its end.
	IndexSize int
	AtStart   bool

	in    Form
	index *Chain
}

// InnerSpecs are the codecs of the chunks in a shard, of the first codec in a list that
// makes shards.
func InnerSpecs(specs []Spec) []Spec {
	for _, s := range specs {
		if c, err := New(s, V3); err == nil {
			if sh, ok := c.(named).Codec.(*sharding); ok {
				return sh.codecs
			}
		}
	}
	return nil
}

// AsShard gives the stage of a sharded chunk, else nil.
func AsShard(s Stage) *Shard {
	t, _ := s.(*Shard)
	return t
}

// Entry is the place of an inner chunk in its shard. Missing: it was never written.
type Entry struct{ Off, Len uint64 }

// Missing is the Entry of an inner chunk that was never written.
var Missing = Entry{math.MaxUint64, math.MaxUint64}

// Count is the number of inner chunks.
func (s *Shard) Count() int {
	n, _ := ndarray.Count(s.Grid) // its bytes were counted
	return int(n)
}

// DecodeIndex reads the index from its bytes; size is that of the shard. The entries
// are in the order of the grid, the last axis fastest, and lie within the shard.
func (s *Shard) DecodeIndex(raw []byte, size int64) ([]Entry, error) {
	var room Buffer
	defer room.Free()
	if err := s.index.AppendDecoded(&room, raw); err != nil {
		return nil, err
	}
	plain := room.B
	if s.index.Elements().DType.Swapped() != (ndarray.NativeOrder == ndarray.Big) {
		ndarray.SwapBytes(plain, s.index.Elements().DType)
	}
	entries, err := s.entries()
	if err != nil {
		return nil, err
	}
	for i := range entries {
		e := Entry{binary.LittleEndian.Uint64(plain[16*i:]), binary.LittleEndian.Uint64(plain[16*i+8:])}
		if e != Missing && (e.Off > uint64(size) || e.Len > uint64(size)-e.Off) {
			return nil, corrupt("sharding_indexed", "inner chunk %d lies at byte %d with %d bytes, but the shard has %d", i, e.Off, e.Len, size)
		}
		entries[i] = e
	}
	return entries, nil
}

// AppendIndex appends the bytes of the index.
func (s *Shard) AppendIndex(dst *Buffer, entries []Entry) error {
	var room Buffer
	defer room.Free()
	plain, err := room.Extend(16 * len(entries))
	if err != nil {
		return err
	}
	for i, e := range entries {
		binary.LittleEndian.PutUint64(plain[16*i:], e.Off)
		binary.LittleEndian.PutUint64(plain[16*i+8:], e.Len)
	}
	if s.index.Elements().DType.Swapped() != (ndarray.NativeOrder == ndarray.Big) {
		ndarray.SwapBytes(plain, s.index.Elements().DType)
	}
	return s.index.Encode(dst, plain)
}

// bounds cuts the index from a whole shard.
func (s *Shard) bounds(src []byte) (index []byte, err error) {
	if len(src) < s.IndexSize {
		return nil, corrupt("sharding_indexed", "a shard of %d bytes, its index alone has %d", len(src), s.IndexSize)
	}
	if s.AtStart {
		return src[:s.IndexSize], nil
	}
	return src[len(src)-s.IndexSize:], nil
}

// inner is an inner chunk as part of the elements of a shard.
func (s *Shard) inner(data []byte, k int) (ndarray.Buffer, error) {
	box := ndarray.Box{Start: make([]int64, len(s.Grid)), Count: s.Chunks}
	for axis := len(s.Grid) - 1; axis >= 0; axis-- {
		box.Start[axis] = int64(k) % s.Grid[axis] * s.Chunks[axis]
		k /= int(s.Grid[axis])
	}
	return ndarray.Buffer{DType: s.in.DType, Shape: s.in.Shape, Data: data}.Sub(box)
}

// ordered is memory of decoded elements of an inner chunk, its axes in order.
func (s *Shard) ordered(data []byte) ndarray.Buffer {
	e := s.Inner.Elements()
	b := ndarray.Buffer{DType: e.DType, Shape: s.Chunks, Data: data}
	if order := s.Inner.Order(); order != nil {
		stored, _ := ndarray.AppendStrides(nil, e.Shape, e.DType.Size) // its bytes were counted
		b.Strides = make([]int64, len(order))
		for i, axis := range order {
			b.Strides[axis] = stored[i]
		}
	}
	return b
}

// Decode decodes all of a shard.
func (s *Shard) Decode(dst *Buffer, src []byte, limit int64) error {
	raw, err := s.bounds(src)
	if err != nil {
		return err
	}
	entries, err := s.DecodeIndex(raw, int64(len(src)))
	if err != nil {
		return err
	}
	if s.in.DType.IsVar() {
		return s.decodeTexts(dst, src, entries, limit)
	}
	out, err := dst.Extend(int(s.in.Size))
	if err != nil {
		return err
	}
	var room Buffer
	defer room.Free()
	plain, err := room.Extend(int(s.Inner.Elements().Size))
	if err != nil {
		return err
	}
	for k, e := range entries {
		part, err := s.inner(out, k)
		if err != nil {
			return err
		}
		from := s.ordered(plain)
		if e == Missing {
			from = ndarray.Buffer{DType: s.in.DType, Shape: s.Chunks, Strides: make([]int64, len(s.Chunks)), Data: s.fill()}
		} else if err := s.Inner.Decode(plain, src[e.Off:e.Off+e.Len]); err != nil {
			return err
		}
		if err := ndarray.Copy(part, from); err != nil {
			return err
		}
	}
	return nil
}

// fill is the element that stands for what was never written.
func (s *Shard) fill() []byte {
	if s.in.Fill != nil {
		return s.in.Fill
	}
	return make([]byte, s.in.DType.Size)
}

// Encode makes a shard of all its elements. Inner chunks of nothing but the fill
// value are left out.
func (s *Shard) Encode(dst *Buffer, src []byte) error {
	if s.in.DType.IsVar() {
		return s.encodeTexts(dst, src)
	}
	at, entries, err := s.begin(dst)
	if err != nil {
		return err
	}
	var room Buffer
	defer room.Free()
	plain, err := room.Extend(int(s.Inner.Elements().Size))
	if err != nil {
		return err
	}
	fill := s.fill()
	for k := range entries {
		part, err := s.inner(src, k)
		if err == nil {
			err = ndarray.Copy(s.ordered(plain), part)
		}
		if err != nil {
			return err
		}
		if entries[k] = Missing; bytes.HasPrefix(plain, fill) && bytes.Equal(plain[len(fill):], plain[:len(plain)-len(fill)]) {
			continue
		}
		from := len(dst.B)
		if err = s.Inner.Encode(dst, plain); err != nil {
			return err
		}
		entries[k] = Entry{uint64(from - at), uint64(len(dst.B) - from)}
	}
	return s.close(dst, at, entries)
}

// entries is memory for as many as there are inner chunks.
func (s *Shard) entries() ([]Entry, error) { return mem.Make[Entry](s.Count(), 16) }

// begin leaves room for an index that is at the start of a shard, which is at.
func (s *Shard) begin(dst *Buffer) (at int, entries []Entry, err error) {
	at = len(dst.B)
	if s.AtStart {
		_, err = dst.Extend(s.IndexSize)
	}
	if err == nil {
		entries, err = s.entries()
	}
	return at, entries, err
}

// close puts the index in its place.
func (s *Shard) close(dst *Buffer, at int, entries []Entry) error {
	if s.AtStart {
		return s.AppendIndex(&Buffer{B: dst.B[at:at]}, entries)
	}
	return s.AppendIndex(dst, entries)
}
