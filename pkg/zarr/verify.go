package zarr

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/aside"
	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/findings"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Verify implements [ndfile.Verifier]. It decodes every chunk, and reports what
// is in the folder beside them. A repair moves aside temporary files, interrupted
// chunks of release 0.4, and chunks outside of the grid that are known to be
// leftovers. It changes no data and no documents.
//
// A temporary file may belong to a writer that still runs: repair when there is
// none.
func (f format) Verify(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.VerifyOptions, report func(ndfile.Problem)) error {
	path = strings.Clone(path)
	found := &findings.List{FS: fsys, Store: strings.TrimRight(path, "/"), Repair: opt.Repair}
	v := f.verifier(fsys, path, opt, found)
	err := v.open(ctx, fsys)
	if err == nil {
		err = v.run(ctx)
	}
	if errors.Is(err, errIsGroup) {
		v.End()
		return f.verifyGroup(ctx, fsys, path, opt, found, report)
	}
	defer v.End()
	if err == nil {
		found.Report(report)
	}
	return v.Located(err)
}

// verifier makes the verifier of an array.
func (f format) verifier(fsys ndfile.FS, path string, opt ndfile.VerifyOptions, found *findings.List) *verifier {
	return &verifier{file: &file{store: newStore(f.version, fsys, path, opt.FollowSymlinks, opt.Limits)}, opt: opt, found: found}
}

func (v *verifier) open(ctx context.Context, fsys ndfile.FS) error {
	_, err := v.Open(ctx, fsys, v.root, &ndfile.OpenOptions{})
	return err
}

type verifier struct {
	*file
	opt        ndfile.VerifyOptions
	found      *findings.List
	name       string    // in a group
	noArray    bool      // it is about a document of a group
	present    [][]int64 // chunks within the grid
	outside    [][]int64 // chunks that are not
	staleLocks int
}

func (v *verifier) run(ctx context.Context) (err error) {
	v.meta, err = v.readMeta(ctx)
	if err == nil && v.opt.Repair {
		if err := v.Hold(ctx, v.files.FS, 0); err != nil {
			return err
		}
		v.meta, err = v.readMeta(ctx) // a writer may just have ended
	}
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
	if err := v.look(); err != nil {
		return err
	}
	if err := v.checkChunks(ctx); err != nil {
		return err
	}
	return v.checkOutside(ctx)
}

// damaged reports an error in the content of a file and gives back others: what is
// beyond a limit is not known to be damaged, and the limit can be raised.
func (v *verifier) damaged(err error) error {
	var e *ndfile.Error
	err = v.Located(err)
	switch ndfile.KindOf(err) {
	case ndfile.ErrCorrupt, ndfile.ErrNotSupported, ndfile.ErrDType:
		errors.As(err, &e)
		p := ndfile.Problem{Path: e.Path, HasArray: true, Kind: ndfile.ErrCorrupt, Offset: e.Offset, Msg: e.Msg}
		if e.Cause != nil {
			p.Msg = strings.TrimPrefix(p.Msg+": "+e.Cause.Error(), ": ")
		}
		v.add(p, nil)
		return nil
	}
	return err
}

// add adds a problem, with the name that the array has in a group.
func (v *verifier) add(p ndfile.Problem, repair *findings.Repair) {
	p.Array, p.HasArray = v.name, !v.noArray
	v.found.Add(p, repair)
}

// look goes through everything in the folder.
func (v *verifier) look() error {
	if v.version.data != "" {
		entries, err := v.files.ReadDir(v.root)
		for i := 0; err == nil && i < len(entries); i++ {
			if name := entries[i].Name; name != v.version.data {
				v.leftover(name, entries[i].Mode)
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
			v.leftover(below, mode)
		case v.array.touches(v.meta.shape, index):
			v.present = append(v.present, slices.Clone(index))
		case mode == vfs.Dir:
			v.harmless(below, ndfile.Foreign, "not a part of the array", false)
		default:
			v.outside = append(v.outside, slices.Clone(index))
		}
		return nil
	})
	if err == nil && v.staleLocks > 0 {
		v.add(ndfile.Problem{Path: v.Path, HasArray: true, Class: ndfile.Stale, Kind: ndfile.ErrValue, Offset: -1,
			Msg: fmt.Sprintf("%d locks of chunks outside of the grid; they can be deleted while nobody writes", v.staleLocks)}, nil)
	}
	return err
}

// leftover reports what is neither chunk nor document.
func (v *verifier) leftover(rel string, mode vfs.FileMode) {
	base := path.Base(rel)
	_, partial := cutPartial(base)
	switch {
	case rel == v.version.meta, rel == v.version.attrs, rel == vfs.LockName:
	case rel == mark, rel == mark2:
		v.harmless(rel, ndfile.Stale, "a migration in place was interrupted: convert in place again to complete it", false)
	case vfs.IsTempName(base):
		v.harmless(rel, ndfile.Stale, "a temporary file of a writer that was killed or still runs", true)
	case partial && v.version.ours(rel, mode):
		v.harmless(rel, ndfile.Stale, "a chunk whose writing was interrupted", true)
	case strings.HasSuffix(base, lockSuffix) && v.version.ours(rel, mode): // it is never removed
		index := make([]int64, len(v.meta.shape))
		if v.meta.keys.parse(index, strings.TrimSuffix(base, lockSuffix)) && !v.array.touches(v.meta.shape, index) {
			v.staleLocks++
		}
	default:
		v.harmless(rel, ndfile.Foreign, "not a part of the array", false)
	}
}

