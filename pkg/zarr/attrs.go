package zarr

import (
	"context"
	"errors"
	"io/fs"
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// inDocument is the member of a metadata document that holds the attributes,
// where they have no file of their own.
const inDocument = "attributes"

// readAttrs reads the attributes. A file that is damaged is an error, else they
// would seem to be none, and the next change would make that true.
func (s *store) readAttrs(ctx context.Context, m *metadata) (*ndfile.Attrs, error) {
	if s.version.attrs == "" {
		v, _ := m.doc.Get(inDocument)
		if attrs := v.Object().Clone(); attrs != nil {
			return attrs, nil
		}
		return ndfile.NewAttrs(), nil
	}
	text, err := s.read(ctx, s.version.attrs)
	s.attrsText = text
	if errors.Is(err, fs.ErrNotExist) {
		return ndfile.NewAttrs(), nil
	}
	if err != nil {
		return nil, err
	}
	doc, err := metafile.Parse(text, s.files.Limits)
	if err != nil {
		err = ndfile.Locate(err, s.path(s.version.attrs), "", false)
		var e *ndfile.Error
		if errors.As(err, &e) {
			e.Msg += " (the attributes are damaged; without this file the array opens)"
		}
		return nil, err
	}
	if m != nil && s.version.dimsKey != "" {
		m.takeDims(doc.Object, s.version.dimsKey)
	}
	return doc.Object, nil
}

// takeDims moves names of axes out of the attributes, where they are what xarray
// writes: a text for each axis.
func (m *metadata) takeDims(attrs *ndfile.Attrs, key string) {
	v, _ := attrs.Get(key)
	if v.Kind() != pyjson.KindList || len(v.Items()) != len(m.shape) {
		return
	}
	dims := make([]string, len(m.shape))
	for i, item := range v.Items() {
		var ok bool
		if dims[i], ok = item.Str(); !ok {
			return
		}
	}
	m.dims = dims
	attrs.Delete(key)
}

// withDims are attributes with the names of axes among them, where they are stored
// there.
func (f *file) withDims(attrs *ndfile.Attrs) *ndfile.Attrs {
	if f.version.dimsKey == "" || f.meta.dims == nil {
		return attrs
	}
	names := make([]pyjson.Value, len(f.meta.dims))
	for i, name := range f.meta.dims {
		names[i] = pyjson.String(name)
	}
	all := attrs.Clone()
	if all == nil {
		all = ndfile.NewAttrs()
	}
	all.Set(f.version.dimsKey, pyjson.List(names...))
	return all
}

// writeAttrs writes the attributes.
func (f *file) writeAttrs(attrs *ndfile.Attrs) error {
	if f.version.attrs != "" {
		attrs = f.withDims(attrs)
		opt := f.Write
		opt.Ordered = f.Mode == edit.Updating && f.oldAttrs.Len() == 0 // the file is new, and an empty one is an error
		return f.writeDocument(f.version.attrs, attrs, opt)
	}
	doc := f.meta.doc.Clone()
	doc.Set(inDocument, pyjson.ObjectValue(attrs.Clone()))
	if err := f.writeDocument(f.version.meta, doc, f.Write); err != nil {
		return err
	}
	f.meta.doc = doc
	return nil
}

// flushAttrs writes the attributes if they were changed. With locks only what
// was changed here changes on disk.
func (f *file) flushAttrs(ctx context.Context) (err error) {
	if pyjson.ObjectValue(f.attrs).Equal(pyjson.ObjectValue(f.oldAttrs)) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	new := f.attrs
	if f.protocol() {
		unlock, err := f.lockName(ctx, f.version.attrs)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		onDisk, err := f.readAttrs(ctx, f.meta)
		if err != nil {
			return err
		}
		new = rebase(onDisk, f.oldAttrs, f.attrs)
	} else {
		err := f.Alone()
		if err == nil && f.version.attrs != "" {
			err = edit.Unchanged(ctx, &f.files, f.path(f.version.attrs), f.attrsText)
		}
		if err == nil && f.version.attrs == "" {
			err = f.unchanged(ctx)
		}
		if err != nil {
			return err
		}
	}
	if err := f.writeAttrs(new); err != nil {
		return err
	}
	*f.attrs = *new
	f.oldAttrs = new.Clone()
	return nil
}

// rebase does to attributes what turned old into new.
func rebase(onDisk, old, new *ndfile.Attrs) *ndfile.Attrs {
	for _, key := range old.Keys() {
		if _, kept := new.Get(key); !kept {
			onDisk.Delete(key)
		}
	}
	for i := range new.Len() {
		key, v := new.At(i)
		if was, ok := old.Get(key); !ok || !was.Equal(v) {
			onDisk.Set(key, v)
		}
	}
	return onDisk
}

// mergeAttrs joins the attributes given for the file and for its array. They
// are the same thing, so one key cannot have two values.
func mergeAttrs(ofFile, ofArray *ndfile.Attrs) (*ndfile.Attrs, error) {
	all := ofFile.Clone()
	for i := range ofArray.Len() {
		key, v := ofArray.At(i)
		if was, ok := all.Get(key); ok && !was.Equal(v) {
			return nil, ndfile.NewError(ndfile.ErrArgument, "attribute "+strconv.Quote(key)+": the file and its array have the same attributes, found two values")
		}
		all.Set(key, v)
	}
	return all.Clone(), nil
}
