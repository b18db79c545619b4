package main

// #include "internal.h"
import "C"

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// access is what a file was opened for, as ndf_file_info.mode.
type access uint32

const (
	reading access = iota
	updating
	creating
)

// file is what a file handle stands for. The file handle and each array handle hold a reference.
type file struct {
	path   string
	format ndfile.Format
	access access

	// Reads and region writes share mu, changes of structure exclude.
	mu     sync.RWMutex
	file   ndfile.File // nil when closed; guarded by mu
	refs   atomic.Int64
	single atomic.Bool // it is one array; in a new file the first array can decide
}

// shared runs fn beside other calls on an open file.
func (f *file) shared(fn func(ndfile.File) error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.run(fn)
}

// alone runs fn on an open file when no other call runs.
func (f *file) alone(fn func(ndfile.File) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.run(fn)
}

// change is alone on a file that is not open for reading only.
func (f *file) change(fn func(ndfile.File) error) error {
	return f.alone(func(nf ndfile.File) error {
		if f.access == reading {
			return ndfile.NewError(ndfile.ErrReadOnly, "")
		}
		return fn(nf)
	})
}

func (f *file) run(fn func(ndfile.File) error) error {
	if f.file == nil {
		return ndfile.NewError(ndfile.ErrHandle, "the file is closed").On(f.path)
	}
	return ndfile.Locate(fn(f.file), f.path, "", false)
}

// end ends the file by Close or Abort, once: later calls do nothing.
func (f *file) end(fn func(ndfile.File) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := fn(f.file)
	f.file = nil
	return ndfile.Locate(err, f.path, "", false)
}

