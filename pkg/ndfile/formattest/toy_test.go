package formattest

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// toy is a format made for testing the suite: everything is held in memory and
// written at Close. A file is a magic, a header of one line of JSON, the length
// of the body in 8 bytes, and the body: of each array a mask, one byte an element,
// and the elements as they are; variable ones are led by their offsets.
//
// bug names what is wrong with a toy; "" is a good one.
type toy struct {
	kind ndfile.Kind
	caps ndfile.Caps
	bug  string
}

const toyMagic = "toy1\n"

func (f toy) Name() string         { return "toy" }
func (f toy) Extensions() []string { return []string{".toy"} }
func (f toy) Caps() ndfile.Caps    { return f.caps }

func (f toy) Detect(_ context.Context, fsys ndfile.FS, path string) (ndfile.Match, error) {
	if f.bug == "detects everything" {
		return ndfile.Certain, nil
	}
	buf := make([]byte, len(toyMagic))
	n, rest, err := fsys.ReadSmall(ctx, path, buf)
	if rest != nil && f.bug != "leaks" {
		rest.Close()
	}
	switch {
	case errors.Is(err, syscall.EISDIR):
		return ndfile.NoMatch, nil
	case err != nil:
		return ndfile.NoMatch, err
	case string(buf[:n]) != toyMagic:
		return ndfile.NoMatch, nil
	}
	return ndfile.Certain, nil
}

func (f toy) Create(_ context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	if f.bug != "keeps path" {
		path = strings.Clone(path)
	}
	file := &toyFile{toy: f, fsys: fsys, path: path, opt: opt.WriteOptions, writable: true, attrs: ndfile.NewAttrs()}
	switch {
	case opt.Trailing != nil && f.caps&ndfile.CapTrailing == 0:
		return nil, file.fail(ndfile.ErrNotSupported, nil, "no trailing bytes")
	case f.bug != "loses trailing":
		file.trailing = opt.Trailing
	}
	if opt.Attrs != nil && f.bug != "loses attrs" {
		file.attrs = opt.Attrs.Clone()
	}
	if opt.Exclusive && f.bug != "overwrites" {
		if _, err := fsys.Lstat(path); err == nil {
			return nil, file.fail(ndfile.ErrExists, nil, "the file exists")
		}
	}
	if f.bug == "early" {
		file.fsys.WriteFile(path, nil, ndfile.WriteOptions{})
	}
	return file.as(), nil
}

func (f toy) Open(_ context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	path = strings.Clone(path)
	file := &toyFile{toy: f, fsys: fsys, path: path, writable: opt.Mode == ndfile.Update, opt: ndfile.WriteOptions{Sync: opt.Sync}}
	if file.writable && f.caps&ndfile.CapUpdate == 0 {
		return nil, file.fail(ndfile.ErrNotSupported, nil, "toys are not changed")
	}
	h, err := fsys.Open(path)
	if err != nil {
		return nil, ndfile.Locate(err, path, "", false)
	}
	if f.bug != "leaks" {
		defer h.Close()
	}
	size, err := h.Size()
	if err != nil {
		return nil, ndfile.Locate(err, path, "", false)
	}
	text := make([]byte, size)
	if n, err := h.ReadAt(text, 0); n < len(text) && f.bug != "swallows read errors" {
		return nil, ndfile.Locate(err, path, "", false)
	}
	if err := file.decode(text); err != nil {
		return nil, ndfile.Locate(err, path, "", false)
	}
	file.limits = opt.Limits
	return file.as(), nil
}

type toyFile struct {
	toy
	fsys     ndfile.FS
	path     string
	opt      ndfile.WriteOptions
	writable bool
	closed   bool
	attrs    *ndfile.Attrs
	arrays   []*toyArray
	trailing []byte
	limits   ndfile.Limits

	mu  sync.Mutex // guards box
	box ndarray.Box
}

// toyTrailer is a file with trailing bytes.
type toyTrailer struct{ *toyFile }

