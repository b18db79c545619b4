package formattest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// content is the model of a file.
type content struct {
	attrs  *ndfile.Attrs
	arrays []*array
}

// array is the model of an array: its elements one after the other.
type array struct {
	name   string
	dtype  ndarray.DType // with the byte order on disk
	shape  []int64
	elems  [][]byte // row-major; fixed sizes in native byte order; nil: missing
	masked bool     // elements can be missing
	noData bool
	dims   []string
	attrs  *ndfile.Attrs
	chunks []int64 // the wish, or what the file has; nil for none
	unset  []byte  // the fill value in native byte order; nil: zero
}

func (c *content) find(name string) *array {
	for _, a := range c.arrays {
		if a.name == name {
			return a
		}
	}
	return nil
}

// count is the number of elements of a small shape.
func count(shape []int64) int {
	n := 1
	for _, extent := range shape {
		n *= int(extent)
	}
	return n
}

// each walks the indices of a shape in row-major order.
func each(shape []int64, fn func(k int, index []int64)) {
	index := make([]int64, len(shape))
	for k := range count(shape) {
		fn(k, index)
		for axis := len(shape) - 1; axis >= 0; axis-- {
			if index[axis]++; index[axis] < shape[axis] {
				break
			}
			index[axis] = 0
		}
	}
}

// picked gives the positions in a shape of the elements of a box.
func picked(shape []int64, box ndarray.Box) []int {
	flat := make([]int, 0, count(box.Count))
	each(box.Count, func(_ int, index []int64) {
		at := int64(0)
		for axis, i := range index {
			step := int64(1)
			if box.Step != nil {
				step = box.Step[axis]
			}
			at = at*shape[axis] + box.Start[axis] + i*step
		}
		flat = append(flat, int(at))
	})
	return flat
}

// sub is the array that a box selects.
func (a *array) sub(box ndarray.Box) *array {
	b := *a
	b.shape = box.Count
	b.elems = nil
	for _, at := range picked(a.shape, box) {
		b.elems = append(b.elems, a.elems[at])
	}
	return &b
}

// assign stores the elements of src into a box.
func (a *array) assign(box ndarray.Box, src *array) {
	for k, at := range picked(a.shape, box) {
		a.elems[at] = src.elems[k]
	}
}

// blank is an element that was never written.
func (a *array) blank() []byte {
	if a.unset == nil {
		return make([]byte, a.dtype.Size)
	}
	return a.unset
}

// resize gives an array another shape: what is new is blank.
func (a *array) resize(shape []int64) {
	old := *a
	a.shape = slices.Clone(shape)
	a.elems = slices.Repeat([][]byte{a.blank()}, count(shape))
	both := slices.Clone(shape)
	for axis := range both {
		both[axis] = min(both[axis], old.shape[axis])
	}
	a.assign(ndarray.Full(both), old.sub(ndarray.Full(both)))
}

// extend puts b behind the end of an axis.
func (a *array) extend(axis int, b *array) {
	shape, box := slices.Clone(a.shape), ndarray.Full(b.shape)
	box.Start[axis] = shape[axis]
	shape[axis] += b.shape[axis]
	a.resize(shape)
	a.assign(box, b)
}

// clone is a copy of the model that shares no attributes and no elements.
func (c *content) clone() *content {
	d := &content{attrs: c.attrs.Clone()}
	for _, a := range c.arrays {
		b := *a
		b.elems = slices.Clone(a.elems)
		if b.attrs = a.attrs.Clone(); a.attrs == c.attrs {
			b.attrs = d.attrs
		}
		d.arrays = append(d.arrays, &b)
	}
	return d
}

// mask is one byte an element, 1 = missing.
func (a *array) mask() []byte {
	m := make([]byte, len(a.elems))
	for i, e := range a.elems {
		if e == nil {
			m[i] = 1
		}
	}
	return m
}

func (a *array) missing() bool { return bytes.IndexByte(a.mask(), 1) >= 0 }

// strings lays the elements out as Strings has them.
func (a *array) strings() (offsets []int64, data []byte) {
	offsets = make([]int64, 1, len(a.elems)+1)
	for _, e := range a.elems {
		data = append(data, e...)
		offsets = append(offsets, int64(len(data)))
	}
	return offsets, data
}

