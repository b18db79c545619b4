package bcolz

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strconv"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// attributes are an __attrs__ file. It is checked when it is read, and built when
// somebody asks for it.
type attributes struct {
	limits pyjson.Limits

	mu     sync.Mutex
	text   []byte        // of the file; nil when there is none
	object *ndfile.Attrs // nil until somebody asks
}

// newAttributes are those of a file to be written: a copy of attrs.
func newAttributes(attrs *ndfile.Attrs) *attributes {
	a := &attributes{object: ndfile.NewAttrs()}
	if attrs != nil {
		a.object = attrs.Clone()
	}
	return a
}

// attributes reads the __attrs__ of a root. Its absence is {}.
func (d *disk) attributes(ctx context.Context, root string) (*attributes, error) {
	path := root + "/" + attrsFile
	a := &attributes{limits: pyjson.Limits{MaxBytes: d.Limits.Header(), MaxDepth: d.Limits.MaxDepth}}
	text, err := d.Read(ctx, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return a, nil
	case err != nil:
		return nil, err
	}
	if a.text = text; a.check() != nil {
		e := metafile.Error(a.check()).On(path)
		e.Msg += " (where there is no " + attrsFile + ", there are no attributes, and the data can be read)"
		return nil, e
	}
	return a, nil
}

// check makes sure that get succeeds.
func (a *attributes) check() error {
	s := pyjson.Scanner{Data: a.text, MaxDepth: a.limits.MaxDepth}
	if c, _ := s.Peek(); c != '{' {
		return s.EnterObject()
	}
	if _, err := s.Skip(); err != nil {
		return err
	}
	return s.End()
}

// get gives the attributes, the same object each time.
func (a *attributes) get() *ndfile.Attrs {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.object == nil {
		a.object = a.parse()
	}
	return a.object
}

func (a *attributes) parse() *ndfile.Attrs {
	if a.text == nil {
		return ndfile.NewAttrs()
	}
	o, _ := pyjson.ParseObject(a.text, a.limits) // passed check
	return o
}

// save writes the file in root.
func (a *attributes) save(d *disk, root string, opt ndfile.WriteOptions) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := line(a.object)
	if err := d.write(root+"/"+attrsFile, text, opt); err != nil {
		return err
	}
	a.text = text
	return nil
}

// update writes the file in root if the attributes were changed here.
func (a *attributes) update(ctx context.Context, f *file, root string) error {
	if !a.changed() {
		return nil
	}
	err := f.Alone()
	if err == nil {
		err = edit.Unchanged(ctx, &f.disk.Files, root+"/"+attrsFile, a.text)
	}
	if err == nil {
		err = a.save(&f.disk, root, f.Write)
	}
	return err
}

// changed tells whether the attributes are others than in the file.
func (a *attributes) changed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.object != nil && !bytes.Equal(line(a.object), line(a.parse()))
}

// merge adds attributes, or nothing when one is there with another value.
func (a *attributes) merge(more *ndfile.Attrs) error {
	all := a.get()
	for i := range more.Len() {
		key, v := more.At(i)
		if old, ok := all.Get(key); ok && !old.Equal(v) {
			return ndfile.NewError(ndfile.ErrValue, "a carray has one set of attributes, but "+strconv.Quote(key)+" was given as "+metafile.Short(old)+" for the file and as "+
				metafile.Short(v)+" for the array")
		}
	}
	for i := range more.Len() {
		all.Set(more.At(i))
	}
	return nil
}
