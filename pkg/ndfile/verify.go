package ndfile

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ndfile/ndfile/pkg/internal/aside"
	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Class says what a [Problem] means for the data.
type Class uint8

// The classes of problems.
const (
	// Damage: data cannot be read, were lost, or are not counted where they
	// should be.
	Damage Class = iota
	// Stale: harmless leftovers of a writer that was stopped, such as temporary
	// files and chunks of an append that was not finished. Data are whole.
	Stale
	// Foreign: something that is no part of the format. Nothing touches it.
	Foreign
)

var classNames = [...]string{"damage", "stale", "foreign"}

// String is the name of the class: "damage", "stale", "foreign".
func (c Class) String() string { return classNames[c] }

// Problem is something that [Verify] found.
type Problem struct {
	// Path is the file that the problem lies in, Array the name of the array.
	Path, Array string
	HasArray    bool
	Class       Class
	// Kind is the row of the error table: ErrCorrupt for what makes data
	// unreadable, ErrLoss for what was lost already (rows of a torn append),
	// ErrValue for what is stale or foreign.
	Kind *ErrorKind
	// Offset is the byte position in the file, or -1.
	Offset int64
	// Msg says what was expected and what was found, in one line.
	Msg string
	// Repair says what a repair does about it, in one line; "" when nothing
	// certain can be done.
	Repair string
	// Repaired: the repair was asked for and has been done. Repair then also says
	// where lies what was there before.
	Repaired bool
}

// VerifyOptions are the options of [Verify].
type VerifyOptions struct {
	// FS is the file system; nil is OS. Formats get it as an argument, not here.
	FS FS
	// Format names the format; "" goes by the content.
	Format string
	Limits Limits
	// FollowSymlinks is as in OpenOptions.
	FollowSymlinks bool
	// Repair does what Problem.Repair says, for every problem that has one. Nothing
	// is deleted: what is taken away or written anew is kept in a new folder
	// beside the store, PATH.ndf-removed-N, with a journal.
	Repair bool
	// Undo gives back what the last repair of the store took away, and nothing is
	// verified. Each file that is as it was before is reported as a Problem that
	// is Repaired. ErrNotFound: there is no repair to undo; ErrExists: something
	// was changed since, so that nothing is undone.
	Undo bool
	// Sealed compares all files with what [Seal] has written, and nothing else:
	// elements are not decoded, and the format does not matter. Files that were
	// changed, are missing or were added are Damage, ErrCorrupt. ErrNotFound:
	// there is no seal. A step of Progress is a byte then.
	Sealed bool
	// Progress, where it is set, is called now and then with the number of
	// chunks or blocks that are done; false cancels.
	Progress func(done, total int64) bool
}

// verifyBytes is the most that a block takes in memory while it is verified.
const verifyBytes = 4 << 20

// Verify checks a file and calls report for each problem, in the calling
// goroutine. A format that is a [Verifier] does it its own way. Otherwise all
// elements of all arrays are read, in blocks of 4 MiB (more where strings are
// long): an array that cannot be read is one problem, and so is a file that cannot
// be opened; nothing is repaired.
//
// An error means that checking could not go on: the file is not there, may not be
// read, or is of no known format, a device failed, or the call was cancelled.
func Verify(ctx context.Context, formats []Format, path string, opt VerifyOptions, report func(Problem)) error {
	if opt.FS == nil {
		opt.FS = OS
	}
	if opt.Repair && (opt.Undo || opt.Sealed) || opt.Undo && opt.Sealed {
		return NewError(ErrArgument, "repair, undo and sealed: expected one of them").On(path)
	}
	if opt.Sealed {
		return verifySeal(ctx, path, opt, report)
	}
	if opt.Repair || opt.Undo {
		name, err := withName(opt.FS, path)
		if err != nil {
			return NewError(ErrIO, "").Because(err).On(path)
		}
		if path = name; opt.Undo {
			return undo(ctx, formats, opt.FS, path, report)
		}
	}
	fsys, err := mounted(ctx, opt.FS, path, opt.Limits)
	if err != nil {
		return err
	}
	if opt.FS = nil; opt.Repair && vfs.IsStore(fsys) {
		return NewError(ErrNotSupported, "what lies in a store or a zip file is not repaired").On(path)
	}
	format, err := formatToRead(ctx, formats, fsys, path, opt.Format)
	if err != nil {
		return err
	}
	if v, ok := format.(Verifier); ok {
		return Locate(v.Verify(ctx, fsys, path, opt, report), path, "", false)
	}
	f, err := format.Open(ctx, fsys, path, OpenOptions{Limits: opt.Limits, FollowSymlinks: opt.FollowSymlinks})
	if err != nil {
		return problem(Locate(err, path, "", false), report)
	}
	defer f.Abort()
	v := verification{progress: opt.Progress}
	defer v.data.Free()
	names := f.Names()
	for _, dry := range []bool{true, false} {
		for _, name := range names {
			err := v.array(ctx, f, name, dry)
			if dry || err == nil {
				continue // what is wrong comes up again
			}
			if err := problem(Locate(err, path, name, f.Kind() != Single), report); err != nil {
				return err
			}
		}
	}
	return nil
}

