package ndfile

import (
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Metadata in a sink: one text, collected beside the buffer until everything else has
// its place there. Until then offsets in the infos count from its beginning.

// beginMeta begins the text with the attributes of the file, which attrs appends.
func (s *Sink) beginMeta(attrs func([]byte) []byte) {
	s.meta = append(s.meta[:0], '[')
	if s.First > 0 {
		s.meta = append(s.meta, "null"...)
		return
	}
	s.meta = attrs(s.meta)
}

// wanted is Need with all that Finish adds.
func (s *Sink) wanted() int64 {
	if !s.Meta {
		return s.Need + 1
	}
	return s.Need + int64(len(s.meta)) + 3
}

// placeMeta ends the text and gives it its place.
func (s *Sink) placeMeta() {
	s.meta = append(s.meta, ']')
	s.MetaLen = int64(len(s.meta))
	s.MetaOffset = s.text(s.meta)
	for i := range min(s.N, len(s.Infos)) {
		s.Infos[i].moveMeta(s.MetaOffset)
	}
}

// Move adds n to all places in the info.
func (li *LoadInfo) Move(n int64) {
	li.NameOffset += n
	li.DataOffset += n
	if li.MaskOffset >= 0 {
		li.MaskOffset += n
	}
	if li.OffsetsOffset >= 0 {
		li.OffsetsOffset += n
	}
	if li.DTypeLen > 0 {
		li.DTypeOffset += n
	}
	li.moveMeta(n)
}

func (li *LoadInfo) moveMeta(n int64) {
	if li.MetaLen > 0 {
		li.MetaOffset += n
		li.AttrsOffset += n
	}
	if li.DimsLen > 0 {
		li.DimsOffset += n
	}
	if li.StoredLen > 0 {
		li.StoredOffset += n
	}
}

// AddMeta registers the metadata of the array that was added last. dims appends the
// JSON list of the axes' names, or nothing; attrs appends the attributes. Without
// Meta it does nothing.
func (s *Sink) AddMeta(li *LoadInfo, spec *Spec, dims, attrs func([]byte) []byte) {
	if !s.Meta {
		return
	}
	t := append(s.meta, `, {"attrs": `...)
	start := len(s.meta) + len(", ")
	li.AttrsOffset = int64(len(t))
	t = attrs(t)
	li.AttrsLen = int64(len(t)) - li.AttrsOffset
	const key = `, "dims": `
	at := len(t) + len(key)
	t = dims(append(t, key...))
	if len(t) == at {
		t = t[:at-len(key)]
	} else {
		li.DimsOffset, li.DimsLen = int64(at), int64(len(t)-at)
	}
	t = s.appendStored(t, li, spec.DType)
	if spec.Chunks != nil {
		li.Flags |= InfoChunked
		t = appendExtents(append(t, `, "chunks": `...), spec.Chunks)
	}
	if spec.Shards != nil {
		t = appendExtents(append(t, `, "shards": `...), spec.Shards)
	}
	if c, ok := spec.Compression(); ok {
		t = pyjson.AppendString(append(t, `, "compression": [`...), c.Codec)
		t = strconv.AppendInt(append(t, ", "...), int64(c.Level), 10)
		t = append(strconv.AppendInt(append(t, ", "...), int64(c.Shuffle), 10), ']')
	}
	if spec.Fill != nil {
		li.Flags |= InfoFill
	}
	s.meta = append(t, '}')
	li.MetaOffset, li.MetaLen = int64(start), int64(len(s.meta)-start)
}

// appendStored appends the stored dtype where it is not that of the info.
func (s *Sink) appendStored(t []byte, li *LoadInfo, d ndarray.DType) []byte {
	if d.Equal(d.Native()) {
		return t
	}
	t = append(t, `, "dtype": `...)
	at := len(t) + 1
	t = pyjson.AppendString(t, d.String())
	li.StoredOffset, li.StoredLen = int64(at), int64(len(t)-1-at)
	return t
}

func appendExtents(t []byte, extents []int64) []byte {
	t = append(t, '[')
	for i, n := range extents {
		if i > 0 {
			t = append(t, ", "...)
		}
		t = strconv.AppendInt(t, n, 10)
	}
	return append(t, ']')
}
