package formattest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// bulk is a file with one array whose parts take more memory than is Go's. It holds
// plain bytes: the elements of a content would be too slow.
type bulk struct {
	name    string
	spec    ndfile.Spec
	data    []byte
	offsets []int64 // of elements of variable length
	mask    []byte  // nil: none can be missing
}

// bulks are such files: numbers, and where the format has them missing ones, long
// texts and many texts.
func (s *suite) bulks(stored ndfile.Spec) []*bulk {
	var list []*bulk
	d := s.fixed()
	for _, other := range s.dtypes {
		if other.Kind == ndarray.Float && other.Size == 8 {
			d = other
		}
	}
	shape := []int64{bulkRows * 16 / int64(d.Size) / 2, 2}
	if s.kind == ndfile.Table || !s.stores(shape) {
		shape = []int64{shape[0] * 2}
	}
	if stored.DType.Kind == ndarray.Invalid || !stored.DType.IsVar() {
		list = append(list, s.bulkOf(stored, d, shape, 0))
		if s.has(ndfile.CapMasked) {
			b := s.bulkOf(stored, d, shape, 0)
			b.spec.Masked, b.mask = true, make([]byte, len(b.data)/d.Size)
			for i := 0; i < len(b.mask); i += 5 {
				b.mask[i] = 1
				clear(b.data[i*d.Size : (i+1)*d.Size])
			}
			list = append(list, b)
		}
	}
	for _, d := range s.dtypes {
		if d.IsVar() && s.has(ndfile.CapStrings) && (stored.DType.Kind == ndarray.Invalid || stored.DType.IsVar()) {
			list = append(list, s.bulkOf(stored, d, []int64{6}, 400_000), s.bulkOf(stored, d, []int64{bulkRows / 2}, 4))
			break
		}
	}
	return list
}

// bulkRows is the number of elements of 8 bytes of a bulk.
const bulkRows = 300_002

// bulkOf makes an array in two chunks; texts are up to so many bytes long.
func (s *suite) bulkOf(stored ndfile.Spec, d ndarray.DType, shape []int64, length int) *bulk {
	b := &bulk{spec: stored}
	if s.kind != ndfile.Single {
		b.name = "x"
	}
	b.spec.DType, b.spec.Shape = d, shape
	if s.has(ndfile.CapChunked) {
		b.spec.Chunks = slices.Clone(shape)
		b.spec.Chunks[0] = (shape[0] + 1) / 2
		if stored.Shards != nil { // two chunks a shard
			b.spec.Shards = slices.Clone(b.spec.Chunks)
			b.spec.Shards[0] *= 2
		}
	}
	n := count(shape)
	if !d.IsVar() {
		for k := range min(n, 997) {
			b.data = append(b.data, s.element(d, k)...)
		}
		b.data = append(bytes.Repeat(b.data, n/997), b.data...)[:n*d.Size]
		return b
	}
	b.offsets = make([]int64, 1, n+1)
	for k := range n {
		b.data = append(b.data, bytes.Repeat([]byte{'a' + byte(k%26)}, length-k%2)...)
		b.offsets = append(b.offsets, int64(len(b.data)))
	}
	return b
}

// rows is rows [from, to) of the bulk, as one of its own.
func (b *bulk) rows(from, to int64) *bulk {
	part := *b
	part.spec.Shape = slices.Clone(b.spec.Shape)
	part.spec.Shape[0] = to - from
	row := int64(count(b.spec.Shape[1:]))
	if b.mask != nil {
		part.mask = b.mask[from*row : to*row]
	}
	if b.offsets != nil {
		lo := b.offsets[from*row]
		part.data, part.offsets = b.data[lo:b.offsets[to*row]], nil
		for _, at := range b.offsets[from*row : to*row+1] {
			part.offsets = append(part.offsets, at-lo)
		}
		return &part
	}
	row *= int64(b.spec.DType.Size)
	part.data = b.data[from*row : to*row]
	return &part
}

// changed is the bulk with other elements in rows [from, to): those at the end.
func (b *bulk) changed(from, to int64) *bulk {
	n := b.spec.Shape[0]
	return b.rows(0, from).joined(b.rows(n-(to-from), n)).joined(b.rows(to, n))
}