func (f toyTrailer) Trailing(context.Context) ([]byte, error) {
	if err := f.answer(); err != nil {
		return nil, err
	}
	if int64(len(f.trailing)) > f.limits.Header() {
		return nil, f.fail(ndfile.ErrLimit, nil, "many trailing bytes")
	}
	return f.trailing, nil
}

// as gives the file with the interfaces of its format.
func (f *toyFile) as() ndfile.File {
	if f.kind == ndfile.Single {
		return toyTrailer{f}
	}
	return f
}

// share gives the box that somebody asked for last.
func (f *toyFile) share(box ndarray.Box) ndarray.Box {
	f.mu.Lock()
	f.box = box
	f.mu.Unlock()
	for range 3 {
		runtime.Gosched()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.box
}

// answer is what every call begins with.
func (f *toyFile) answer() error {
	if f.closed && f.bug != "answers when closed" {
		return f.fail(ndfile.ErrHandle, nil, "closed")
	}
	return nil
}

// fail makes an error with its place.
func (f *toyFile) fail(kind *ndfile.ErrorKind, a *toyArray, msg string) error {
	return f.locate(ndfile.NewError(kind, msg), a)
}

func (f *toyFile) locate(err error, a *toyArray) error {
	switch {
	case a == nil, f.bug == "forgets names":
		return ndfile.Locate(err, f.path, "", false)
	}
	return ndfile.Locate(err, f.path, a.name, f.kind != ndfile.Single)
}

func (f *toyFile) Kind() ndfile.Kind    { return f.kind }
func (f *toyFile) Attrs() *ndfile.Attrs { return f.attrs }

func (f *toyFile) Names() (names []string) {
	for _, a := range f.arrays {
		names = append(names, a.name)
	}
	return names
}

func (f *toyFile) Array(name string) (ndfile.Array, error) {
	if err := f.answer(); err != nil {
		return nil, err
	}
	for _, a := range f.arrays {
		if a.name == name {
			return a.as(), nil
		}
	}
	return nil, f.fail(ndfile.ErrName, &toyArray{name: name}, "no such array")
}

func (f *toyFile) Add(_ context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	if err := f.answer(); err != nil {
		return nil, err
	}
	a := &toyArray{file: f, name: strings.Clone(name), spec: spec}
	count, err := ndarray.NBytes(spec.Shape, max(spec.DType.Size, 1))
	switch {
	case f.closed || !f.writable:
		return nil, f.fail(ndfile.ErrReadOnly, a, "not open for writing")
	case f.kind == ndfile.Single && (name != "" || len(f.arrays) > 0):
		return nil, f.fail(ndfile.ErrName, a, "a single array has no name")
	case !utf8.ValidString(name):
		return nil, f.fail(ndfile.ErrValue, a, "the name is not UTF-8")
	case slices.Contains(f.Names(), name):
		return nil, f.fail(ndfile.ErrNameExists, a, "added before")
	case spec.DType.Kind == ndarray.Invalid || spec.DType.Kind == ndarray.Record || spec.DType.IsVar() && f.caps&ndfile.CapStrings == 0:
		return nil, f.fail(ndfile.ErrDType, a, "cannot store "+spec.DType.String())
	case err != nil:
		return nil, f.locate(err, a)
	case spec.Dims != nil && f.caps&ndfile.CapDims == 0 && f.bug != "loses dims":
		return nil, f.fail(ndfile.ErrNotSupported, a, "no dims")
	case spec.Dims != nil && len(spec.Dims) != len(spec.Shape):
		return nil, f.fail(ndfile.ErrShape, a, "as many dims as axes, please")
	case spec.Attrs.Len() > 0 && f.caps&ndfile.CapArrayAttrs == 0:
		return nil, f.fail(ndfile.ErrNotSupported, a, "no attributes")
	case spec.NoData:
		return nil, f.fail(ndfile.ErrNotSupported, a, "no arrays without data")
	}
	a.spec.Shape, a.spec.Dims = slices.Clone(spec.Shape), slices.Clone(spec.Dims)
	a.attrs = ndfile.NewAttrs()
	if spec.Attrs != nil {
		a.attrs = spec.Attrs.Clone()
	}
	n, _ := ndarray.Count(spec.Shape)
	a.mask = make([]byte, n)
	if spec.DType.IsVar() {
		a.texts = make([][]byte, n)
	} else {
		a.data = make([]byte, count)
	}
	f.arrays = append(f.arrays, a)
	return a.as(), nil
}

func (f *toyFile) Abort() error {
	if f.bug == "aborts what is closed" && f.writable {
		return f.fsys.Remove(f.path)
	}
	err := f.answer()
	f.closed = true
	return err
}

func (f *toyFile) Close(context.Context) error {
	if f.closed {
		return f.fail(ndfile.ErrHandle, nil, "closed")
	}
	f.closed = true
	if !f.writable {
		return nil
	}
	if f.attrs.Len() > 0 && f.caps&ndfile.CapFileAttrs == 0 {
		return f.fail(ndfile.ErrNotSupported, nil, "no attributes")
	}
	for _, a := range f.arrays {
		switch {
		case !a.done() && f.caps&ndfile.CapWriteOnce != 0 && f.bug != "fills with zeros":
			return f.fail(ndfile.ErrOrder, a, "not written")
		case a.attrs.Len() > 0 && f.caps&ndfile.CapArrayAttrs == 0:
			return f.fail(ndfile.ErrNotSupported, a, "no attributes")
		}
	}
	parts := [][]byte{f.encode()}
	var err error
	switch f.bug {
	case "leaves temp":
		var h vfs.File
		temp := f.fsys.TempName(f.path)
		if h, err = f.fsys.Create(temp, true); err != nil {
			break
		}
		if _, err = h.WriteAt(parts[0], 0); err != nil {
			h.Close()
			break
		}
		if err = h.Close(); err == nil {
			err = f.fsys.Rename(temp, f.path)
		}
	case "torn":
		f.opt.Commit = ndfile.CommitDirect
		err = f.fsys.WriteFile(f.path, parts, f.opt)
	case "never syncs":
		f.opt.Sync = false
		err = f.fsys.WriteFile(f.path, parts, f.opt)
	case "overwrites":
		f.opt.Exclusive = false
		err = f.fsys.WriteFile(f.path, parts, f.opt)
	case "swallows write errors":
		f.fsys.WriteFile(f.path, parts, f.opt)
	default:
		err = f.fsys.WriteFile(f.path, parts, f.opt)
	}
	return ndfile.Locate(err, f.path, "", false)
}

// encode gives the bytes of the file.
func (f *toyFile) encode() []byte {
	head := ndfile.NewAttrs()
	head.Set("attrs", pyjson.ObjectValue(f.attrs))
	var list []pyjson.Value
	var body []byte
	for _, a := range f.arrays {
		o := ndfile.NewAttrs()
		o.Set("name", pyjson.String(a.name))
		o.Set("dtype", pyjson.String(a.spec.DType.String()))
		var shape, dims []pyjson.Value
		for i, n := range a.spec.Shape {
			shape = append(shape, pyjson.Int(n))
			if a.spec.Dims != nil {
				dims = append(dims, pyjson.String(a.spec.Dims[i]))
			}
		}
		o.Set("shape", pyjson.List(shape...))
		if a.spec.Dims != nil && f.bug != "loses dims" {
			o.Set("dims", pyjson.List(dims...))
		}
		masked := slices.Contains(a.mask, 1)
		o.Set("masked", pyjson.Bool(masked))
		if f.bug == "sorts attrs" {
			keys := a.attrs.Keys()
			sort.Strings(keys)
			sorted := ndfile.NewAttrs()
			for _, k := range keys {
				v, _ := a.attrs.Get(k)
				sorted.Set(k, v)
			}
			a.attrs = sorted
		}
		o.Set("attrs", pyjson.ObjectValue(a.attrs))
		list = append(list, pyjson.ObjectValue(o))
		if masked {
			body = append(body, a.mask...)
		}
		at := uint64(0)
		for _, t := range a.texts {
			at += uint64(len(t))
			body = binary.LittleEndian.AppendUint64(body, at)
		}
		for _, t := range a.texts {
			body = append(body, t...)
		}
		data := slices.Clone(a.data)
		if f.bug == "ignores byte order" {
			ndarray.SwapBytes(data, a.spec.DType.Native())
			if !a.spec.DType.Swapped() {
				ndarray.SwapBytes(data, a.spec.DType)
			}
		}
		body = append(body, data...)
	}
	head.Set("arrays", pyjson.List(list...))
	text := append(pyjson.AppendObject([]byte(toyMagic), head), '\n')
	text = binary.LittleEndian.AppendUint64(text, uint64(len(body)))
	return append(append(text, body...), f.trailing...)
}

// decode undoes encode.
func (f *toyFile) decode(text []byte) (err error) {
	bad := func(msg string) error { return ndfile.NewError(ndfile.ErrCorrupt, msg) }
	rest, ok := strings.CutPrefix(string(text), toyMagic)
	if !ok {
		return ndfile.NewError(ndfile.ErrFormat, "no toy")
	}
	header, rest, ok := strings.Cut(rest, "\n")
	if !ok || len(rest) < 8 {
		return bad("the header is cut")
	}
	head, err := ndfile.ParseJSON([]byte(header))
	if err != nil {
		return err
	}
	size, body := binary.LittleEndian.Uint64([]byte(rest[:8])), []byte(rest[8:])
	if f.bug == "trusts lengths" {
		body = make([]byte, min(size, 1<<28))
		copy(body, rest[8:])
	} else if size > uint64(len(body)) && f.bug != "panics" {
		return bad("the body is cut")
	} else if n := min(size, uint64(len(body))); n < uint64(len(body)) {
		if f.kind != ndfile.Single {
			return bad("bytes behind the body")
		}
		body, f.trailing = body[:n:n], body[n:]
	}
	take := func(n int64) []byte {
		if f.bug != "panics" && n > int64(len(body)) {
			err = bad("an array reaches beyond the file")
			return make([]byte, 0)
		}
		part := body[:n:n]
		body = body[n:]
		return part
	}
	fileAttrs, _ := head.Get("attrs")
	if f.attrs = fileAttrs.Object(); f.attrs == nil {
		return bad("no attributes")
	}
	list, _ := head.Get("arrays")
	if list.Kind() != pyjson.KindList {
		return bad("no arrays")
	}
	for _, v := range list.Items() {
		o := v.Object()
		get := func(key string) pyjson.Value { v, _ := o.Get(key); return v }
		a := &toyArray{file: f}
		name, ok1 := get("name").Str()
		dtype, ok2 := get("dtype").Str()
		masked, ok3 := get("masked").Bool()
		if a.attrs = get("attrs").Object(); !ok1 || !ok2 || !ok3 || a.attrs == nil || slices.Contains(f.Names(), name) {
			return bad("a bad header")
		}
		a.name = name
		if a.spec.DType, err = ndarray.Parse(dtype); err != nil {
			return ndfile.NewError(ndfile.ErrCorrupt, "").Because(err)
		}
		for _, n := range get("shape").Items() {
			extent, ok := n.Int64()
			if !ok {
				return bad("a bad shape")
			}
			a.spec.Shape = append(a.spec.Shape, extent)
		}
		for _, d := range get("dims").Items() {
			dim, _ := d.Str()
			a.spec.Dims = append(a.spec.Dims, dim)
		}
		if get("shape").Kind() != pyjson.KindList || a.spec.Dims != nil && len(a.spec.Dims) != len(a.spec.Shape) {
			return bad("a bad shape or dims")
		}
		n, err1 := ndarray.Count(a.spec.Shape)
		size, err2 := ndarray.NBytes(a.spec.Shape, max(a.spec.DType.Size, 1))
		if err1 != nil || err2 != nil || size > int64(len(body)) {
			return bad("a bad shape")
		}
		a.mask = make([]byte, n)
		if a.spec.Masked = masked; masked {
			a.mask = take(n)
		}
		if a.spec.DType.IsVar() {
			if n > int64(len(body))/8 {
				return bad("an array reaches beyond the file")
			}
			ends, from := take(8*n), uint64(0)
			for i := 0; i < len(ends); i += 8 {
				end := binary.LittleEndian.Uint64(ends[i:])
				if end < from || end-from > uint64(len(body)) {
					return bad("bad offsets")
				}
				a.texts = append(a.texts, take(int64(end-from)))
				from = end
			}
		} else {
			a.data = take(size)
		}
		if err != nil {
			return err
		}
		for i := 0; i < len(a.mask) && a.data != nil; i++ {
			if a.mask[i] != 0 && f.bug != "stores garbage" {
				clear(a.data[i*a.spec.DType.Size:][:a.spec.DType.Size])
			}
		}
		if slices.ContainsFunc(a.mask, func(b byte) bool { return b > 1 }) {
			return bad("a bad mask")
		}
		f.arrays = append(f.arrays, a)
	}
	if len(body) > 0 && f.bug != "trusts lengths" {
		return bad("more body than arrays")
	}
	return nil
}

type toyArray struct {
	file  *toyFile
	name  string
	spec  ndfile.Spec
	attrs *ndfile.Attrs
	data  []byte   // fixed sizes, in the order on disk
	texts [][]byte // variable length
	mask  []byte
	rows  int64 // written so far
}

// as gives the array with the interfaces of its format.
func (a *toyArray) as() ndfile.Array {
	if a.file.kind == ndfile.Single {
		return toyMapped{a}
	}
	return toyFull{a}
}

func (a *toyArray) Spec() ndfile.Spec    { return a.spec }
func (a *toyArray) Attrs() *ndfile.Attrs { return a.attrs }

func (a *toyArray) done() bool {
	return slices.Contains(a.spec.Shape, 0) || len(a.spec.Shape) == 0 && a.rows > 0 || len(a.spec.Shape) > 0 && a.rows == a.spec.Shape[0]
}

func (a *toyArray) buffer() ndarray.Buffer {
	return ndarray.Buffer{DType: a.spec.DType, Shape: a.spec.Shape, Data: a.data}
}

func (a *toyArray) readBox(box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	switch a.file.bug {
	case "ignores steps":
		box.Step = nil
	case "shares state":
		box = a.file.share(box)
	}
	err := box.Check(a.spec.Shape)
	if err == nil {
		err = dst.Check()
	}
	switch {
	case err != nil:
		return a.file.locate(err, a)
	case a.spec.DType.IsVar():
		return a.file.fail(ndfile.ErrDType, a, "elements of variable length")
	case !slices.Equal(dst.Shape, box.Count):
		return a.file.fail(ndfile.ErrShape, a, "the destination has another shape")
	}
	missing := false
	at := picked(a.spec.Shape, box)
	if mask != nil && len(mask) != len(at) {
		return a.file.fail(ndfile.ErrShape, a, "the mask has another length")
	}
	for k, i := range at {
		missing = missing || a.mask[i] != 0
		if mask != nil {
			mask[k] = a.mask[i]
		}
	}
	if missing && mask == nil && a.file.bug != "reads missing elements" {
		return a.file.fail(ndfile.ErrMasked, a, "elements are missing")
	}
	src, err := a.buffer().Sub(box)
	if err == nil {
		err = ndarray.Copy(dst, src)
	}
	return a.file.locate(err, a)
}

func (a *toyArray) writeBox(box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	err := a.order(box)
	if err == nil {
		err = src.Check()
	}
	if err == nil && !slices.Equal(src.Shape, box.Count) {
		err = ndfile.NewError(ndfile.ErrShape, "the source has another shape")
	}
	if err == nil && !ndarray.CanConvert(src.DType, a.spec.DType) {
		err = ndfile.NewError(ndfile.ErrDType, "cannot store "+src.DType.String())
	}
	if err != nil {
		return a.file.locate(err, a)
	}
	if a.file.bug == "stores where it likes" && len(box.Start) > 0 {
		box.Start = slices.Clone(box.Start)
		box.Start[0] = min(a.rows, a.spec.Shape[0]-box.Count[0])
	}
	dst, err := a.buffer().Sub(box)
	if err == nil {
		err = ndarray.Copy(dst, src)
	}
	if err != nil {
		return a.file.locate(err, a)
	}
	for k, i := range picked(a.spec.Shape, box) {
		a.mask[i] = 0
		if mask != nil && a.file.bug != "loses masks" {
			a.mask[i] = mask[k]
		}
		if a.mask[i] != 0 && a.file.bug != "stores garbage" {
			clear(a.data[i*a.spec.DType.Size:][:a.spec.DType.Size])
		}
	}
	a.wrote(box)
	return nil
}

// order checks that a box may be written now.
func (a *toyArray) order(box ndarray.Box) error {
	if !a.file.writable || a.file.closed {
		return ndfile.NewError(ndfile.ErrReadOnly, "not open for writing")
	}
	if err := box.Check(a.spec.Shape); err != nil {
		return err
	}
	if a.file.caps&ndfile.CapWriteOnce == 0 || a.file.bug == "stores where it likes" || slices.Contains(box.Count, 0) {
		return nil
	}
	ok := len(box.Start) == 0 && a.rows == 0 || len(box.Start) > 0 && box.Start[0] == a.rows
	for axis := range box.Count {
		ok = ok && (axis == 0 || box.Count[axis] == a.spec.Shape[axis]) && (box.Step == nil || box.Count[axis] < 2 || box.Step[axis] == 1)
	}
	if !ok {
		return ndfile.NewError(ndfile.ErrOrder, "rows in order, please")
	}
	return nil
}

func (a *toyArray) wrote(box ndarray.Box) {
	if len(box.Count) == 0 {
		a.rows++
	} else if !slices.Contains(box.Count, 0) {
		a.rows += box.Count[0]
	}
}

func (a *toyArray) ReadBox(_ context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	if err := a.file.answer(); err != nil {
		return err
	}
	return a.readBox(box, dst, nil)
}

func (a *toyArray) WriteBox(_ context.Context, box ndarray.Box, src ndarray.Buffer) error {
	if err := a.file.answer(); err != nil {
		return err
	}
	return a.writeBox(box, src, nil)
}

// toyFull is an array with masks and strings.
type toyFull struct{ *toyArray }

func (a toyFull) ReadMasked(_ context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	if err := a.file.answer(); err != nil {
		return err
	}
	if mask == nil {
		mask = []byte{}
	}
	return a.readBox(box, dst, mask)
}

func (a toyFull) WriteMasked(_ context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	if err := a.file.answer(); err != nil {
		return err
	}
	return a.writeBox(box, src, mask)
}

func (a toyFull) ReadStrings(_ context.Context, box ndarray.Box, offsets []int64, data, mask []byte) (need int64, err error) {
	if err := a.file.answer(); err != nil {
		return 0, err
	}
	if !a.spec.DType.IsVar() {
		return 0, a.file.fail(ndfile.ErrDType, a.toyArray, "no elements of variable length")
	}
	if err := box.Check(a.spec.Shape); err != nil {
		return 0, a.file.locate(err, a.toyArray)
	}
	at := picked(a.spec.Shape, box)
	if len(offsets) != len(at)+1 || mask != nil && len(mask) != len(at) {
		return 0, a.file.fail(ndfile.ErrShape, a.toyArray, "offsets or mask of another length")
	}
	var all []byte
	for k, i := range at {
		if a.mask[i] != 0 && mask == nil {
			return 0, a.file.fail(ndfile.ErrMasked, a.toyArray, "elements are missing")
		}
		if mask != nil {
			mask[k] = a.mask[i]
		}
		all = append(all, a.texts[i]...)
		offsets[k], offsets[k+1] = int64(len(all)-len(a.texts[i])), int64(len(all))
	}
	if len(at) == 0 {
		offsets[0] = 0
	}
	if need = int64(len(all)); need > int64(len(data)) {
		return need, a.file.fail(ndfile.ErrBuffer, a.toyArray, "more data")
	}
	copy(data, all)
	return need, nil
}

func (a toyFull) WriteStrings(_ context.Context, box ndarray.Box, offsets []int64, data, mask []byte) error {
	if err := a.file.answer(); err != nil {
		return err
	}
	if !a.spec.DType.IsVar() {
		return a.file.fail(ndfile.ErrDType, a.toyArray, "no elements of variable length")
	}
	if err := a.order(box); err != nil {
		return a.file.locate(err, a.toyArray)
	}
	at := picked(a.spec.Shape, box)
	if len(offsets) != len(at)+1 || mask != nil && len(mask) != len(at) {
		return a.file.fail(ndfile.ErrShape, a.toyArray, "offsets or mask of another length")
	}
	for k := range at {
		if offsets[k] < 0 || offsets[k] > offsets[k+1] || offsets[k+1] > int64(len(data)) {
			return a.file.fail(ndfile.ErrValue, a.toyArray, "bad offsets")
		}
		if text := data[offsets[k]:offsets[k+1]]; a.spec.DType.Kind == ndarray.VarString && !utf8.Valid(text) {
			return a.file.fail(ndfile.ErrValue, a.toyArray, "not UTF-8")
		}
	}
	for k, i := range at {
		a.texts[i], a.mask[i] = nil, 0
		if mask != nil && a.file.bug != "loses masks" {
			a.mask[i] = mask[k]
		}
		if a.mask[i] == 0 {
			a.texts[i] = slices.Clone(data[offsets[k]:offsets[k+1]])
		}
	}
	a.wrote(box)
	return nil
}

// toyMapped is an array that can be mapped.
type toyMapped struct{ *toyArray }

func (a toyMapped) Map(context.Context) ([]byte, func() error, error) {
	if err := a.file.answer(); err != nil {
		return nil, nil, err
	}
	if a.spec.DType.Swapped() {
		return nil, nil, a.file.fail(ndfile.ErrNotSupported, a.toyArray, "other byte order")
	}
	return a.data, func() error { return nil }, nil
}

// oneShotToy is a toy that is an OneShot.
type oneShotToy struct{ toy }

func (f oneShotToy) Load(ctx context.Context, fsys ndfile.FS, path string, sink *ndfile.Sink) error {
	file, err := f.Open(ctx, fsys, path, ndfile.OpenOptions{Limits: sink.Limits})
	if err != nil {
		return err
	}
	defer file.Abort()
	err = ndfile.LoadFile(ctx, file, sink)
	switch {
	case f.bug == "counts badly" && errors.Is(err, ndfile.ErrBuffer):
		sink.Need -= 8
	case f.bug == "unaligned" && err == nil:
		for i := range sink.Infos[:sink.N] {
			if li := &sink.Infos[i]; li.DataOffset > 0 {
				copy(sink.Buf[li.DataOffset-1:], sink.Buf[li.DataOffset:][:li.DataLen])
				li.DataOffset--
			}
		}
	}
	return err
}

func (f oneShotToy) Save(ctx context.Context, fsys ndfile.FS, path string, items []ndfile.Item, opt ndfile.SaveOptions) error {
	file, err := f.Create(ctx, fsys, path, opt)
	if err != nil {
		return err
	}
	defer file.Abort()
	if err := ndfile.SaveFile(ctx, file, items); err != nil {
		return err
	}
	return file.Close(ctx)
}
