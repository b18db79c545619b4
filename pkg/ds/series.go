package ds

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Small files of plain numbers often come in series: the next one has the same
// header as the one before. Then all that was found out stands but the elements.

// Bounds of what a series keeps.
const (
	seriesHead   = 8 << 10 // bytes before the body
	seriesArrays = 32
)

// loadSeries is what a load has found out. It is good for a file of the same size
// with the same header, byte for byte, of which the same is wanted.
type loadSeries struct {
	head   []byte // all before the body; empty: nothing is known
	size   int    // of the file
	limits ndfile.Limits
	one    bool // as in the sink
	meta   bool
	name   []byte

	infos  []ndfile.LoadInfo
	names  []byte // of the arrays, a NUL after each
	text   []byte // the metadata and a NUL
	textAt int64
	from   []int64 // where the elements of each begin in the file
	need   int64
	total  int
	number uint64
}

// lastSeries is the number of the newest series of this process.
var lastSeries atomic.Uint64

// replay fills the sink from a file of the series; it reports whether it is one.
func (s *loadSeries) replay(file []byte, sink *ndfile.Sink) bool {
	if len(s.head) == 0 || len(file) != s.size || !bytes.HasPrefix(file, s.head) || sink.Limits != s.limits ||
		!sink.Plain() || sink.One != s.one || sink.Meta != s.meta || sink.Name != string(s.name) || len(sink.Infos) < len(s.infos) || int64(len(sink.Buf)) < s.need {
		return false
	}
	names := s.names
	for i := range s.infos {
		known, li := &s.infos[i], &sink.Infos[i]
		size := li.StructSize
		*li = *known
		li.StructSize = size
		n := copy(sink.Buf[known.NameOffset:], names[:known.NameLen+1])
		names = names[n:]
		copy(sink.Buf[known.DataOffset:known.DataOffset+known.DataLen], file[s.from[i]:])
	}
	if s.meta {
		sink.MetaOffset, sink.MetaLen = s.textAt, int64(len(s.text)-1)
		copy(sink.Buf[s.textAt:], s.text)
	}
	sink.N, sink.Total, sink.Need, sink.Series = len(s.infos), s.total, s.need, s.number
	return true
}

// record begins a new series with a file that has just been loaded, if the header
// alone tells where all elements are, and if they need no decoding.
func (s *loadSeries) record(file []byte, h *header, sink *ndfile.Sink) {
	s.head = s.head[:0]
	if !sink.Plain() || h.body > seriesHead || sink.N > seriesArrays || h.legacy || h.reachesPastEnd() {
		return
	}
	s.infos, s.names, s.from = s.infos[:0], s.names[:0], s.from[:0]
	for i := range h.vars {
		v := &h.vars[i]
		if !sink.Wants(v.name) {
			continue
		}
		if v.masked || v.noData || v.code >= boolCode || v.dtype().Swapped() {
			return
		}
		li := sink.Infos[len(s.infos)]
		clear(li.Shape[li.NDim:]) // whatever the caller had there
		s.infos = append(s.infos, li)
		s.names = append(append(s.names, v.name...), 0)
		s.from = append(s.from, h.body+v.at)
	}
	s.size, s.limits, s.one, s.name = len(file), sink.Limits, sink.One, append(s.name[:0], sink.Name...)
	s.need, s.total, s.number, s.meta = sink.Need, sink.Total, lastSeries.Add(1), sink.Meta
	if s.meta {
		s.textAt = sink.MetaOffset
		s.text = append(s.text[:0], sink.Buf[s.textAt:s.textAt+sink.MetaLen+1]...)
	}
	s.head = append(s.head, file[:h.body]...)
	sink.Series = s.number
}

// saveSeries is what a save has made. It is good for arrays of the same names,
// dtypes and shapes.
type saveSeries struct {
	head  []byte // all before the body; empty: nothing is known
	items []plainItem
	order []int32 // of the items in the file
}

type plainItem struct {
	name  []byte
	dtype ndarray.DType
	shape []int64
	size  int64 // bytes
}

// isPlain reports whether an item is nothing but a name and elements without gaps.
func isPlain(it *ndfile.Item) bool {
	return it.Mask == nil && it.Dims == nil && it.Attrs == nil && it.Extra == nil && it.Data.Strides == nil && it.Data.Offset >= 0
}

// replay appends a file of the series to dst, which has room; nil when it is none.
func (s *saveSeries) replay(dst []byte, items []ndfile.Item, attrs *ndfile.Attrs) []byte {
	if len(s.head) == 0 || len(items) != len(s.items) || attrs.Len() > 0 {
		return nil
	}
	for i := range items {
		it, known := &items[i], &s.items[i]
		if it.Name != string(known.name) || !isPlain(it) || !it.Data.DType.Equal(known.dtype) ||
			!slices.Equal(it.Data.Shape, known.shape) || int64(len(it.Data.Data))-it.Data.Offset < known.size {
			return nil
		}
	}
	dst = append(dst, s.head...)
	for _, i := range s.order {
		d := &items[i].Data
		dst = append(dst, d.Data[d.Offset:d.Offset+s.items[i].size]...)
	}
	return dst
}

// record begins a new series with the items of a file that has been saved in one
// piece, if their elements were stored as they are.
func (s *saveSeries) record(items []ndfile.Item, attrs *ndfile.Attrs, by *saver) {
	s.head = s.head[:0]
	if len(by.header) > seriesHead || len(items) > seriesArrays || attrs.Len() > 0 {
		return
	}
	for i := range by.vars {
		v := &by.vars[i]
		if it := &items[v.item]; v.noData || v.code >= boolCode || !isPlain(it) || !v.entry.dtype().Equal(it.Data.DType) {
			return
		}
	}
	s.items, s.order = slices.Grow(s.items[:0], len(items))[:len(items)], s.order[:0]
	for i := range by.vars {
		v := &by.vars[i]
		known := &s.items[v.item]
		known.name, known.shape = append(known.name[:0], v.name...), append(known.shape[:0], v.shape...)
		known.dtype, known.size = v.entry.dtype(), v.length
		s.order = append(s.order, v.item)
	}
	s.head = append(s.head, by.header...)
}
