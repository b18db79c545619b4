package bcolz

import (
	"context"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Split implements [ndfile.Splitter]. Each part appears whole or not at all, when
// all of them are complete; a failure in the end can leave the first ones.
func (format) Split(ctx context.Context, fsys ndfile.FS, src string, parts []ndfile.Part, opt ndfile.SplitOptions) error {
	s, err := openSource(ctx, fsys, src, opt)
	if err != nil {
		return err
	}
	defer s.Abort()
	if err := s.checkParts(parts); err != nil {
		return s.Located(err)
	}
	var made []*file
	defer func() {
		for _, m := range made {
			m.Folder.Abort() // does nothing after Commit
		}
	}()
	first := int64(0)
	for _, p := range parts {
		if err := apart(fsys, p.Path, s, opt); err != nil {
			return err
		}
		m, err := newPart(ctx, fsys, p.Path, opt)
		if err != nil {
			return err
		}
		made = append(made, m)
		if err := m.join(ctx, []span{{s, first, p.Rows}}); err != nil {
			return err
		}
		first += p.Rows
	}
	for _, m := range made {
		if err := m.Folder.Commit(); err != nil {
			return m.Located(err)
		}
	}
	return nil
}

// Concat implements [ndfile.Splitter].
func (format) Concat(ctx context.Context, fsys ndfile.FS, srcs []string, dst string, opt ndfile.SplitOptions) error {
	if len(srcs) == 0 {
		return ndfile.NewError(ndfile.ErrArgument, "nothing to join")
	}
	var spans []span
	for i, src := range srcs {
		s, err := openSource(ctx, fsys, src, opt)
		if err != nil {
			return err
		}
		defer s.Abort()
		spans = append(spans, span{s, 0, s.rows})
		if err := s.like(spans[0].file); err != nil {
			return s.Located(err)
		}
		if i < len(srcs)-1 {
			if err := s.checkCut(s.rows); err != nil {
				return s.Located(err)
			}
		}
		if err := apart(fsys, dst, s, opt); err != nil {
			return err
		}
	}
	m, err := newPart(ctx, fsys, dst, opt)
	if err != nil {
		return err
	}
	defer m.Folder.Abort() // does nothing after Commit
	if err := m.join(ctx, spans); err != nil {
		return err
	}
	return m.located(m.Folder.Commit(), nil)
}

// openSource opens a root with all of its columns.
func openSource(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.SplitOptions) (*file, error) {
	opened, err := Format.Open(ctx, fsys, path, ndfile.OpenOptions{Limits: opt.Limits, FollowSymlinks: opt.FollowSymlinks})
	if err != nil {
		return nil, err
	}
	f := opened.(*file)
	for _, c := range f.columns {
		if _, err := f.Array(c.name); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// apart refuses to write a part over what it is made of.
func apart(fsys ndfile.FS, dst string, src *file, opt ndfile.SplitOptions) error {
	to, err := fsys.Stat(dst)
	if err != nil || opt.Exclusive {
		return nil // nothing is there, or nothing may be
	}
	from, err := fsys.Stat(src.Path)
	if err == nil && from.Ino == to.Ino && from.Dev == to.Dev {
		err = ndfile.NewError(ndfile.ErrArgument, "the new store is the one that it is made of")
	}
	return ndfile.Locate(err, dst, "", false)
}

// checkParts checks that parts end between chunks and hold all rows.
func (f *file) checkParts(parts []ndfile.Part) error {
	end := int64(0)
	for i, p := range parts {
		if p.Rows < 0 || p.Rows > f.rows-end {
			return ndfile.NewError(ndfile.ErrShape, "the parts have other numbers of rows than the "+decimal(f.rows)+" of the store together")
		}
		end += p.Rows
		if i < len(parts)-1 {
			if err := f.checkCut(end); err != nil {
				return err
			}
		}
	}
	if end != f.rows {
		return ndfile.NewError(ndfile.ErrShape, "the parts have "+decimal(end)+" rows together, the store has "+decimal(f.rows))
	}
	return nil
}

// checkCut checks that a row is the first of a chunk in every column.
func (f *file) checkCut(row int64) error {
	common := int64(1) // of the lengths of chunks
	for _, c := range f.columns {
		common = commonMultiple(common, c.storage.chunklen, f.rows)
	}
	if row%common == 0 {
		return nil
	}
	before := row - row%common
	msg := "row " + decimal(row) + " is not between chunks; nearest are row " + decimal(before)
	if common <= f.rows-before {
		msg += " and row " + decimal(before+common)
	}
	return ndfile.NewError(ndfile.ErrShape, msg)
}

// commonMultiple is the least common multiple of a and b or, where that is more
// than most, something above most.
func commonMultiple(a, b, most int64) int64 {
	g, r := a, b
	for r != 0 {
		g, r = r, g%r
	}
	if a > most || b/g > most/a {
		return most + 1
	}
	return a / g * b
}

// like checks that another root can be joined with one.
func (f *file) like(first *file) error {
	if f.kind != first.kind || !slices.Equal(f.names(), first.names()) {
		return ndfile.NewError(ndfile.ErrShape, "other columns than in "+first.Path)
	}
	for i, c := range f.columns {
		a, b := &first.columns[i].spec, &c.spec
		switch {
		case !a.DType.Equal(b.DType):
			return c.located(ndfile.NewError(ndfile.ErrDType, "dtype "+b.DType.String()+", in "+first.Path+" it is "+a.DType.String()))
		case !slices.Equal(a.Chunks, b.Chunks): // the shape of rows included
			return c.located(ndfile.NewError(ndfile.ErrShape, "other chunks or rows than in "+first.Path))
		}
	}
	return nil
}

// span is consecutive rows of a root, which begin with a chunk.
type span struct {
	*file
	first, rows int64
}
