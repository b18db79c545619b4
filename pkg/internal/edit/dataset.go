package edit

import (
	"strings"
	"sync"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Dataset is what every dataset that is created as one file has beside its content.
// Writers embed it. The mutex guards the rest, and all calls of the writer.
type Dataset[A ndfile.Array] struct {
	sync.Mutex
	Path     string // as the caller knows it
	Members  map[string]A
	Order    []string // the names, as they were added
	IsClosed bool

	attrs *ndfile.Attrs
}

// Begin sets the path and the attributes; nil are none.
func (d *Dataset[A]) Begin(path string, attrs *ndfile.Attrs) {
	if attrs == nil {
		attrs = ndfile.NewAttrs()
	}
	d.Path, d.attrs, d.Members = strings.Clone(path), attrs, map[string]A{}
}

// Declare adds an array under a name, which it keeps. The mutex is held.
func (d *Dataset[A]) Declare(name string, a A) {
	d.Members[name], d.Order = a, append(d.Order, name)
}

// Located gives an error the path that the caller knows.
func (d *Dataset[A]) Located(err error) error { return ndfile.Locate(err, d.Path, "", false) }

// Kind implements [ndfile.File], as the methods below.
func (d *Dataset[A]) Kind() ndfile.Kind { return ndfile.Dataset }

// Attrs are those given to Begin.
func (d *Dataset[A]) Attrs() *ndfile.Attrs { return d.attrs }

// Names are in the order of Declare.
func (d *Dataset[A]) Names() []string {
	d.Lock()
	defer d.Unlock()
	return d.Order[:len(d.Order):len(d.Order)]
}

// Array gives an array that was declared.
func (d *Dataset[A]) Array(name string) (ndfile.Array, error) {
	d.Lock()
	defer d.Unlock()
	if d.IsClosed {
		return nil, d.Located(ndfile.ErrClosed())
	}
	if a, ok := d.Members[name]; ok {
		return a, nil
	}
	return nil, d.Located(ndfile.NewError(ndfile.ErrName, ndfile.ErrName.Text).In(strings.Clone(name)))
}