// retain takes a reference, unless the last one was given up.
func (f *file) retain() bool {
	for {
		n := f.refs.Load()
		if n == 0 {
			return false
		}
		if f.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release gives up a reference. The last one closes a file that is read; others were closed with their handle.
func (f *file) release() error {
	if f.refs.Add(-1) > 0 {
		return nil
	}
	return f.end(commit)
}

// offered gives an object of the file's format as T, which not all formats offer.
func offered[T any](f *file, object any, what string) (T, error) {
	t, ok := object.(T)
	if !ok {
		return t, ndfile.NewError(ndfile.ErrNotSupported, "the format "+f.format.Name()+" has no "+what)
	}
	return t, nil
}

func commit(f ndfile.File) error { return f.Close(context.Background()) }

func abort(f ndfile.File) error { return f.Abort() }

// ndfgo_file_open opens an existing file or folder.
//
// The format is found by content unless the options name it. Metadata is read and checked here, elements later.
//
// C: int32_t ndf_file_open(const char *path, const ndf_open_options *options, ndf_file *file, ndf_error *err)
//
// Parameters:
//   - path (in): the file or folder
//   - options (in, nullable): access mode and limits; NULL: reading, format by content, default limits
//   - file (out, owned): receives the handle; 0 after an error
//
// Returns: NDF_OK; NDF_ERR_NOT_FOUND; NDF_ERR_PERMISSION; NDF_ERR_FORMAT when it is of no known format or not of the
// one named; NDF_ERR_CORRUPT; NDF_ERR_LIMIT for metadata longer than max_header; NDF_ERR_NOT_SUPPORTED for
// NDF_MODE_UPDATE where the format has no changes in place, and for a store that cannot be locked though it has to be;
// NDF_ERR_BUSY for NDF_MODE_UPDATE while another writer has the store, whom the message names; NDF_ERR_CANCELED;
// NDF_ERR_IO; NDF_ERR_ARGUMENT.
//
// Ownership: the handle is the caller's, to be given to ndf_file_close.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_file_open
func ndfgo_file_open(path *C.char, options *C.ndf_open_options, file *C.ndf_file, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	h, e := openFile(textAt(path), options)
	*file = C.ndf_file(h)
	return report(err, e)
}

func openFile(path string, options *C.ndf_open_options) (handle, error) {
	f, err := newFile(path, options)
	if err != nil {
		return 0, err
	}
	return f.register()
}

// newFile opens a file.
func newFile(path string, options *C.ndf_open_options) (*file, error) {
	opt := ndfile.OpenOptions{Limits: limits()}
	if options != nil {
		var own C.ndfgo_open_options
		if err := input("ndf_open_options", options, &own); err != nil {
			return nil, err
		}
		if own.mode > C.NDF_MODE_UPDATE {
			return nil, badArgument("ndf_open_options: unknown mode")
		}
		var err error
		if opt.Limits, err = limitsAt("ndf_open_options", own.max_header); err != nil {
			return nil, err
		}
		opt.Mode = ndfile.Mode(own.mode)
		opt.Format = strings.Clone(fieldText(own.format))
		opt.FollowSymlinks, opt.Shared, opt.DefaultFill = own.follow_symlinks != 0, own.shared != 0, own.default_fill != 0
		opt.Timeout = timeoutOf(own.timeout_ms)
		opt.Sync, opt.RequireLock = own.sync != 0, own.require_lock != 0
		opt.Progress = progressAt(own.progress, own.user)
	}
	f := &file{path: strings.Clone(path), access: access(opt.Mode)}
	var err error
	if f.file, f.format, err = ndfile.OpenAs(context.Background(), all.Formats, f.path, opt); err != nil {
		return nil, err
	}
	return f, nil
}

// maxTimeout is more milliseconds than anybody waits, and few enough for a time.Duration.
const maxTimeout = 1 << 40

func timeoutOf(ms C.int64_t) time.Duration {
	return time.Duration(max(-1, min(int64(ms), maxTimeout))) * time.Millisecond
}

// register gives an open file its handle.
func (f *file) register() (handle, error) {
	f.single.Store(f.file.Kind() == ndfile.Single)
	f.refs.Store(1)
	h, err := handles().add(kindFile, f)
	if err != nil {
		f.end(abort)
	}
	return h, err
}

// ndfgo_file_create starts a new file.
//
// Arrays are added with ndf_file_add and written with ndf_array_write. The file appears at path when ndf_file_close
// has succeeded; before, an older file of that name is untouched.
//
// C: int32_t ndf_file_create(const char *path, const char *format, const char *attrs_json, const ndf_write_options *options, ndf_file *file, ndf_error *err)
//
// Parameters:
//   - path (in): where the file shall appear
//   - format (in, nullable): name of the format; NULL: by the extension of path
//   - attrs_json (in, nullable): attributes of the file as a JSON object; NULL: none
//   - options (in, nullable): how the file becomes visible; NULL: atomically, without fsync, over an existing file
//   - file (out, owned): receives the handle; 0 after an error
//
// Returns: NDF_OK; NDF_ERR_FORMAT for an unknown format or an extension that names none or several; NDF_ERR_EXISTS
// with options.exclusive; NDF_ERR_BUSY when others have the store at path open for changes; NDF_ERR_NOT_FOUND when the folder is missing; NDF_ERR_PERMISSION; NDF_ERR_VALUE for
// attributes that the format cannot hold; NDF_ERR_NOT_SUPPORTED; NDF_ERR_IO; NDF_ERR_ARGUMENT.
//
// Ownership: the handle is the caller's, to be given to ndf_file_close or ndf_file_abort.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_file_create
func ndfgo_file_create(path *C.char, format *C.char, attrs_json *C.char, options *C.ndf_write_options, file *C.ndf_file, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	h, e := createFile(textAt(path), format, attrs_json, options)
	*file = C.ndf_file(h)
	return report(err, e)
}

func createFile(path string, format, attrsJSON *C.char, options *C.ndf_write_options) (handle, error) {
	opt, err := createOptions(format, attrsJSON, options)
	if err != nil {
		return 0, ndfile.Locate(err, path, "", false)
	}
	opt.Format, opt.Trailing = strings.Clone(opt.Format), bytes.Clone(opt.Trailing)
	f := &file{path: strings.Clone(path), access: creating}
	if f.file, f.format, err = ndfile.CreateAs(context.Background(), all.Formats, f.path, opt); err != nil {
		return 0, err
	}
	return f.register()
}

// createOptions are the options of a new file. Their texts are the caller's memory.
func createOptions(format, attrsJSON *C.char, options *C.ndf_write_options) (opt ndfile.CreateOptions, err error) {
	opt.FS, opt.Format = ndfile.OS, textAt(format)
	if opt.Attrs, err = attrsAt("attrs_json", attrsJSON); err != nil || options == nil {
		return opt, err
	}
	var own C.ndfgo_write_options
	if err := input("ndf_write_options", options, &own); err != nil {
		return opt, err
	}
	if opt.WriteOptions, err = writeOptions("ndf_write_options", own.commit, own.sync, own.exclusive); err != nil {
		return opt, err
	}
	opt.Timeout, opt.Progress = timeoutOf(own.timeout_ms), progressAt(own.progress, own.user)
	opt.Trailing, err = sliceAt[byte]("ndf_write_options: trailing", pointer(own.trailing), int64(own.trailing_len))
	return opt, err
}

// writeOptions say how new files become visible. name is that of the struct with these fields.
func writeOptions(name string, commit, sync, exclusive C.uint32_t) (opt ndfile.WriteOptions, err error) {
	switch commit {
	case C.NDF_COMMIT_ATOMIC:
		opt.Commit = ndfile.CommitAtomic
	case C.NDF_COMMIT_DIRECT:
		opt.Commit = ndfile.CommitDirect
	default:
		return opt, badArgument(name + ": unknown value of commit")
	}
	opt.Sync, opt.Exclusive = sync != 0, exclusive != 0
	return opt, nil
}

// ndfgo_file_close closes a file handle; a file that was created or changed is committed.
//
// The handle is gone afterwards, also after an error. Arrays of a file that was open for reading can still be read:
// the last of them closes it. Arrays of a file that was created or changed refuse reading and writing from now on, but
// still describe themselves. When committing a new file fails nothing of it is left, and an older file of that name is
// untouched (with NDF_COMMIT_DIRECT it is lost).
//
// C: int32_t ndf_file_close(ndf_file file, ndf_error *err)
//
// Parameters:
//   - file (taken): the handle
//
// Returns: NDF_OK; NDF_ERR_HANDLE, as for a handle that is closed already; NDF_ERR_ORDER when an array was not
// written completely; NDF_ERR_EXISTS; NDF_ERR_PERMISSION; NDF_ERR_VALUE; NDF_ERR_IO.
//
// Ownership: takes the handle back.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_file_close
func ndfgo_file_close(file C.ndf_file, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, closeFile(handle(file)))
}

func closeFile(h handle) error {
	f, err := take[*file](kindFile, h)
	if err != nil {
		return err
	}
	if f.access != reading {
		err = f.end(commit)
	}
	if e := f.release(); err == nil {
		err = e
	}
	return err
}

// ndfgo_file_abort closes a file handle without committing.
//
// Nothing is left of a file that was being created, and an older file of that name is untouched (with
// NDF_COMMIT_DIRECT it is lost). Of a file open for changes what was not flushed is discarded. Arrays of the file
// refuse reading and writing from now on.
//
// C: int32_t ndf_file_abort(ndf_file file, ndf_error *err)
//
// Parameters:
//   - file (taken): the handle
//
// Returns: NDF_OK; NDF_ERR_HANDLE; NDF_ERR_IO when something could not be removed.
//
// Ownership: takes the handle back.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_file_abort
func ndfgo_file_abort(file C.ndf_file, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, abortFile(handle(file)))
}