// cut undoes strings.
func cut(offsets []int64, data, mask []byte) ([][]byte, error) {
	elems := make([][]byte, len(offsets)-1)
	if offsets[0] != 0 {
		return nil, fmt.Errorf("the first offset is %d", offsets[0])
	}
	for i := range elems {
		lo, hi := offsets[i], offsets[i+1]
		if lo > hi || hi > int64(len(data)) {
			return nil, fmt.Errorf("offsets %d and %d of element %d in %d bytes", lo, hi, i, len(data))
		}
		elems[i] = append([]byte{}, data[lo:hi]...)
		if mask != nil && mask[i] != 0 {
			if lo != hi {
				return nil, fmt.Errorf("the missing element %d has %d bytes", i, hi-lo)
			}
			elems[i] = nil
		}
	}
	return elems, nil
}

// layout is how a buffer lies in memory.
type layout struct {
	name  string
	gap   int64 // bytes beside each element, in elements
	turn  bool  // first axis fastest
	back  bool  // negative strides
	order ndarray.Order
}

var layouts = []layout{
	{name: "packed"},
	{name: "swapped", order: ndarray.NativeOrder ^ ndarray.Little ^ ndarray.Big},
	{name: "gaps", gap: 2},
	{name: "transposed", turn: true},
	{name: "backwards", back: true},
	{name: "everything", gap: 1, turn: true, back: true, order: ndarray.NativeOrder ^ ndarray.Little ^ ndarray.Big},
}

// untouched fills the memory of a buffer before it is read into.
const untouched = 0xa5

// buffer makes memory for an array of dtype d, whose order the layout may change.
func (l layout) buffer(d ndarray.DType, shape []int64) ndarray.Buffer {
	d = d.WithOrder(l.order)
	b := ndarray.Buffer{DType: d, Shape: shape}
	size := int64(d.Size)
	if l.gap > 0 || l.turn || l.back {
		b.Strides = make([]int64, len(shape))
		stride := size * (1 + l.gap)
		for i := range shape {
			axis := len(shape) - 1 - i
			if l.turn {
				axis = i
			}
			b.Strides[axis] = stride
			if l.back {
				b.Strides[axis] = -stride
				b.Offset += max(shape[axis]-1, 0) * stride
			}
			stride *= max(shape[axis], 1)
		}
		size = stride
	} else {
		size *= int64(count(shape))
	}
	b.Data = bytes.Repeat([]byte{untouched}, int(size))
	return b
}

// spot is where an element of a buffer lies.
func spot(b ndarray.Buffer, k int, index []int64) []byte {
	at := b.Offset
	if b.Strides == nil {
		at += int64(k * b.DType.Size)
	}
	for axis := range b.Strides {
		at += index[axis] * b.Strides[axis]
	}
	return b.Data[at : at+int64(b.DType.Size)]
}

// fill puts the elements of an array into a buffer, and other bytes than zero
// where they are missing.
func (a *array) fill(b ndarray.Buffer) ndarray.Buffer {
	each(a.shape, func(k int, index []int64) {
		e := spot(b, k, index)
		if a.elems[k] == nil {
			for i := range e {
				e[i] = 1 // also a valid bool
			}
			return
		}
		copy(e, a.elems[k])
		if b.DType.Swapped() {
			ndarray.SwapBytes(e, b.DType)
		}
	})
	return b
}

// drain takes the elements out of a buffer and checks that nothing else in its
// memory was touched. Missing elements must be zero.
func drain(b ndarray.Buffer, mask []byte) (elems [][]byte, err error) {
	rest := bytes.Clone(b.Data)
	rb := b
	rb.Data = rest
	elems = make([][]byte, count(b.Shape))
	each(b.Shape, func(k int, index []int64) {
		e := bytes.Clone(spot(b, k, index))
		if b.DType.Swapped() {
			ndarray.SwapBytes(e, b.DType)
		}
		elems[k] = e
		if mask != nil && mask[k] != 0 {
			elems[k] = nil
			if len(bytes.Trim(e, "\x00")) > 0 {
				err = fmt.Errorf("the missing element %d is %x, not zero", k, e)
			}
		}
		r := spot(rb, k, index)
		for i := range r {
			r[i] = untouched
		}
	})
	if i := slices.IndexFunc(rest, func(c byte) bool { return c != untouched }); i >= 0 {
		return nil, fmt.Errorf("byte %d of the buffer is not part of an element, but was changed", i)
	}
	return elems, err
}

// sameElems compares elements.
func sameElems(got, want [][]byte) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d elements, expected %d", len(got), len(want))
	}
	for i := range got {
		if (got[i] == nil) != (want[i] == nil) || !bytes.Equal(got[i], want[i]) {
			return fmt.Errorf("element %d is %s, expected %s", i, elemText(got[i]), elemText(want[i]))
		}
	}
	return nil
}

