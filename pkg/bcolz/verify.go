package bcolz

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/aside"
	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/findings"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Verify implements [ndfile.Verifier]. It checks metadata, that all chunks are
// there and can be decoded, that columns have one length, and what else lies in
// the folders. What a repair does is in [account.judge] and [verifier.plan]; it
// takes the lock of a writer, and must not run beside programs that take none.
func (format) Verify(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.VerifyOptions, report func(ndfile.Problem)) error {
	f := &file{disk: newDisk(fsys, opt.FollowSymlinks, opt.Limits), kind: ndfile.Table}
	_, err := f.Open(ctx, fsys, trimRoot(path), &ndfile.OpenOptions{})
	if err == nil {
		v := &verifier{file: f, opt: opt, found: findings.List{FS: fsys, Store: f.Root, Repair: opt.Repair}}
		if err = v.run(ctx); err == nil {
			v.found.Report(report)
		}
	}
	f.End()
	return f.Located(err)
}

// verifier is one call of Verify.
type verifier struct {
	*file
	opt      ndfile.VerifyOptions
	found    findings.List
	accounts []*account
	lost     bool  // there are columns that nothing is known of
	err      error // one that says nothing about the file
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
		if err := v.Hold(ctx, v.disk.FS, 0); err != nil {
			return err
		}
	}
	if p.has(v.Root + "/" + rootdirsFile) {
		v.checkTable(ctx)
	} else if err := v.checkCarray(ctx); err != nil {
		return err
	}
	if err := decodeAll(ctx, v.accounts, v.opt.Progress); err != nil {
		return err
	}
	judge(v.accounts)
	v.tellAccounts(v.plan())
	return v.err
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
		v.lost = true
	}
	if _, err := v.disk.attributes(ctx, v.Root); err != nil {
		v.bad(err, nil)
	}
	astray := slices.ContainsFunc(names, func(name string) bool { return v.disk.Expect(v.Root+"/"+name, vfs.Dir) != nil })
	for _, e := range v.listed(nil, v.Root, names...) {
		if e.Mode != vfs.Dir || slices.Contains(names, e.Name) || vfs.IsTempName(e.Name) {
			continue
		}
		c := &column{file: v.file, name: e.Name, dir: v.Root + "/" + e.Name}
		if !v.isColumn(c.dir) {
			continue
		}
		if err != nil {
			names = append(names, e.Name) // the list is lost, what there is can be checked
			continue
		}
		p := ndfile.Problem{Path: c.dir, Class: ndfile.Stale, Kind: ndfile.ErrValue, Offset: -1,
			Msg: "a folder like that of a column, which " + rootdirsFile + " does not list: its addition or removal was interrupted"}
		if astray {
			p.Class, p.Kind = ndfile.Damage, ndfile.ErrCorrupt
			p.Msg = "a folder like that of a column, which " + rootdirsFile + " does not list, while one that it lists is missing: the list may be wrong"
		}
		v.add(p, c, nil)
	}
	for _, name := range names {
		c := &column{file: v.file, name: name, dir: v.Root + "/" + name}
		if err := v.disk.Expect(c.dir, vfs.Dir); err != nil {
			v.bad(missing(err, c.dir), c)
			v.lost = true
			continue
		}
		v.listed(c, c.dir)
		v.checkColumn(ctx, c)
	}
}

// checkColumn checks the metadata of a column and what is in its folders, and
// begins its account.
func (v *verifier) checkColumn(ctx context.Context, c *column) {
	if v.kind == ndfile.Single {
		v.listed(c, c.dir)
	}
	v.listed(c, c.dir+"/"+metaFolder)
	v.listed(c, c.dir+"/"+dataFolder)
	var err error
	if c.attrs, err = v.disk.attributes(ctx, c.dir); err != nil {
		v.bad(err, c)
		c.attrs = newAttributes(nil)
	}
	broken := c.readSizes(ctx)
	if broken == nil {
		if broken = c.load(ctx, c.sizes.shape[0]); broken == nil {
			v.begin(c, c.sizes.shape[0], nil)
			return
		}
	}
	// Perhaps meta/sizes alone is wrong.
	err = v.disk.Expect(c.dir+"/"+metaFolder, vfs.Dir)
	if err == nil {
		var doc *metafile.Document
		if doc, err = v.disk.document(ctx, c.dir+"/"+storageFile); err == nil {
			_, err = parseStorage(doc)
		}
	}
	if err != nil {
		v.bad(broken, c)
		if err = ndfile.Locate(missing(err, c.dir+"/"+metaFolder), c.dir+"/"+storageFile, "", false); err.Error() != broken.Error() {
			v.bad(err, c)
		}
		v.lost = true
		return
	}
	claims := c.sizes
	if c.sizes.shape = []int64{0}; len(claims.shape) > 1 {
		c.sizes.shape = append(c.sizes.shape, claims.shape[1:]...)
	}
	if err := c.load(ctx, 0); err != nil {
		v.bad(broken, c)
		v.lost = true
		return
	}
	v.begin(c, unknown, broken)
}