// harmless adds what no reader looks at; a repair moves it aside if that is
// certain to do no harm.
func (v *verifier) harmless(rel string, class ndfile.Class, msg string, move bool) {
	p := ndfile.Problem{Path: v.Path + "/" + rel, HasArray: true, Class: class, Kind: ndfile.ErrValue, Offset: -1, Msg: msg}
	if !move {
		v.add(p, nil)
		return
	}
	v.add(p, v.found.Plan("move it aside", aside.Step{Path: strings.TrimRight(v.root, "/") + "/" + rel}))
}

// checkOutside tells leftovers among the chunks outside of the grid from those
// that are there because the shape is damaged. An append that was stopped leaves
// chunks there, and so does an array that was made smaller, when that was stopped,
// or when release 0.4 did it: nothing would be lost with them. But so does a shape
// that has lost a digit; unless the writer has noted what it was about to do, or the chunks that the shape
// cuts are cleared behind it, which only a writer does that goes on to remove the
// others, nothing tells one from the other. The times of files do not: copying a store sets them anew.
func (v *verifier) checkOutside(ctx context.Context) error {
	if len(v.outside) == 0 {
		return nil
	}
	cleared, err := v.cleared(ctx)
	if err != nil {
		return err
	}
	var left []int64
	if v.array.parts == nil {
		left = v.leftBehind(edit.IntendedIn(v.files.FS, v.root))
	}
	for _, index := range v.outside {
		rel := path.Join(v.version.data, string(v.meta.keys.append(nil, index)))
		where := fmt.Sprintf("a chunk outside of the grid %v", v.array.grid())
		stale, why := cleared, ": left when the array was made smaller"
		if left != nil && v.array.touches(left, index) {
			stale, why = true, ": of a change of the shape that a writer, which was killed or still runs, has not brought to its end; nothing that was counted is in it"
		}
		if !stale {
			why = ", with nothing in it"
			if stale, err = v.holdsNothing(ctx, index); err != nil {
				return err
			}
		}
		if stale {
			v.harmless(rel, ndfile.Stale, where+why, true)
			continue
		}
		v.add(ndfile.Problem{Path: v.Path + "/" + rel, HasArray: true, Kind: ndfile.ErrLoss, Offset: -1,
			Msg: where + ", with data: either the shape in " + v.version.meta + " is damaged, and has to be corrected, or an append was stopped, or the array was made smaller by a program that leaves such chunks: then the next append moves them aside"}, nil)
	}
	return nil
}

// cleared tells whether there are chunks that the shape cuts, and all of them
// hold nothing but fill values behind it.
func (v *verifier) cleared(ctx context.Context) (bool, error) {
	if v.array.parts != nil {
		return false, nil // nothing here makes such an array smaller
	}
	found := false
	for _, index := range v.present {
		if v.array.fills(v.meta.shape, index) {
			continue
		}
		clear, err := v.array.chunks.Cleared(ctx, index, v.meta.shape)
		if err != nil || !clear {
			return false, unlessDamaged(err)
		}
		found = true
	}
	return found, nil
}

// holdsNothing tells whether a chunk outside of the grid cannot be decoded or
// has fill values only.
func (v *verifier) holdsNothing(ctx context.Context, index []int64) (bool, error) {
	if v.array.parts != nil {
		return false, nil // what shape it has is unknown
	}
	end := make([]int64, len(index))
	for axis, i := range index {
		var ok bool
		if end[axis], ok = ndarray.Mul(i+1, v.meta.chunks[axis]); !ok {
			return true, nil // no array has it
		}
	}
	a, err := v.array.withShape(end)
	if err != nil {
		return true, nil
	}
	clear, err := a.chunks.Cleared(ctx, index, make([]int64, len(index)))
	if err != nil {
		return unlessDamaged(err) == nil, unlessDamaged(err)
	}
	return clear, nil
}

// unlessDamaged drops the errors that say something about a file.
func unlessDamaged(err error) error {
	switch ndfile.KindOf(err) {
	case ndfile.ErrCorrupt, ndfile.ErrNotSupported:
		return nil
	}
	return err
}

// checkChunks decodes the chunks that there are.
func (v *verifier) checkChunks(ctx context.Context) error {
	total := int64(len(v.present))
	for i, index := range v.present {
		if p := v.opt.Progress; p != nil && !p(int64(i), total) {
			return ndfile.NewError(ndfile.ErrCanceled, "")
		}
		if err := v.array.checkChunk(ctx, index); err != nil {
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
