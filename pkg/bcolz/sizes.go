package bcolz

import (
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The members of meta/sizes.
const (
	keyShape  = "shape"
	keyNbytes = "nbytes"
	keyCbytes = "cbytes"
)

// sizes is what meta/sizes says. Readers go by the shape; the rest is evidence
// where something is damaged, see account.go.
type sizes struct {
	shape []int64
	// nbytes is the size of all items in memory.
	nbytes    int64
	hasNbytes bool
	// cbytes is the size of all whole chunks as Blosc has them, plus that of one
	// uncompressed chunk, which bcolz keeps in memory. bcolz lets it drift, even
	// below zero; nobody should rely on it.
	cbytes int64
	at     int64 // offset of the shape in the file
}

// parseSizes reads meta/sizes.
func parseSizes(doc *metafile.Document) (s sizes, err error) {
	v, ok := doc.Get(keyNbytes)
	s.hasNbytes = ok
	if s.nbytes, ok = v.Int64(); !ok {
		s.nbytes = -1
	}
	v, _ = doc.Get(keyCbytes)
	s.cbytes, _ = v.Int64()
	if s.shape, err = doc.Ints(keyShape); err != nil {
		return s, err
	}
	if n := len(s.shape); n == 0 || n > ndarray.MaxNDim || slices.Min(s.shape) < 0 {
		err := doc.Wrong(ndfile.ErrCorrupt, keyShape, "a list of 1 to 64 extents of 0 or more")
		s.shape = nil
		return s, err
	}
	s.at = doc.Offset(keyShape)
	return s, nil
}

// text is the file, as bcolz writes it.
func (s *sizes) text(itemsize int) []byte {
	extents := make([]pyjson.Value, len(s.shape))
	for i, n := range s.shape {
		extents[i] = pyjson.Int(n)
	}
	s.nbytes, _ = ndarray.NBytes(s.shape, itemsize) // was checked before
	s.hasNbytes = true
	doc := ndfile.NewAttrs()
	doc.Set(keyShape, pyjson.List(extents...))
	doc.Set(keyNbytes, pyjson.Int(s.nbytes))
	doc.Set(keyCbytes, pyjson.Int(s.cbytes))
	return line(doc)
}