// begin begins the account of a column; broken is what is wrong with its
// meta/sizes.
func (v *verifier) begin(c *column, claimed int64, broken error) {
	a := newAccount(c, claimed)
	a.broken = broken
	if info, err := v.disk.Lstat(c.dir + "/" + sizesFile); err == nil && info.Mode != vfs.Regular || err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.lost = true // it cannot be written
	}
	if err := a.list(); err != nil {
		v.bad(err, c)
	}
	v.accounts = append(v.accounts, a)
}

// cutting is how the columns of a root get one length.
type cutting struct {
	rows   int64
	repair *findings.Repair // nil: they have it, or nothing certain can be done
}

// plan finds the rows that are whole in all columns, where some have more, and
// what cuts the others.
func (v *verifier) plan() (cut cutting) {
	cut.rows = math.MaxInt64
	most, isTorn, certain := int64(0), false, !v.lost
	for _, a := range v.accounts {
		rows := a.accepted
		if a.verdict == torn {
			rows, isTorn = a.held, true
		}
		cut.rows, most = min(cut.rows, rows), max(most, a.accepted)
		certain = certain && a.verdict != doubtful
	}
	if cut.rows >= most || !certain || isTorn && cut.rows == 0 {
		return cut
	}
	var steps []aside.Step
	for _, a := range v.accounts {
		if a.claimed != cut.rows || a.verdict == miscounted {
			steps = append(steps, a.count(cut.rows))
		}
		for _, k := range a.surplus(cut.rows) {
			if a.verdict != unfinished || k < a.chunkCount(a.accepted) {
				steps = append(steps, aside.Step{Path: chunkPath(a.dir, k)})
			}
		}
	}
	cut.repair = v.found.Plan("cut to the last row that is whole in all columns: "+decimal(cut.rows)+" of "+decimal(most)+" rows", steps...)
	return cut
}

// count is the step that writes meta/sizes for another number of rows.
func (a *account) count(rows int64) aside.Step {
	s := sizes{shape: slices.Clone(a.sizes.shape), cbytes: a.chunkBytes() + a.compressed(0, a.wholeChunks(rows))}
	s.shape[0] = rows
	return aside.Step{Path: a.dir + "/" + sizesFile, Text: s.text(a.storage.dtype.Size)}
}

// tellAccounts adds what is wrong with the length and the chunks of each column.
func (v *verifier) tellAccounts(cut cutting) {
	for _, a := range v.accounts {
		repair := cut.repair
		if a.verdict == miscounted && repair == nil && !v.lost {
			steps := []aside.Step{a.count(a.accepted)}
			for _, k := range a.surplus(a.accepted) {
				steps = append(steps, aside.Step{Path: chunkPath(a.dir, k)})
			}
			repair = v.found.Plan("count "+decimal(a.accepted)+" rows, "+a.because, steps...)
		}
		v.tellSizes(a, cut, repair)
		v.tellChunks(a, repair)
	}
}

// tellSizes adds what is wrong with the length of a column.
func (v *verifier) tellSizes(a *account, cut cutting, repair *findings.Repair) {
	path := a.dir + "/" + sizesFile
	wrong := func(kind *ndfile.ErrorKind, msg string) {
		v.add(ndfile.Problem{Path: path, Kind: kind, Offset: -1, Msg: msg}, a.column, repair)
	}
	if a.verdict == doubtful {
		repair = nil
	}
	switch {
	case a.broken != nil:
		v.problem(a.broken, a.column, repair)
	case a.verdict == miscounted && a.claimed != a.accepted:
		wrong(ndfile.ErrCorrupt, "the shape says "+decimal(a.claimed)+" rows, but there are "+decimal(a.accepted)+", "+a.because)
	case !a.consistent():
		wrong(ndfile.ErrCorrupt, "the shape says "+decimal(a.claimed)+" rows, nbytes says "+a.nbytesText())
	case v.kind == ndfile.Table && a.accepted > cut.rows && a.verdict != torn:
		if u, ok := parseUndone(edit.IntendedIn(v.disk.FS, v.Root), cut.rows); ok && u.explained(v.accounts) {
			v.add(ndfile.Problem{Path: path, Class: ndfile.Stale, Kind: ndfile.ErrValue, Offset: -1,
				Msg: decimal(a.accepted) + " rows, of which " + decimal(cut.rows) + " are in all columns: a writer, which was killed or still runs, has not brought a change of their number to its end"}, a.column, repair)
			return
		}
		wrong(ndfile.ErrLoss, decimal(a.accepted)+" rows, but only "+decimal(cut.rows)+" are in all columns: an append was interrupted, or data were lost")
	}
}

