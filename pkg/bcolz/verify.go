package bcolz

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Verify implements [ndfile.Verifier]. It checks metadata, that all chunks are
// there and can be decoded, that columns have one length, and what else lies in
// the folders. A repair removes chunk files that nobody counts, files with
// temporary names, and rows that not all columns have. It takes the lock of a
// writer; it must not run beside programs that take none.
func (format) Verify(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.VerifyOptions, report func(ndfile.Problem)) error {
	f := &file{disk: newDisk(fsys, opt.FollowSymlinks, opt.Limits), kind: ndfile.Table}
	_, err := f.Open(ctx, fsys, trimRoot(path), &ndfile.OpenOptions{})
	if err == nil {
		v := &verifier{file: f, opt: opt, report: report}
		err = v.run(ctx)
	}
	f.End()
	return f.Located(err)
}

// verifier is one call of Verify.
type verifier struct {
	*file
	opt    ndfile.VerifyOptions
	report func(ndfile.Problem)
	jobs   []job
	failed bool // something is wrong with metadata: the root cannot be opened for changes
}

// job is a chunk to be checked.
type job struct {
	*column
	k int64
}

func (v *verifier) run(ctx context.Context) error {
	p := prober{fsys: v.disk.FS}
	if !p.isFolder(v.Root) {
		if p.err == nil {
			p.err = ndfile.NewError(ndfile.ErrFormat, "expected a folder, found a file")
		}
		return p.err
	}
	if v.opt.Repair {
		if err := v.Hold(ctx, v.disk.FS); err != nil {
			return err
		}
	}
	if p.has(v.Root + "/" + rootdirsFile) {
		v.checkTable(ctx)
	} else if err := v.checkCarray(ctx); err != nil {
		return err
	}
	if err := v.checkChunks(ctx); err != nil {
		return err
	}
	return v.checkLengths(ctx)
}

// checkCarray fails for folders that are no carray at all.
func (v *verifier) checkCarray(ctx context.Context) error {
	v.kind = ndfile.Single
	c := &column{file: v.file, dir: v.Root}
	if err := c.readSizes(ctx); err != nil {
		err = v.explain(err)
		if ndfile.KindOf(err) == ndfile.ErrFormat || ndfile.KindOf(err) == ndfile.ErrNotFound {
			return err
		}
		if ndfile.KindOf(err) == ndfile.ErrNotSupported {
			v.bad(err, nil)
			return nil
		}
	}
	v.checkColumn(ctx, c)
	return nil
}

func (v *verifier) checkTable(ctx context.Context) {
	path := v.Root + "/" + rootdirsFile
	doc, err := v.disk.document(ctx, path)
	var names []string
	if err == nil {
		names, err = parseRootdirs(doc)
	}
	if err != nil {
		v.bad(ndfile.Locate(err, path, "", false), nil)
	}
	if _, err := v.disk.attributes(ctx, v.Root); err != nil {
		v.bad(err, nil)
	}
	for _, e := range v.listed(nil, v.Root, names...) {
		if e.Mode != vfs.Dir || slices.Contains(names, e.Name) || vfs.IsTempName(e.Name) {
			continue
		}
		c := &column{file: v.file, name: e.Name, dir: v.Root + "/" + e.Name}
		if p := (prober{fsys: v.disk.FS}); !p.has(c.dir+"/"+metaFolder) && !p.has(c.dir+"/"+dataFolder) {
			continue
		}
		if err != nil {
			names = append(names, e.Name) // the list is lost, what there is can be checked
			continue
		}
		v.tell(c.dir, c, ndfile.ErrValue, "a folder like that of a column, which "+rootdirsFile+" does not list: its addition or removal was interrupted", "", nil)
	}
	for _, name := range names {
		c := &column{file: v.file, name: name, dir: v.Root + "/" + name}
		if err := v.disk.Expect(c.dir, vfs.Dir); err != nil {
			v.bad(missing(err, c.dir), c)
			continue
		}
		v.listed(c, c.dir)
		v.checkColumn(ctx, c)
	}
}

// checkColumn checks the metadata of a column and what is in its folders, and
// lists its chunks.
func (v *verifier) checkColumn(ctx context.Context, c *column) {
	if v.kind == ndfile.Single {
		v.listed(c, c.dir)
	}
	v.listed(c, c.dir+"/"+metaFolder)
	entries := v.listed(c, c.dir+"/"+dataFolder)
	var err error
	if c.attrs, err = v.disk.attributes(ctx, c.dir); err != nil {
		v.bad(err, c)
		c.attrs = newAttributes(nil)
	}
	if err := c.readSizes(ctx); err != nil {
		v.bad(err, c)
		doc, err := v.disk.document(ctx, c.dir+"/"+storageFile)
		if err == nil {
			_, err = parseStorage(doc)
		}
		if err != nil {
			v.bad(ndfile.Locate(err, c.dir+"/"+storageFile, "", false), c)
		}
		return
	}
	if err := c.load(ctx, c.sizes.shape[0]); err != nil {
		v.bad(err, c)
		return
	}
	v.columns = append(v.columns, c)
	v.listChunks(c, entries)
}