// joined is the bulk with the rows of another behind it.
func (b *bulk) joined(c *bulk) *bulk {
	all := *b
	all.spec.Shape = slices.Clone(b.spec.Shape)
	all.spec.Shape[0] += c.spec.Shape[0]
	if b.mask != nil {
		all.mask = slices.Concat(b.mask, c.mask)
	}
	if b.offsets == nil {
		all.data = slices.Concat(b.data, c.data)
		return &all
	}
	all.data, all.offsets = slices.Concat(b.data, c.data), slices.Clone(b.offsets)
	for _, end := range c.offsets[1:] {
		all.offsets = append(all.offsets, int64(len(b.data))+end)
	}
	return &all
}

// same compares two bulks.
func (b *bulk) same(c *bulk) error {
	switch {
	case !slices.Equal(b.spec.Shape, c.spec.Shape):
		return fmt.Errorf("shape %v, expected %v", b.spec.Shape, c.spec.Shape)
	case !bytes.Equal(b.data, c.data):
		return fmt.Errorf("other elements")
	case !slices.Equal(b.offsets, c.offsets):
		return fmt.Errorf("other offsets")
	case b.mask != nil && c.mask != nil && !bytes.Equal(b.mask, c.mask):
		return fmt.Errorf("other missing elements")
	}
	return nil
}

// buffer is the elements in memory; those of variable length only have a shape.
func (b *bulk) buffer() ndarray.Buffer {
	return ndarray.Buffer{DType: b.spec.DType, Shape: b.spec.Shape, Data: b.data}
}

func (b *bulk) item() ndfile.Item {
	return ndfile.Item{Name: b.name, Data: b.buffer(), Mask: b.mask, Offsets: b.offsets}
}

// write writes the bulk into an array, from some row on.
func (b *bulk) write(dst ndfile.Array, row int64) error {
	box := ndarray.Full(b.spec.Shape)
	box.Start[0] = row
	switch {
	case b.offsets != nil:
		return dst.(ndfile.Strings).WriteStrings(ctx, box, b.offsets, b.data, b.mask)
	case b.mask != nil:
		return dst.(ndfile.Masked).WriteMasked(ctx, box, b.buffer(), b.mask)
	}
	return dst.WriteBox(ctx, box, b.buffer())
}

// create makes a file of the bulk, in pieces of so many rows.
func (s *suite) createBulk(fsys ndfile.FS, path string, b *bulk, step int64) error {
	f, err := s.create(fsys, path, ndfile.WriteOptions{}, nil)
	if err != nil {
		return err
	}
	defer f.Abort()
	a, err := f.Add(ctx, b.name, b.spec)
	if err != nil {
		return err
	}
	n := b.spec.Shape[0]
	for at := int64(0); at < n; at += step {
		if err := b.rows(at, min(at+step, n)).write(a, at); err != nil {
			return err
		}
	}
	return f.Close(ctx)
}

// readBulk reads a file with the array of b, in some layout of memory.
func (s *suite) readBulk(fsys ndfile.FS, path string, b *bulk, step int64) (*bulk, error) {
	f, err := s.open(fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Abort()
	src, err := f.Array(b.name)
	if err != nil {
		return nil, err
	}
	box := ndarray.Full(src.Spec().Shape)
	if step > 1 {
		box.Step = slices.Repeat([]int64{1}, len(box.Count))
		box.Step[0], box.Count[0] = step, (box.Count[0]+step-1)/step
	}
	got := &bulk{name: b.name, spec: b.spec}
	got.spec.Shape = box.Count
	n := count(box.Count)
	if b.mask != nil {
		got.mask = make([]byte, n)
	}
	switch {
	case b.offsets != nil:
		got.offsets = make([]int64, n+1)
		got.data, err = ndfile.ReadAllStrings(ctx, src, box, got.offsets, got.mask)
		return got, err
	case b.spec.DType.IsVar():
		return nil, fmt.Errorf("texts without offsets")
	}
	got.data = make([]byte, n*b.spec.DType.Size)
	if b.mask == nil {
		return got, src.ReadBox(ctx, box, got.buffer())
	}
	if m, ok := src.(ndfile.Masked); ok {
		return got, m.ReadMasked(ctx, box, got.buffer(), got.mask)
	}
	return got, src.ReadBox(ctx, box, got.buffer())
}