func elemText(e []byte) string {
	if e == nil {
		return "missing"
	}
	return fmt.Sprintf("%x", e[:min(len(e), 32)])
}

// sameValues compares what Load gives: dtypes up to byte order, shapes, elements.
func (s *suite) sameValues(got, want *array) error {
	switch {
	case !got.dtype.Native().Equal(s.stored(want.dtype).Native()):
		return fmt.Errorf("dtype %s, expected %s", got.dtype, s.stored(want.dtype))
	case got.noData != want.noData:
		return fmt.Errorf("no data: %t, expected %t", got.noData, want.noData)
	case want.noData:
		return nil
	case !slices.Equal(got.shape, want.shape):
		return fmt.Errorf("shape %v, expected %v", got.shape, want.shape)
	}
	return sameElems(got.elems, want.elems)
}

// sameArray compares everything.
func (s *suite) sameArray(got, want *array) error {
	if err := s.sameValues(got, want); err != nil {
		return err
	}
	switch {
	case !s.cfg.Quirks.OneOrder && !want.noData && !got.dtype.Equal(s.stored(want.dtype)):
		return fmt.Errorf("dtype %s, expected %s", got.dtype, s.stored(want.dtype))
	case want.missing() && !got.masked:
		return fmt.Errorf("elements are missing, but Spec.Masked is not set")
	case want.dims != nil && !slices.Equal(got.dims, want.dims):
		return fmt.Errorf("dims %q, expected %q", got.dims, want.dims)
	}
	return s.sameAttrs(got.attrs, want.attrs)
}

// sameContent compares two files; the order of the arrays is the format's.
func (s *suite) sameContent(got, want *content) error {
	if err := s.sameArrays(got, want, s.sameArray); err != nil {
		return err
	}
	if err := s.sameAttrs(got.attrs, want.attrs); err != nil {
		return fmt.Errorf("file: %w", err)
	}
	return nil
}

func (s *suite) sameArrays(got, want *content, same func(got, want *array) error) error {
	if len(got.arrays) != len(want.arrays) {
		return fmt.Errorf("%d arrays, expected %d", len(got.arrays), len(want.arrays))
	}
	for _, w := range want.arrays {
		g := got.find(w.name)
		if g == nil {
			return fmt.Errorf("array %q is lost", w.name)
		}
		if err := same(g, w); err != nil {
			return fmt.Errorf("array %q: %w", w.name, err)
		}
	}
	return nil
}

func (s *suite) sameAttrs(got, want *ndfile.Attrs) error {
	if s.cfg.Quirks.SortedAttrs {
		want = sortedAttrs(want)
	}
	g, w := ndfile.AppendJSON(nil, got), ndfile.AppendJSON(nil, want)
	if !bytes.Equal(g, w) {
		return fmt.Errorf("attributes %s, expected %s", g, w)
	}
	return nil
}

// sortAttrs sorts the attributes of an open file, where the format will.
func (s *suite) sortAttrs(c *content) {
	if !s.cfg.Quirks.SortedAttrs {
		return
	}
	of := c.attrs
	c.attrs = sortedAttrs(of)
	for _, a := range c.arrays {
		if a.attrs == of {
			a.attrs = c.attrs
		} else {
			a.attrs = sortedAttrs(a.attrs)
		}
	}
}

// sortedAttrs sorts the keys of attributes and of all objects in them.
func sortedAttrs(attrs *ndfile.Attrs) *ndfile.Attrs {
	to := ndfile.NewAttrs()
	for _, k := range slices.Sorted(slices.Values(attrs.Keys())) {
		v, _ := attrs.Get(k)
		to.Set(k, sortedValue(v))
	}
	return to
}

func sortedValue(v ndfile.Value) ndfile.Value {
	switch v.Kind() {
	case pyjson.KindObject:
		return pyjson.ObjectValue(sortedAttrs(v.Object()))
	case pyjson.KindList:
		var list []ndfile.Value
		for _, it := range v.Items() {
			list = append(list, sortedValue(it))
		}
		return pyjson.List(list...)
	}
	return v
}

// stored is the dtype that comes back for d.
func (s *suite) stored(d ndarray.DType) ndarray.DType {
	for from, to := range s.cfg.Quirks.StoredAs {
		if ndarray.MustParse(from).Native().Equal(d.Native()) {
			return ndarray.MustParse(to).WithOrder(d.Order)
		}
	}
	return d
}