// listChunks compares the chunk files that there are with those that there should
// be.
func (v *verifier) listChunks(c *column, entries []vfs.DirEntry) {
	need := c.chunks.Grid()[0]
	var there []int64
	for _, e := range entries {
		k, ok := chunkNumber(e.Name)
		switch {
		case !ok:
		case k < need:
			there = append(there, k)
		case e.Mode != vfs.Dir:
			path := chunkPath(c.dir, k)
			v.tell(path, c, ndfile.ErrValue, "a chunk behind the last row, which is in chunk "+decimal(need-1)+": left by a trim, or by an append that was not flushed", "remove it",
				func() error { return v.disk.Remove(path) })
		}
	}
	slices.Sort(there)
	next := int64(0)
	for _, k := range append(there, need) {
		if k > next {
			msg := "the chunk is missing"
			if k > next+1 {
				msg = "the chunks " + decimal(next) + " to " + decimal(k-1) + " are missing"
			}
			v.tell(chunkPath(c.dir, next), c, ndfile.ErrCorrupt, msg, "", nil)
		}
		if next = k + 1; k < need {
			v.jobs = append(v.jobs, job{c, k})
		}
	}
}

// checkChunks decodes all chunks.
func (v *verifier) checkChunks(ctx context.Context) error {
	var mu sync.Mutex
	errs := map[int64]error{}
	err := ndfile.Parallel{Progress: v.opt.Progress}.Each(ctx, int64(len(v.jobs)), func(ctx context.Context, _ int, i int64) {
		j := v.jobs[i]
		index := make([]int64, len(j.chunks.Chunks))
		index[0] = j.k
		if err := j.chunks.CheckChunk(ctx, index); err != nil {
			mu.Lock()
			defer mu.Unlock()
			errs[i] = err
		}
	})
	if err != nil {
		return err
	}
	for i, j := range v.jobs {
		if err := errs[int64(i)]; err != nil {
			if ndfile.KindOf(err) == ndfile.ErrCanceled {
				return err
			}
			v.problem(ndfile.Locate(err, chunkPath(j.dir, j.k), "", false), j.column)
		}
	}
	return nil
}

// checkLengths looks for columns that are longer than the shortest. Opening the
// table for changes cuts them.
func (v *verifier) checkLengths(ctx context.Context) error {
	if len(v.columns) == 0 {
		return nil
	}
	rows := slices.MinFunc(v.columns, func(a, b *column) int { return cmp.Compare(a.rows(), b.rows()) }).rows()
	var cut error
	done := false
	for _, c := range v.columns {
		if c.rows() == rows {
			continue
		}
		repair := ""
		if !v.failed {
			repair = "cut it to " + decimal(rows) + " rows"
		}
		v.tell(c.dir+"/"+sizesFile, c, ndfile.ErrLoss, decimal(c.rows())+" rows, but the table has "+decimal(rows)+", as its shortest column: an append was interrupted", repair, func() error {
			if !done {
				done, cut = true, v.cutAll(ctx)
			}
			return cut
		})
	}
	return nil
}

func (v *verifier) cutAll(ctx context.Context) error {
	f := &file{disk: v.disk, kind: ndfile.Table}
	f.Borrow(&v.Session)
	if err := f.open(ctx); err != nil {
		return err
	}
	return f.Close(ctx)
}

// listed lists a folder, if it is there, and reports what has a temporary name.
// known are names that are none, whatever they look like.
func (v *verifier) listed(c *column, dir string, known ...string) []vfs.DirEntry {
	var entries []vfs.DirEntry
	var err error
	if dir != v.Root {
		err = v.disk.Expect(dir, vfs.Dir) // a repair must not reach outside
	}
	if err == nil {
		entries, err = v.disk.ReadDir(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.bad(err, c)
	}
	for _, e := range entries {
		if !vfs.IsTempName(e.Name) || slices.Contains(known, e.Name) {
			continue
		}
		path := dir + "/" + e.Name
		v.tell(path, c, ndfile.ErrValue, "left by a writer, if none is at work now", "remove it", func() error {
			if e.Mode == vfs.Dir {
				return vfs.RemoveTree(v.disk.FS, path, nil)
			}
			return v.disk.Remove(path)
		})
	}
	return entries
}

// bad reports an error of metadata.
func (v *verifier) bad(err error, c *column) {
	v.failed = true
	v.problem(err, c)
}

// problem reports an error: whatever it is, data cannot be read.
func (v *verifier) problem(err error, c *column) {
	p := ndfile.Problem{Path: v.Path, Kind: ndfile.ErrCorrupt, Offset: ndfile.Offset(err)}
	var own *ndfile.Error
	var file *vfs.PathError
	if errors.As(err, &file) {
		p.Path = file.Path
	}
	if errors.As(err, &own) {
		if own.Path != "" {
			p.Path = own.Path
		}
		bare := *own
		bare.Path, bare.HasArray, bare.Offset = "", false, -1
		err = &bare
	}
	p.Msg = err.Error()
	v.send(p, c)
}

// tell reports a problem and, where that is asked for, repairs it.
func (v *verifier) tell(path string, c *column, kind *ndfile.ErrorKind, msg, repair string, do func() error) {
	p := ndfile.Problem{Path: path, Kind: kind, Offset: -1, Msg: msg, Repair: repair}
	if repair != "" && v.opt.Repair {
		err := do()
		if p.Repaired = err == nil; err != nil {
			p.Msg += " (the repair failed: " + err.Error() + ")"
		}
	}
	v.send(p, c)
}

func (v *verifier) send(p ndfile.Problem, c *column) {
	if c != nil && v.kind == ndfile.Table {
		p.Array, p.HasArray = c.name, true
	}
	v.report(p)
}