func abortFile(h handle) error {
	f, err := take[*file](kindFile, h)
	if err != nil {
		return err
	}
	err = f.end(abort)
	f.release() // nothing is left to be closed
	return err
}

// ndfgo_file_get_info describes an open file.
//
// C: int32_t ndf_file_get_info(ndf_file file, ndf_file_info *info, ndf_error *err)
//
// Parameters:
//   - file: the handle
//   - info (out): struct_size set by the caller, the rest is filled
//
// Returns: NDF_OK; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_file_get_info
func ndfgo_file_get_info(file C.ndf_file, info *C.ndf_file_info, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, fileInfo(handle(file), info))
}

func fileInfo(h handle, info *C.ndf_file_info) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return f.shared(func(nf ndfile.File) error { return f.describe(nf, info) })
}

// describe fills the caller's info.
func (f *file) describe(nf ndfile.File, info *C.ndf_file_info) error {
	out := C.ndf_file_info{
		kind:    C.uint32_t(nf.Kind()),
		narrays: C.int64_t(len(nf.Names())),
		ngroups: C.int64_t(len(groupsOf(nf))),
		caps:    C.uint32_t(f.format.Caps()),
		mode:    C.uint32_t(f.access),
		nrows:   -1,
	}
	if t, ok := nf.(ndfile.RowResizer); ok && nf.Kind() == ndfile.Table {
		out.nrows = C.int64_t(t.Rows())
	}
	if f.access == updating && !ndfile.Locked(nf) {
		out.flags |= C.NDF_FILE_UNLOCKED
	}
	if ndfile.Shared(nf) {
		out.flags |= C.NDF_FILE_SHARED
	}
	setName(out.format[:], f.format.Name())
	return output("ndf_file_info", info, &out)
}