// asStored is the array that comes back for fixed strings of a dtype that is
// stored as one of variable length.
func (s *suite) asStored(a *array) *array {
	b := *a
	b.dtype = s.stored(a.dtype)
	b.elems = nil
	for _, e := range a.elems {
		text := []byte{}
		if a.dtype.Kind == ndarray.Unicode {
			for i := 0; i < len(e); i += 4 {
				text = utf8.AppendRune(text, rune(binary.NativeEndian.Uint32(e[i:])))
			}
		} else {
			text = append(text, e...)
		}
		b.elems = append(b.elems, bytes.TrimRight(text, "\x00"))
	}
	return &b
}

// random makes an array of random elements, some of them special.
func (s *suite) random(name string, d ndarray.DType, shape ...int64) *array {
	a := &array{name: name, dtype: d, shape: slices.Clone(shape)}
	if s.kind == ndfile.Single {
		a.name = ""
	}
	for k := range count(shape) {
		a.elems = append(a.elems, s.element(d, k))
	}
	if s.has(ndfile.CapChunked) {
		a.chunks = s.chunks(shape)
	}
	return a
}

// fixed is a dtype of fixed size, of several bytes where there is one.
func (s *suite) fixed() ndarray.DType {
	i := slices.IndexFunc(s.dtypes, func(d ndarray.DType) bool { return d.Size > 1 })
	return s.dtypes[max(i, slices.IndexFunc(s.dtypes, func(d ndarray.DType) bool { return d.Size > 0 }))]
}

// element is a random element; the first ones are zero and all ones.
func (s *suite) element(d ndarray.DType, k int) []byte {
	e := make([]byte, d.Size)
	word := s.rng.Uint64()
	switch d.Kind {
	case ndarray.VarBytes:
		e = s.bytes(int(word % 9))
	case ndarray.VarString:
		text := []rune("aé☃😀 \x00\"\\")
		for range word % 6 {
			e = append(e, string(text[s.rng.IntN(len(text))])...)
		}
	case ndarray.Bool:
		e[0] = byte(word & 1)
	case ndarray.Bytes:
		copy(e, strconv.FormatUint(word, 36)[:min(int(word%7), d.Size)])
	case ndarray.Unicode:
		for i := 0; i+4 <= min(d.Size, int(word%5)*4); i += 4 {
			binary.NativeEndian.PutUint32(e[i:], 'a'+s.rng.Uint32N(0x400))
		}
	case ndarray.Record:
		for i := range e {
			e[i] = byte(s.rng.IntN(2)) // whatever the fields are
		}
	default:
		switch k {
		case 0:
		case 1:
			for i := range e {
				e[i] = 0xff
			}
		default:
			copy(e, s.bytes(len(e)))
		}
	}
	return e
}

func (s *suite) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.rng.Uint32())
	}
	return b
}

// hide makes about one of n elements missing; n = 1: all.
func (s *suite) hide(a *array, n int) *array {
	a.masked = true
	for i := range a.elems {
		if s.rng.IntN(n) == 0 {
			a.elems[i] = nil
		}
	}
	return a
}

// shapes are the shapes of round trips that the format stores.
func (s *suite) shapes() (shapes [][]int64) {
	for _, shape := range [][]int64{{}, {1}, {7}, {0}, {3, 4}, {4, 0}, {0, 3}, {1, 5}, {2, 3, 4}, {2, 0, 2}, {2, 1, 3, 2}} {
		if s.stores(shape) {
			shapes = append(shapes, shape)
		}
	}
	return shapes
}

func (s *suite) stores(shape []int64) bool {
	return (s.cfg.Quirks.Shapes == nil || s.cfg.Quirks.Shapes(shape)) && (s.kind != ndfile.Table || len(shape) > 0)
}

// files puts arrays into as few files as the format's kind allows, and gives
// them names.
func (s *suite) files(arrays []*array) (files []*content) {
	rows := map[int64]*content{}
	for i, a := range arrays {
		a.name = "v" + strconv.Itoa(i)
		switch s.kind {
		case ndfile.Single:
			a.name = ""
			files = append(files, &content{arrays: []*array{a}})
			continue
		case ndfile.Table:
			if c := rows[a.shape[0]]; c != nil {
				c.arrays = append(c.arrays, a)
				continue
			}
			rows[a.shape[0]] = &content{}
			files = append(files, rows[a.shape[0]])
		default:
			if files == nil {
				files = append(files, &content{})
			}
		}
		last := files[len(files)-1]
		last.arrays = append(last.arrays, a)
	}
	return files
}

