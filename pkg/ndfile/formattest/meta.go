package formattest

import (
	"fmt"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// checkDescription loads what describes an open file, in one piece and array by array,
// and compares it with what the arrays say themselves.
func checkDescription(f ndfile.File) error {
	names := f.Names()
	whole, err := describeFrom(f, 0, len(names))
	if err != nil {
		return err
	}
	if whole.N != len(names) || whole.Total != len(names) {
		return fmt.Errorf("described are %d arrays of %d, expected %d", whole.N, whole.Total, len(names))
	}
	texts, err := ndfile.ParseValue(whole.Buf[whole.MetaOffset : whole.MetaOffset+whole.MetaLen])
	if err != nil {
		return fmt.Errorf("the metadata: %v", err)
	}
	items := texts.Items()
	if len(items) != len(names)+1 {
		return fmt.Errorf("the metadata have %d items, expected %d", len(items), len(names)+1)
	}
	if got, want := items[0].Object(), f.Attrs(); want.Len() > 0 && string(ndfile.AppendJSON(nil, got)) != string(ndfile.AppendJSON(nil, want)) {
		return fmt.Errorf("attributes of the file: %s, expected %s", ndfile.AppendJSON(nil, got), ndfile.AppendJSON(nil, want))
	}
	if err := checkAhead(f, whole); err != nil {
		return err
	}
	for i, name := range names {
		if err := describes(f, whole, i, items[i+1]); err != nil {
			return fmt.Errorf("description of %q: %v", name, err)
		}
		part, err := describeFrom(f, i, 1)
		if err != nil {
			return fmt.Errorf("array %d alone: %w", i, err)
		}
		a, b := &part.Infos[0], &whole.Infos[i]
		if part.N != 1 || field(part, a.NameOffset, a.NameLen) != name || field(part, a.MetaOffset, a.MetaLen) != field(whole, b.MetaOffset, b.MetaLen) {
			return fmt.Errorf("array %d alone is %q: %s", i, field(part, a.NameOffset, a.NameLen), field(part, a.MetaOffset, a.MetaLen))
		}
	}
	return nil
}

// checkAhead compares what is at hand of an open file with the description of all of it.
func checkAhead(f ndfile.File, whole *ndfile.Sink) error {
	s := &ndfile.Sink{}
	s.Want(make([]byte, len(whole.Buf)), make([]ndfile.LoadInfo, whole.N), ndfile.Limits{})
	s.Meta = true
	ndfile.LoadAhead(ctx, f, s)
	for i := range s.N {
		a, b := &s.Infos[i], &whole.Infos[i]
		if field(s, a.NameOffset, a.NameLen) != field(whole, b.NameOffset, b.NameLen) || field(s, a.MetaOffset, a.MetaLen) != field(whole, b.MetaOffset, b.MetaLen) {
			return fmt.Errorf("array %d at hand is %q: %s", i, field(s, a.NameOffset, a.NameLen), field(s, a.MetaOffset, a.MetaLen))
		}
		if l := f.(ndfile.Loader); (a.DataOffset < 0) == l.Whole() && s.N == whole.N {
			return fmt.Errorf("array %d at hand: elements at %d, the whole file in memory: %v", i, a.DataOffset, l.Whole())
		}
	}
	return nil
}

// describeFrom describes n arrays from first on.
func describeFrom(f ndfile.File, first, n int) (*ndfile.Sink, error) {
	s := &ndfile.Sink{}
	for len(s.Buf) < 1<<26 {
		s.Want(make([]byte, 2*len(s.Buf)+1024), make([]ndfile.LoadInfo, n), ndfile.Limits{})
		s.Meta, s.Bare, s.Some, s.First = true, true, true, first
		err := ndfile.LoadFile(ctx, f, s)
		if err == nil && s.N == n {
			return s, nil
		}
		if err != nil && ndfile.KindOf(err) != ndfile.ErrBuffer {
			return nil, err
		}
	}
	return nil, fmt.Errorf("only %d of %d arrays from %d on", s.N, n, first)
}

func field(s *ndfile.Sink, off, n int64) string { return string(s.Buf[off : off+n]) }

// describes compares info i and its metadata with the array.
func describes(f ndfile.File, s *ndfile.Sink, i int, meta ndfile.Value) error {
	a, err := f.Array(f.Names()[i])
	if err != nil {
		return err
	}
	spec, li := a.Spec(), &s.Infos[i]
	attrs := field(s, li.AttrsOffset, li.AttrsLen)
	if parsed, err := ndfile.ParseJSON([]byte(attrs)); err != nil || string(ndfile.AppendJSON(nil, parsed)) != string(ndfile.AppendJSON(nil, a.Attrs())) {
		return fmt.Errorf("attributes %s, expected %s (%v)", attrs, ndfile.AppendJSON(nil, a.Attrs()), err)
	}
	dims, err := ndfile.ParseDims([]byte("null"))
	if li.DimsLen > 0 {
		dims, err = ndfile.ParseDims([]byte(field(s, li.DimsOffset, li.DimsLen)))
	}
	if err != nil || !slices.Equal(dims, spec.Dims) || (dims == nil) != (spec.Dims == nil) {
		return fmt.Errorf("dims %q, expected %q (%v)", dims, spec.Dims, err)
	}
	if li.StoredLen > 0 != !spec.DType.Equal(spec.DType.Native()) {
		return fmt.Errorf("stored dtype %q, expected %q", field(s, li.StoredOffset, li.StoredLen), spec.DType)
	}
	if stored, ok := meta.Object().Get("dtype"); ok {
		text, _ := stored.Str()
		if d, err := ndarray.Parse(text); err != nil || !d.Equal(spec.DType) {
			return fmt.Errorf("stored dtype %q, expected %q", text, spec.DType)
		}
	}
	if _, ok := meta.Object().Get("chunks"); ok != (spec.Chunks != nil) || ok != (li.Flags&ndfile.InfoChunked != 0) {
		return fmt.Errorf("chunks: %v in the metadata, expected %v", ok, spec.Chunks)
	}
	if !spec.NoData && (int(li.NDim) != len(spec.Shape) || !slices.Equal(li.Shape[:li.NDim], spec.Shape)) {
		return fmt.Errorf("shape %v, expected %v", li.Shape[:li.NDim], spec.Shape)
	}
	return nil
}