// ndfgo_file_get_name gives the name of an array by its position.
//
// C: int32_t ndf_file_get_name(ndf_file file, int64_t index, char *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - file: the handle
//   - index: position in file order, from 0 up to narrays of ndf_file_info
//   - buf (out, nullable): receives the name, UTF-8; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: length of the name
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_BOUNDS for an index outside; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_file_get_name
func ndfgo_file_get_name(file C.ndf_file, index C.int64_t, buf *C.char, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, fileName(handle(file), int64(index), buf, len))
}

func fileName(h handle, index int64, buf *C.char, length *C.int64_t) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return f.shared(func(nf ndfile.File) error {
		name, err := nameAt(nf, index)
		if err != nil {
			return err
		}
		return textOut(name, buf, length)
	})
}

// nameAt is the name of the array at a position.
func nameAt(nf ndfile.File, index int64) (string, error) {
	names := nf.Names()
	if index < 0 || index >= int64(len(names)) {
		return "", outside("array", index, int64(len(names)))
	}
	return names[index], nil
}

// ndfgo_file_array opens an array of a file by name.
//
// C: int32_t ndf_file_array(ndf_file file, const char *name, ndf_array *array, ndf_error *err)
//
// Parameters:
//   - file: the handle of the file
//   - name (in): the array's name; "" where the file is one array
//   - array (out, owned): receives the handle; 0 after an error
//
// Returns: NDF_OK; NDF_ERR_NAME when there is no such array; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: the handle is the caller's, to be given to ndf_array_close.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_file_array
func ndfgo_file_array(file C.ndf_file, name *C.char, array *C.ndf_array, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	h, e := fileArray(handle(file), func(ndfile.File) (string, error) { return textAt(name), nil })
	*array = C.ndf_array(h)
	return report(err, e)
}

// ndfgo_file_array_at opens an array of a file by its position.
//
// C: int32_t ndf_file_array_at(ndf_file file, int64_t index, ndf_array *array, ndf_error *err)
//
// Parameters:
//   - file: the handle of the file
//   - index: position in file order, from 0 up to narrays of ndf_file_info
//   - array (out, owned): receives the handle; 0 after an error
//
// Returns: NDF_OK; NDF_ERR_BOUNDS for an index outside; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: the handle is the caller's, to be given to ndf_array_close.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_file_array_at
func ndfgo_file_array_at(file C.ndf_file, index C.int64_t, array *C.ndf_array, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	h, e := fileArray(handle(file), func(nf ndfile.File) (string, error) { return nameAt(nf, int64(index)) })
	*array = C.ndf_array(h)
	return report(err, e)
}

// fileArray opens the array that pick names.
func fileArray(h handle, pick func(ndfile.File) (string, error)) (handle, error) {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return 0, err
	}
	return f.openArray(f.shared, func(nf ndfile.File) (string, ndfile.Array, error) {
		name, err := pick(nf)
		if err != nil {
			return "", nil, err
		}
		a, err := nf.Array(name)
		return strings.Clone(name), a, ndfile.Locate(err, f.path, name, true)
	})
}