// sample is one file with a little of everything that the format can hold, of
// rows rows.
func (s *suite) sample(rows int64) *content {
	var arrays []*array
	seen := map[ndarray.Kind]bool{}
	for i, d := range s.dtypes {
		if seen[d.Kind] && s.rng.IntN(4) > 0 {
			continue
		}
		seen[d.Kind] = true
		shape := []int64{rows, 3}
		if i%2 == 1 && s.stores(shape[:1]) || !s.stores(shape) {
			shape = shape[:1]
		}
		d = d.WithOrder([]ndarray.Order{ndarray.Little, ndarray.Big}[i%2])
		arrays = append(arrays, s.random("", d, shape...))
		if s.has(ndfile.CapMasked) && (i%3 == 0 || d.Kind == ndarray.Bool) {
			arrays = append(arrays, s.hide(s.random("", d, shape...), 3))
		}
	}
	if s.kind == ndfile.Single { // one array; each call another
		arrays = arrays[s.rng.IntN(len(arrays)):][:1]
	}
	c := s.files(arrays)[0]
	for i, a := range c.arrays {
		if s.has(ndfile.CapArrayAttrs) {
			a.attrs = ndfile.NewAttrs()
			a.attrs.Set("units", pyjson.String("K"))
			a.attrs.Set("n", pyjson.Int(int64(i)))
		}
		if s.has(ndfile.CapDims) {
			a.dims = dimNames(a.shape)
		}
	}
	if s.has(ndfile.CapFileAttrs) {
		c.attrs = ndfile.NewAttrs()
		c.attrs.Set("title", pyjson.String("sample ☃"))
		c.attrs.Set("version", pyjson.Int(s.rng.Int64N(1000)))
	}
	if s.oneAttrs() {
		c.arrays[0].attrs = c.attrs
	}
	return c
}

// modest is a sample for what is done many times. Chunked formats have many files
// for each array; then it has at most two.
func (s *suite) modest(rows int64) *content {
	c := s.sample(rows)
	if s.has(ndfile.CapChunked) && len(c.arrays) > 2 {
		i := s.rng.IntN(len(c.arrays) - 1)
		c.arrays = c.arrays[i : i+2]
	}
	return c
}

// large is a file beyond what one read or one block takes, of the kinds of
// elements that need work of their own: its arrays have more than 64 KiB.
func (s *suite) large() *content {
	var arrays []*array
	seen := map[ndarray.Kind]bool{}
	for _, d := range s.dtypes {
		kind := d.Kind
		if kind != ndarray.Bool && !d.IsVar() {
			kind = ndarray.Float // stands for all of fixed size
		}
		if seen[kind] || kind == ndarray.Float && d.Size != 8 {
			continue
		}
		seen[kind] = true
		shape := []int64{4500, 3}
		if !s.stores(shape) {
			shape = []int64{13500}
		}
		arrays = append(arrays, s.random("", d, shape...))
		if s.has(ndfile.CapMasked) {
			arrays = append(arrays, s.hide(s.random("", d, shape...), 3))
		}
	}
	if arrays == nil {
		arrays = append(arrays, s.random("", s.dtypes[0], 13500))
	}
	files := s.files(arrays)
	return files[s.rng.IntN(len(files))]
}

// dimNames names axes so that equal names have equal extents.
func dimNames(shape []int64) []string {
	dims := make([]string, len(shape))
	for axis, n := range shape {
		dims[axis] = fmt.Sprintf("dim%d of %d", axis, n)
	}
	return dims
}

// box is a random box of a shape, sometimes an empty one.
func (s *suite) box(shape []int64) ndarray.Box {
	b := ndarray.Box{Start: make([]int64, len(shape)), Count: make([]int64, len(shape))}
	if s.rng.IntN(3) > 0 {
		b.Step = make([]int64, len(shape))
	}
	for axis, n := range shape {
		step := int64(1)
		if b.Step != nil {
			step = 1 + s.rng.Int64N(3)
			b.Step[axis] = step
		}
		b.Start[axis] = s.rng.Int64N(n + 1)
		most := (n - b.Start[axis] + step - 1) / step
		b.Count[axis] = most
		if s.rng.IntN(2) > 0 {
			b.Count[axis] = s.rng.Int64N(most + 1)
		}
	}
	return b
}

// rowBox is rows [from, to) of an array.
func rowBox(shape []int64, from, to int64) ndarray.Box {
	b := ndarray.Full(shape)
	b.Start[0], b.Count[0] = from, to-from
	return b
}
