package ndfile

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Kind says what a file holds.
type Kind uint8

const (
	// Single is a file that is one array. Its only name is "".
	Single Kind = iota + 1
	// Dataset is a file of named arrays of any shapes.
	Dataset
	// Table is a file of named columns of one length.
	Table
)

// String gives the name used by every API: "array", "dataset" or "table".
func (k Kind) String() string {
	switch k {
	case Single:
		return "array"
	case Dataset:
		return "dataset"
	case Table:
		return "table"
	}
	return "unknown"
}

// Match is how sure a format is that a path is one of its files.
type Match uint8

const (
	// NoMatch: the content is something else.
	NoMatch Match = iota
	// Possible: nothing speaks against it (an old file without a magic, say).
	Possible
	// Certain: the content carries the format's signature.
	Certain
)

// Format is one on-disk format. Implementations are stateless values, safe
// for concurrent use.
type Format interface {
	// Name is the format's name in every API ("ds").
	Name() string
	// Extensions are the file name endings, with the dot, in lower case; the
	// first is the usual one.
	Extensions() []string
	Caps() Caps
	// Detect looks at the content, never at the name. A path that does not
	// exist is an error; one that cannot be this format is NoMatch.
	Detect(ctx context.Context, fsys FS, path string) (Match, error)
	// Open opens an existing file. The format keeps no reference to path.
	Open(ctx context.Context, fsys FS, path string, opt OpenOptions) (File, error)
	// Create starts a new file, which appears at path when it is closed.
	Create(ctx context.Context, fsys FS, path string, opt CreateOptions) (File, error)
}

// File is an open file or folder. After Close and Abort, Kind, Names, Attrs and
// Array.Spec answer as before; every method of the file and of its arrays that gives
// an error gives ErrHandle, whatever its arguments.
type File interface {
	// Kind is what the file holds. In a format that has both arrays and tables
	// (CapRows) or single arrays and groups (CapGroups) the first Add to a new file
	// decides: the name "" makes a Single, any other a Table or Dataset, as which it
	// counts until then.
	Kind() Kind
	// Names lists the arrays in file order; for [Single] it is [""]. The
	// caller must not change the slice.
	Names() []string
	// Array gives the array of that name. An unknown name is ErrName.
	Array(name string) (Array, error)
	// Add declares a new array. The format keeps a copy of spec.
	Add(ctx context.Context, name string, spec Spec) (Array, error)
	// Attrs are the file's attributes. Changes count when the file is closed;
	// on a file open for reading they are lost.
	Attrs() *Attrs
	// Close commits what was written and releases the file. After an error of
	// a file being created nothing of it is left, and the old one is intact.
	Close(ctx context.Context) error
	// Abort releases the file without committing. It leaves nothing of a
	// created file.
	Abort() error
}

// Array is one array of an open file. It stays usable until the file is
// closed.
type Array interface {
	// Spec describes the array. The caller must not change what it points to.
	Spec() Spec
	// ReadBox copies the box into dst, whose shape is box.Count. The dtype of
	// dst is the array's up to byte order, or an exact widening of it
	// (ndarray.CanConvert). Missing elements in the box are ErrMasked.
	ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error
	// WriteBox stores src, whose shape is box.Count, into the box.
	WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error
	// Attrs are the array's attributes, with the rules of File.Attrs.
	Attrs() *Attrs
}