// ndfgo_file_add declares a new array in a file that is being created or changed.
//
// Its elements are written with ndf_array_write or ndf_array_write_strings. Formats with NDF_CAP_WRITE_ONCE want each
// element written once: the whole array, or consecutive blocks of rows (along the first axis) in order. In formats with
// NDF_CAP_CHUNKED elements that are never written have the fill value. A new column of a table that has columns has its
// number of rows. In a new file of a format with NDF_CAP_ROWS the first array decides what the file holds: with the name
// "" it is this one array, with any other a table.
//
// C: int32_t ndf_file_add(ndf_file file, const char *name, const ndf_array_spec *spec, ndf_array *array, ndf_error *err)
//
// Parameters:
//   - file: the handle of the file
//   - name (in): the array's name; "" where the file is one array
//   - spec (in): dtype, shape, storage and metadata
//   - array (out, owned): receives the handle; 0 after an error
//
// Returns: NDF_OK; NDF_ERR_NAME_EXISTS; NDF_ERR_READ_ONLY for a file open for reading; NDF_ERR_DTYPE for a dtype that
// the format does not have; NDF_ERR_SHAPE; NDF_ERR_VALUE for a name or metadata that the format cannot hold;
// NDF_ERR_NOT_SUPPORTED; NDF_ERR_LIMIT; NDF_ERR_IO; NDF_ERR_HANDLE;
// NDF_ERR_ARGUMENT.
//
// Ownership: the handle is the caller's, to be given to ndf_array_close.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_file_add
func ndfgo_file_add(file C.ndf_file, name *C.char, spec *C.ndf_array_spec, array *C.ndf_array, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	h, e := fileAdd(handle(file), strings.Clone(textAt(name)), spec)
	*array = C.ndf_array(h)
	return report(err, e)
}

func fileAdd(h handle, name string, cspec *C.ndf_array_spec) (handle, error) {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return 0, err
	}
	spec, err := specAt(cspec)
	if err != nil {
		return 0, ndfile.Locate(err, f.path, name, true)
	}
	return f.openArray(f.change, func(nf ndfile.File) (string, ndfile.Array, error) {
		a, err := nf.Add(context.Background(), name, spec)
		f.single.Store(nf.Kind() == ndfile.Single)
		return name, a, ndfile.Locate(err, f.path, name, true)
	})
}

// ndfgo_file_flush makes what was changed visible to others, as ndf_file_close would, and leaves the file open.
//
// Formats can keep in memory what was appended, and attributes, until then. With sync everything that was changed since
// the file was opened is on the disk afterwards, also in a file that was opened without it: data are synced before
// metadata, and contents before folders.
//
// C: int32_t ndf_file_flush(ndf_file file, uint32_t sync, ndf_error *err)
//
// Parameters:
//   - file: the handle of a file open for changes or being created
//   - sync: not 0: wait until all of it is on the disk
//
// Returns: NDF_OK; NDF_ERR_READ_ONLY for a file open for reading; NDF_ERR_NOT_SUPPORTED where the format writes only when
// the file is closed, and with sync for a file being created; NDF_ERR_PERMISSION; NDF_ERR_IO; NDF_ERR_HANDLE. After an error the file holds what it held before,
// and what was not written is still there to be flushed.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_file_flush
func ndfgo_file_flush(file C.ndf_file, sync C.uint32_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, flushFile(handle(file), ndfile.FlushOptions{Sync: sync != 0}))
}

func flushFile(h handle, opt ndfile.FlushOptions) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return f.change(func(nf ndfile.File) error {
		flusher, err := offered[ndfile.Flusher](f, nf, "flushing: files are written when they are closed")
		if err != nil {
			return err
		}
		return flusher.Flush(context.Background(), opt)
	})
}

// ndfgo_file_remove removes an array and its data, or a group and all that is in it, from a file, at once.
//
// Open handles of its arrays stay open and refuse to read and write.
//
// C: int32_t ndf_file_remove(ndf_file file, const char *name, ndf_error *err)
//
// Parameters:
//   - file: the handle of a file open for changes or being created
//   - name (in): the name of the array, or the path of the group
//
// Returns: NDF_OK; NDF_ERR_NAME when there is no such array; NDF_ERR_READ_ONLY for a file open for reading;
// NDF_ERR_NOT_SUPPORTED for a format without NDF_CAP_REMOVE, and for a file that is this one array; NDF_ERR_PERMISSION;
// NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_file_remove
func ndfgo_file_remove(file C.ndf_file, name *C.char, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, removeArray(handle(file), strings.Clone(textAt(name))))
}

func removeArray(h handle, name string) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return f.change(func(nf ndfile.File) error {
		remover, err := offered[ndfile.Remover](f, nf, "removing of arrays")
		if err == nil {
			err = remover.Remove(context.Background(), name)
		}
		return ndfile.Locate(err, f.path, name, true)
	})
}
