package zarr

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// file is an open array with its folder.
type file struct {
	edit.Session
	store
	meta     *metadata // nil before Add
	array    *array
	attrs    *ndfile.Attrs
	oldAttrs *ndfile.Attrs // as they are on disk; when updating
	copies   copies        // around the array
	of, name string        // of an array of a group: the path of that, and the name there
	within   *group        // that group, where it is open for changes
}

// Located names the file, and the array where there are several.
func (f *file) Located(err error) error {
	if f.of == "" {
		return f.Session.Located(err)
	}
	return ndfile.Locate(edit.Moved(err, f.Root, f.Path), f.of, f.name, true)
}

// End ends the session, and what was kept of the array's chunks goes.
func (f *file) End() {
	if f.array != nil {
		f.array.forget()
	}
	f.Session.End()
}

func (f *file) Kind() ndfile.Kind    { return ndfile.Single }
func (f *file) Attrs() *ndfile.Attrs { return f.attrs }

// names is File.Names of every file.
var names = []string{""}

func (f *file) Names() []string {
	if f.array == nil {
		return nil
	}
	return names
}

func (f *file) Array(name string) (ndfile.Array, error) {
	f.RLock()
	defer f.RUnlock()
	if err := f.Check(false); err != nil {
		return nil, f.Located(err)
	}
	if f.array == nil || name != "" {
		return nil, f.Located(ndfile.NewError(ndfile.ErrName, "a zarr array has no name, it is called \"\"").In(strings.Clone(name)))
	}
	return f.array.public(), nil
}

// open reads what Open reads.
func (f *file) open(ctx context.Context) (err error) {
	if f.meta, err = f.readMeta(ctx); err != nil {
		return err
	}
	if err := f.checkData(); err != nil {
		return err
	}
	if f.attrs, err = f.readAttrs(ctx, f.meta); err != nil {
		return err
	}
	if f.Mode == edit.Updating {
		f.oldAttrs = f.attrs.Clone()
	}
	f.array, err = f.newArray()
	return err
}

// Add declares the array of a file being created. Without Spec.Chunks chunks are
// of about 1 MiB. Spec.Codecs nil is level 5 with byte shuffle of blosclz
// in early zarr, as release 0.4 has it, and of lz4 in later versions. Spec.Extra is
// what the Spec of an array of the same format has there.
func (f *file) Add(ctx context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	f.Lock()
	defer f.Unlock()
	if err := f.add(ctx, name, spec); err != nil {
		return nil, f.Located(err)
	}
	return f.array.public(), nil
}

func (f *file) add(ctx context.Context, name string, spec ndfile.Spec) error {
	if err := f.Begin(ctx); err != nil {
		return err
	}
	switch {
	case f.Mode == edit.Updating:
		return ndfile.NewError(ndfile.ErrNotSupported, "a zarr file holds one array, and it is there already")
	case f.array != nil:
		return ndfile.NewError(ndfile.ErrNameExists, "a zarr file holds one array")
	}
	if err := f.complete(name, &spec); err != nil {
		return err
	}
	meta, err := f.version.make(&spec)
	if err != nil {
		return err
	}
	attrs, err := mergeAttrs(f.attrs, spec.Attrs)
	if err != nil {
		return err
	}
	if f.version.dimsKey != "" {
		meta.dims = slices.Clone(spec.Dims)
	}
	f.meta = meta
	a, err := f.newArray()
	if err == nil && f.version.data != "" {
		if err = f.files.Mkdir(f.dataPath()); errors.Is(err, fs.ErrExist) {
			err = nil // an Add before this one failed
		}
	}
	if err != nil {
		f.meta = nil
		return err
	}
	a.cleared = slices.Repeat([]int64{math.MaxInt64}, len(meta.shape)) // there are no files
	f.array = a
	*f.attrs = *attrs
	return ctx.Err()
}

