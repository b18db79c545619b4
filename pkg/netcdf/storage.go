package netcdf

import (
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// storage is how NetCDF-4 keeps the elements of a variable. The zero value leaves it
// to libnetcdf.
type storage struct {
	chunks     []int64 // of one chunk, an axis each
	deflate    int     // level, 0 none
	shuffle    bool
	fletcher32 bool
}

func (s *storage) isSet() bool {
	return s.chunks != nil || s.deflate != 0 || s.shuffle || s.fletcher32
}

// parse takes a member of Extra; ok is false where it is none of storage's, or wrong.
func (s *storage) parse(key string, v ndfile.Value) (ok bool) {
	switch key {
	case "chunks":
		if v.Kind() != pyjson.KindList {
			return false
		}
		s.chunks = []int64{}
		for _, item := range v.Items() {
			n, ok := item.Int64()
			if !ok || n <= 0 {
				return false
			}
			s.chunks = append(s.chunks, n)
		}
		return true
	case "deflate":
		n, ok := v.Int64()
		s.deflate = int(n)
		return ok && 0 <= n && n <= 9
	case "shuffle":
		s.shuffle, ok = v.Bool()
	case "fletcher32":
		s.fletcher32, ok = v.Bool()
	}
	return ok
}

// describe adds the members that parse takes.
func (s *storage) describe(o *ndfile.Attrs) {
	if s.chunks != nil {
		var items []ndfile.Value
		for _, n := range s.chunks {
			items = append(items, pyjson.Int(n))
		}
		o.Set("chunks", pyjson.List(items...))
	}
	if s.deflate != 0 {
		o.Set("deflate", pyjson.Int(int64(s.deflate)))
	}
	if s.shuffle {
		o.Set("shuffle", pyjson.Bool(true))
	}
	if s.fletcher32 {
		o.Set("fletcher32", pyjson.Bool(true))
	}
}

// settle takes what is not said from the chunks and codecs that are asked for.
func (s *storage) settle(spec *ndfile.Spec) {
	if s.chunks == nil && spec.Chunks != nil && len(spec.Chunks) == len(spec.Shape) {
		s.chunks = spec.Chunks
	}
}
