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

// sizes is what meta/sizes says. Of it only the shape counts.
type sizes struct {
	shape []int64
	// cbytes is the size of all whole chunks as Blosc has them, plus that of one
	// uncompressed chunk, which bcolz keeps in memory. bcolz lets it drift, even
	// below zero; nobody should rely on it.
	cbytes int64
	at     int64 // offset of the shape in the file
}

// parseSizes reads meta/sizes.
func parseSizes(doc *metafile.Document) (s sizes, err error) {
	if s.shape, err = doc.Ints(keyShape); err != nil {
		return s, err
	}
	if n := len(s.shape); n == 0 || n > ndarray.MaxNDim || slices.Min(s.shape) < 0 {
		return s, doc.Wrong(ndfile.ErrCorrupt, keyShape, "a list of 1 to 64 extents of 0 or more")
	}
	v, _ := doc.Get(keyCbytes)
	s.cbytes, _ = v.Int64()
	s.at = doc.Offset(keyShape)
	return s, nil
}

// text is the file, as bcolz writes it.
func (s *sizes) text(itemsize int) []byte {
	extents := make([]pyjson.Value, len(s.shape))
	for i, n := range s.shape {
		extents[i] = pyjson.Int(n)
	}
	nbytes, _ := ndarray.NBytes(s.shape, itemsize) // was checked before
	doc := ndfile.NewAttrs()
	doc.Set(keyShape, pyjson.List(extents...))
	doc.Set(keyNbytes, pyjson.Int(nbytes))
	doc.Set(keyCbytes, pyjson.Int(s.cbytes))
	return line(doc)
}