// complete checks a Spec for what no array has, and fills in the defaults.
func (f *file) complete(name string, spec *ndfile.Spec) error {
	refused := ""
	switch {
	case name != "":
		return ndfile.NewError(ndfile.ErrArgument, "a zarr array has no name, found "+strconv.Quote(name))
	case spec.Masked:
		refused = "missing elements"
	case spec.NoData:
		refused = "metadata without data"
	case spec.Dims != nil && f.version.caps&ndfile.CapDims == 0:
		refused = "names of axes"
	}
	if refused != "" {
		return ndfile.NewError(ndfile.ErrNotSupported, f.version.format+" has no "+refused)
	}
	if spec.DType.IsVar() && f.version.caps&ndfile.CapStrings == 0 {
		return badDType(f.version.format + " has no elements of variable length, found " + spec.DType.String())
	}
	if err := spec.DType.Check(); err != nil {
		return err
	}
	if _, err := ndarray.NBytes(spec.Shape, spec.DType.Size); err != nil {
		return err
	}
	spec.Shape = slices.Clone(spec.Shape)
	if spec.Chunks == nil {
		spec.Chunks = defaultChunks(spec.Shape, spec.ExpectedRows, spec.DType.Size)
	}
	spec.Chunks = slices.Clone(spec.Chunks)
	if len(spec.Chunks) != len(spec.Shape) {
		return ndfile.NewError(ndfile.ErrShape, "chunks: expected "+strconv.Itoa(len(spec.Shape))+" extents, found "+strconv.Itoa(len(spec.Chunks)))
	}
	for axis, n := range spec.Chunks {
		if n < 1 {
			return ndfile.NewError(ndfile.ErrShape, "chunks: axis "+strconv.Itoa(axis)+": expected 1 or more, found "+strconv.FormatInt(n, 10))
		}
	}
	spec.Fill = slices.Clone(spec.Fill)
	return nil
}

// targetChunk is about the size in bytes of a chunk whose shape is not given.
const targetChunk = 1 << 20

// defaultChunks halves the longest axis until a chunk is small enough. An axis
// without elements yet counts as one that will be long, rows if they are given.
func defaultChunks(shape []int64, rows int64, itemSize int) []int64 {
	chunks := slices.Clone(shape)
	if len(chunks) > 0 {
		chunks[0] = max(chunks[0], rows)
	}
	for axis, n := range chunks {
		if n == 0 {
			chunks[axis] = targetChunk
		}
	}
	for {
		n, err := ndarray.NBytes(chunks, itemSize)
		if err == nil && n <= targetChunk {
			return chunks
		}
		longest := 0
		for axis := range chunks {
			if chunks[axis] > chunks[longest] {
				longest = axis
			}
		}
		if len(chunks) == 0 || chunks[longest] == 1 {
			return chunks
		}
		chunks[longest] -= chunks[longest] / 2
	}
}

// Flush implements [ndfile.Flusher]. Elements are on disk already; it writes the
// attributes. A file being created appears when it is closed, not before.
func (f *file) Flush(ctx context.Context, opt ndfile.FlushOptions) error {
	f.Lock()
	defer f.Unlock()
	return f.Located(f.Session.Flush(ctx, f.files.FS, opt, f.flush))
}

// flush writes what is in memory, and makes consolidated metadata of groups around
// the array true.
func (f *file) flush(ctx context.Context) error {
	err := f.flushAttrs(ctx)
	if f.wrote {
		f.wrote, f.copies.stale = false, true
	}
	if err == nil && f.version.caps&ndfile.CapGroups != 0 {
		err = f.copies.refresh(ctx, &f.store, false, f.Write)
	}
	return err
}

// Close writes the attributes; of a new file the metadata too, and makes it
// visible.
func (f *file) Close(ctx context.Context) error {
	f.Lock()
	defer f.Unlock()
	err := f.Check(false)
	if err != nil {
		return f.Located(err)
	}
	switch f.Mode {
	case edit.Updating:
		err = f.flush(ctx)
	case edit.Creating:
		if err = f.finish(ctx); err != nil {
			f.Folder.Abort()
			break
		}
		err = f.Folder.Commit()
	}
	f.End()
	return f.Located(err)
}

// finish writes the documents of a new file.
func (f *file) finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.array == nil {
		return ndfile.NewError(ndfile.ErrOrder, "a zarr file holds one array, but none was added")
	}
	if f.withDims(f.attrs).Len() > 0 {
		if err := f.writeAttrs(f.attrs); err != nil {
			return err
		}
	}
	return f.writeDocument(f.version.meta, f.meta.doc, f.Write)
}

// Abort drops a file being created, and the attributes that were changed since
// Flush of another.
func (f *file) Abort() error {
	f.Lock()
	defer f.Unlock()
	err := f.Check(false)
	if err == nil {
		f.End()
		if f.Mode == edit.Creating {
			err = f.Folder.Abort()
		}
	}
	return f.Located(err)
}