// nbytesText is the number of rows that nbytes means.
func (a *account) nbytesText() string {
	if a.nbytes >= 0 {
		return decimal(a.nbytes)
	}
	return "no number of rows"
}

// tellChunks adds the chunks of a column that are missing, cannot be decoded or
// lie behind the end.
func (v *verifier) tellChunks(a *account, repair *findings.Repair) {
	need, next := a.chunkCount(a.accepted), int64(0)
	if a.verdict == doubtful || a.verdict == sound {
		repair = nil
	}
	damage := func(k int64, err error) {
		v.problem(ndfile.Locate(err, chunkPath(a.dir, k), "", false), a.column, repair)
	}
	missing := func(to int64) {
		switch {
		case to == next+1:
			damage(next, ndfile.NewError(ndfile.ErrCorrupt, "the chunk is missing"))
		case to > next:
			damage(next, ndfile.NewError(ndfile.ErrCorrupt, "the chunks "+decimal(next)+" to "+decimal(to-1)+" are missing"))
		}
	}
	for i, k := range a.files {
		missing(min(k, need))
		next = min(k+1, need)
		switch {
		case k < need:
			if a.errs[i] != nil && a.verdict != miscounted {
				damage(k, a.errs[i])
			}
		case a.verdict == unfinished:
			path := chunkPath(a.dir, k)
			v.add(ndfile.Problem{Path: path, Class: ndfile.Stale, Kind: ndfile.ErrValue, Offset: -1,
				Msg: "a chunk behind the last row, which is in chunk " + decimal(need-1) + ": left by a trim, or by an append that was not flushed"},
				a.column, v.found.Plan("move it aside", aside.Step{Path: path}))
		case a.verdict == miscounted && a.errs[i] != nil:
			damage(k, a.errs[i])
		default:
			v.add(ndfile.Problem{Path: chunkPath(a.dir, k), Kind: ndfile.ErrCorrupt, Offset: -1,
				Msg: "a chunk behind the last row that " + sizesFile + " counts, which is in chunk " + decimal(need-1) +
					"; other witnesses contradict that number, so it may be wrong"}, a.column, nil)
		}
	}
	missing(need)
}

// listed lists a folder, if it is there, and adds what has a temporary name and
// what is no part of a root. known are names that are neither, whatever they look
// like.
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
		path := dir + "/" + e.Name
		switch {
		case slices.Contains(known, e.Name):
		case vfs.IsTempName(e.Name):
			v.add(ndfile.Problem{Path: path, Class: ndfile.Stale, Kind: ndfile.ErrValue, Offset: -1, Msg: "left by a writer, if none is at work now"},
				c, v.found.Plan("move it aside", aside.Step{Path: path}))
		case !v.belongs(c, dir, e):
			v.add(ndfile.Problem{Path: path, Class: ndfile.Foreign, Kind: ndfile.ErrValue, Offset: -1, Msg: "not a part of the store"}, c, nil)
		}
	}
	return entries
}

// belongs tells whether an entry of a folder is a part of a root, or of what is
// kept beside the columns of one.
func (v *verifier) belongs(c *column, dir string, e vfs.DirEntry) bool {
	mode := e.Mode
	if mode == vfs.Symlink {
		if info, err := v.disk.Stat(dir + "/" + e.Name); err == nil {
			mode = info.Mode
		}
	}
	if strings.HasPrefix(e.Name, ".") {
		return true // hidden files of other programs
	}
	if c == nil {
		return e.Name == rootdirsFile || e.Name == attrsFile || mode == vfs.Dir && v.isColumn(dir+"/"+e.Name) || aside.IsName(e.Name) || strings.HasSuffix(e.Name, ndfile.SealSuffix)
	}
	return isCarray(strings.Split(strings.TrimPrefix(dir[len(c.dir):]+"/"+e.Name, "/"), "/"), mode)
}

// isColumn tells whether a folder looks like that of a column.
func (v *verifier) isColumn(dir string) bool {
	p := prober{fsys: v.disk.FS}
	return p.has(dir+"/"+metaFolder) || p.has(dir+"/"+dataFolder)
}

// bad adds an error of metadata that no repair mends.
func (v *verifier) bad(err error, c *column) { v.problem(err, c, nil) }

// problem adds an error: whatever it is, data cannot be read.
func (v *verifier) problem(err error, c *column, repair *findings.Repair) {
	if saysNothing(err) {
		v.err = err
	}
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
	v.add(p, c, repair)
}

func (v *verifier) add(p ndfile.Problem, c *column, repair *findings.Repair) {
	if c != nil && v.kind == ndfile.Table {
		p.Array, p.HasArray = c.name, true
	}
	v.found.Add(p, repair)
}

// LockStore implements [ndfile.StoreLocker].
func (format) LockStore(ctx context.Context, fsys ndfile.FS, path string) (release func(), err error) {
	return edit.HoldStore(ctx, fsys, path)
}
