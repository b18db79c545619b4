package zarr

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Verify implements [ndfile.Verifier]. It decodes every chunk, and reports what
// is in the folder beside them. A repair removes temporary files, interrupted
// chunks of release 0.4 and chunks outside of the grid, whose values come back
// when release 0.4 makes the array larger. It changes no data and no documents.
//
// A temporary file may belong to a writer that still runs: repair when there is
// none.
func (f format) Verify(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.VerifyOptions, report func(ndfile.Problem)) error {
	v := &verifier{file: &file{store: newStore(f.version, fsys, strings.Clone(path), opt.FollowSymlinks, opt.Limits)}, opt: opt, report: report}
	_, err := v.Open(ctx, fsys, path, &ndfile.OpenOptions{})
	if err == nil {
		err = v.run(ctx)
	}
	v.End()
	if errors.Is(err, errIsGroup) {
		return f.verifyGroup(ctx, fsys, path, opt, report)
	}
	return v.Located(err)
}

// verifyGroup verifies the arrays of a group, one after the other.
func (f format) verifyGroup(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.VerifyOptions, report func(ndfile.Problem)) error {
	g, err := f.openGroup(ctx, fsys, path, ndfile.OpenOptions{Limits: opt.Limits, FollowSymlinks: opt.FollowSymlinks})
	if err != nil {
		return err
	}
	for _, name := range g.names {
		err := f.Verify(ctx, g.fsys, g.path(name), opt, func(p ndfile.Problem) {
			p.Array, p.HasArray = name, true
			report(p)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

type verifier struct {
	*file
	opt        ndfile.VerifyOptions
	report     func(ndfile.Problem)
	present    [][]int64 // chunks within the grid
	staleLocks int
}

func (v *verifier) run(ctx context.Context) (err error) {
	v.meta, err = v.readMeta(ctx)
	if err == nil {
		err = v.checkData()
	}
	if err != nil {
		if ndfile.KindOf(err) == ndfile.ErrFormat { // it is something else
			return err
		}
		return v.damaged(err)
	}
	if v.attrs, err = v.readAttrs(ctx, v.meta); err != nil {
		if err = v.damaged(err); err != nil {
			return err
		}
	}
	if err := ndfile.Locate(v.meta.fillErr, v.path(v.version.meta), "", false); err != nil {
		if err := v.damaged(err); err != nil {
			return err
		}
	}
	if v.array, err = v.newArray(); err != nil {
		return err
	}
	if v.opt.Repair {
		if err := v.Hold(ctx, v.files.FS); err != nil {
			return err
		}
	}
	if err := v.look(); err != nil {
		return err
	}
	return v.checkChunks(ctx)
}

// damaged reports an error in the content of a file and gives back others.
func (v *verifier) damaged(err error) error {
	var e *ndfile.Error
	err = v.Located(err)
	switch ndfile.KindOf(err) {
	case ndfile.ErrCorrupt, ndfile.ErrNotSupported, ndfile.ErrDType, ndfile.ErrLimit:
		errors.As(err, &e)
		p := ndfile.Problem{Path: e.Path, HasArray: true, Kind: ndfile.ErrCorrupt, Offset: e.Offset, Msg: e.Msg}
		if e.Cause != nil {
			p.Msg = strings.TrimPrefix(p.Msg+": "+e.Cause.Error(), ": ")
		}
		v.report(p)
		return nil
	}
	return err
}

// look goes through everything in the folder.
func (v *verifier) look() error {
	if v.version.data != "" {
		entries, err := v.files.ReadDir(v.root)
		for i := 0; err == nil && i < len(entries); i++ {
			if name := entries[i].Name; name != v.version.data {
				err = v.leftover(name, entries[i].Mode)
			}
		}
		if err != nil {
			return err
		}
	}
	index := make([]int64, len(v.meta.shape))
	err := v.eachFile(&v.meta.keys, func(rel string, mode vfs.FileMode) error {
		below := path.Join(v.version.data, rel)
		switch {
		case !v.meta.keys.parse(index, rel):
			return v.leftover(below, mode)
		case v.array.touches(v.meta.shape, index):
			v.present = append(v.present, append([]int64(nil), index...))
			return nil
		}
		return v.harmless(below, mode, fmt.Sprintf("a chunk outside of the grid %v", v.array.chunks.Grid()), true)
	})
	if err == nil && v.staleLocks > 0 {
		v.report(ndfile.Problem{Path: v.Path, HasArray: true, Kind: ndfile.ErrValue, Offset: -1,
			Msg: fmt.Sprintf("%d locks of chunks outside of the grid; they can be deleted while nobody writes", v.staleLocks)})
	}
	return err
}

// leftover reports what is neither chunk nor document.
func (v *verifier) leftover(rel string, mode vfs.FileMode) error {
	base := path.Base(rel)
	_, partial := cutPartial(base)
	switch {
	case rel == v.version.meta, rel == v.version.attrs, rel == vfs.LockName:
		return nil
	case rel == mark:
		return v.harmless(rel, mode, "a migration in place was interrupted: convert in place again to complete it", false)
	case vfs.IsTempName(base):
		return v.harmless(rel, mode, "a temporary file of a writer that was killed or still runs", true)
	case partial && v.version.ours(rel, mode):
		return v.harmless(rel, mode, "a chunk whose writing was interrupted", true)
	case strings.HasSuffix(base, lockSuffix) && v.version.ours(rel, mode): // it is never removed
		index := make([]int64, len(v.meta.shape))
		if v.meta.keys.parse(index, strings.TrimSuffix(base, lockSuffix)) && !v.array.touches(v.meta.shape, index) {
			v.staleLocks++
		}
		return nil
	}
	return v.harmless(rel, mode, "not a part of the array", false)
}

// harmless reports what no reader looks at, and removes it if that is certain to
// do no harm and was asked for.
func (v *verifier) harmless(rel string, mode vfs.FileMode, msg string, remove bool) error {
	p := ndfile.Problem{Path: v.Path + "/" + rel, HasArray: true, Kind: ndfile.ErrValue, Offset: -1, Msg: msg}
	if remove {
		p.Repair = "removes it"
	}
	if remove && v.opt.Repair {
		var err error
		if mode == vfs.Dir {
			err = vfs.RemoveTree(v.files.FS, v.path(rel), nil)
		} else {
			err = v.files.Remove(v.path(rel))
		}
		if err != nil {
			return err
		}
		p.Repaired = true
	}
	v.report(p)
	return nil
}

// checkChunks decodes the chunks that there are.
func (v *verifier) checkChunks(ctx context.Context) error {
	total := int64(len(v.present))
	for i, index := range v.present {
		if p := v.opt.Progress; p != nil && !p(int64(i), total) {
			return ndfile.NewError(ndfile.ErrCanceled, "")
		}
		if err := v.array.chunks.CheckChunk(ctx, index); err != nil {
			if err := v.damaged(err); err != nil {
				return err
			}
		}
	}
	if p := v.opt.Progress; p != nil && !p(total, total) {
		return ndfile.NewError(ndfile.ErrCanceled, "")
	}
	return nil
}