// problem reports an error about the content of a file. Others are returned.
func problem(err error, report func(Problem)) error {
	switch kind := KindOf(err); kind {
	case ErrNotFound, ErrPermission, ErrIO, ErrNoMemory, ErrCanceled, ErrBusy, ErrInternal:
		return err
	default:
		p := Problem{Kind: kind, Offset: -1, Msg: reason(err)}
		var e *Error
		if errors.As(err, &e) {
			p.Path, p.Array, p.HasArray, p.Offset = e.Path, e.Array, e.HasArray, e.Offset
		}
		report(p)
		return nil
	}
}

// verification is one call of Verify on a format that is no Verifier.
type verification struct {
	progress    func(done, total int64) bool
	done, total int64 // blocks
	data        mem.Block
}

// array reads one array, or counts its blocks.
func (v *verification) array(ctx context.Context, f File, name string, dry bool) error {
	a, err := f.Array(name)
	if err != nil {
		return err
	}
	spec := a.Spec()
	if spec.NoData {
		return nil
	}
	tiles := newTiling(ndarray.Full(spec.Shape), readUnit(&spec, verifyBytes), spec.DType.Size, verifyBytes)
	if dry {
		v.total += tiles.count()
		return nil
	}
	end := v.done + tiles.count()
	for tile := range tiles.all() {
		if err := v.block(ctx, a, &spec, tile); err != nil {
			v.done = end
			return err
		}
		v.done++
		if v.progress != nil && !v.progress(v.done, v.total) {
			return NewError(ErrCanceled, "")
		}
	}
	return nil
}

func (v *verification) block(ctx context.Context, a Array, spec *Spec, box ndarray.Box) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return err
	}
	var mask []byte
	if spec.Masked {
		if mask, err = mem.Make[byte](int(n), 1); err != nil {
			return err
		}
	}
	if spec.DType.IsVar() {
		offsets, err := mem.Make[int64](int(n)+1, 8)
		if err == nil {
			_, err = ReadAllStrings(ctx, a, box, offsets, mask)
		}
		return err
	}
	size, err := ndarray.NBytes(box.Count, spec.DType.Size)
	if err != nil {
		return err
	}
	data, err := sized(&v.data, size)
	if err != nil {
		return err
	}
	return readBlock(ctx, a, box, ndarray.Buffer{DType: spec.DType, Shape: box.Count, Data: data}, mask)
}

// undo gives back what the last repair took away. A store that was damaged may be of
// no known format: its lock is nevertheless that of any.
func undo(ctx context.Context, formats []Format, fsys FS, path string, report func(Problem)) error {
	if info, err := fsys.Stat(path); err == nil && info.Mode == vfs.Dir {
		for _, f := range formats {
			if h, ok := f.(StoreLocker); ok {
				release, err := h.LockStore(ctx, fsys, path)
				if err != nil {
					return Locate(err, path, "", false)
				}
				defer release()
				break
			}
		}
	}
	err := aside.Undo(fsys, path, func(given string) {
		report(Problem{Path: given, Class: Stale, Kind: ErrValue, Offset: -1, Msg: "it is as it was before the repair", Repair: "give it back", Repaired: true})
	})
	switch {
	case errors.Is(err, aside.ErrNone):
		err = NewError(ErrNotFound, "").Because(err)
	case errors.Is(err, aside.ErrChanged):
		err = NewError(ErrExists, "nothing is undone").Because(err)
	case errors.Is(err, aside.ErrJournal):
		err = NewError(ErrCorrupt, "").Because(err)
	}
	return Locate(err, path, "", false)
}

// withName is a path whose last element is a name: what a repair keeps lies beside it.
func withName(fsys FS, path string) (string, error) {
	if base := filepath.Base(path); fsys == OS && (base == "." || base == "..") {
		return filepath.Abs(path)
	}
	return path, nil
}
