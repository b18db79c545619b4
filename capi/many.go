package main

// #include "native.h"
import "C"

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// manyOptions reads the options of a call on many files, and load_flags where they count.
func manyOptions(options *C.ndf_many_options, loadFlags *C.uint32_t) (p ndfile.Parallel, err error) {
	var c C.ndfgo_many_options
	if options != nil {
		if err = input("ndf_many_options", options, &c); err != nil {
			return p, err
		}
	}
	if loadFlags != nil {
		*loadFlags = c.load_flags
	}
	if c.threads < 0 {
		return p, badArgument("ndf_many_options: threads is " + strconv.Itoa(int(c.threads)) + ", expected 0 or more")
	}
	p.Threads = int(c.threads)
	p.Progress = progressAt(c.progress, c.user)
	return p, nil
}

// progressAt is the caller's progress function; nil for NULL.
func progressAt(progress, user C.uintptr_t) func(done, total int64) bool {
	if pointer(progress) == nil {
		return nil
	}
	return func(done, total int64) bool {
		return C.ndfile_call_progress(progress, user, C.int64_t(done), C.int64_t(total)) == 0
	}
}

// failures notes the errors of a call on many files.
type failures struct {
	each []C.ndf_error // of each file, or nil

	mu    sync.Mutex
	first int64 // the first file that failed; guarded by mu
	err   error // of it; guarded by mu
}

// note reports the error of file i and gives its status. Of those without one nothing is written.
func (f *failures) note(i int64, err error) C.int32_t {
	if err == nil {
		return C.NDF_OK
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || i < f.first {
		f.first, f.err = i, err
	}
	if f.each == nil {
		return report(nil, err)
	}
	return report(&f.each[i], err)
}

// ndfgo_load_many reads the arrays of many small files in one call, in parallel where that pays.
//
// Each path is read as ndf_load reads it. Everything goes to one buffer and one array of infos, in no special order:
// the results, which are in the order of the paths, tell where the infos of a path begin, and the infos tell the places
// in the buffer. A path that fails does not stop the others. When buf or the room for infos is too small the status is
// NDF_ERR_BUFFER, *len and *ninfos tell what all paths take, the paths that had room are there, and the others have
// NDF_ERR_BUFFER in their result: come again with more, or for these.
//
// C: int32_t ndf_load_many(const char *const *paths, int64_t n, const char *name, void *buf, int64_t *len, ndf_load_info *infos, int64_t *ninfos, ndf_load_result *results, ndf_error *errors, const ndf_many_options *many, ndf_error *err)
//
// Parameters:
//   - paths (in, nullable): n files or folders; NULL only with n 0
//   - n: number of paths
//   - name (in, nullable): name of the array to read of each; NULL: all
//   - buf (out, nullable): receives the arrays; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: bytes that are used or needed; -1 when the call had wrong arguments and has
//     not begun
//   - infos (out, nullable): receives a description of each array. struct_size of the first is set by the caller and
//     counts for all; NULL only with *ninfos 0
//   - ninfos (inout): in: infos that there is room for; out: number of arrays
//   - results (out, nullable): receives what became of each path, n of them. struct_size of the first is set by the
//     caller and counts for all; NULL only with n 0
//   - errors (out, nullable): receives the reason for each path that fails, n of them, of which the others stay
//     untouched
//   - many (in, nullable): threads, progress and cancelling; NULL: as ndf_set_threads says, without progress
//
// Returns: NDF_OK when all paths were read; NDF_ERR_CANCELED; NDF_ERR_BUFFER; else the status of the first path that
// failed, with its reason in err; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_load_many
func ndfgo_load_many(paths **C.char, n C.int64_t, name *C.char, buf address, len *C.int64_t, infos *C.ndf_load_info, ninfos *C.int64_t, results *C.ndf_load_result, errors *C.ndf_error, many *C.ndf_many_options, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	room := int64(*len)
	*len = -1
	l := loading{one: name != nil, name: textAt(name), results: address(results), limits: limits()}
	e := l.setRoom(address(paths), int64(n), buf, room, address(infos), int64(*ninfos), address(errors))
	if e == nil {
		e = l.run(many, len, ninfos)
	}
	return report(err, e)
}

// perWorker is memory for each worker of Parallel.Each, taken when it is first needed.
type perWorker[T any] struct {
	get func() *T

	mu   sync.Mutex
	made map[int]*T // by worker; guarded by mu
}

func (p *perWorker[T]) of(worker int) *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.made[worker]
	if t == nil {
		if p.made == nil {
			p.made = map[int]*T{}
		}
		t = p.get()
		p.made[worker] = t
	}
	return t
}

// scratchBytes and scratchInfos are what a file may take to be read beside the caller's memory first. Small files are,
// so that places in that memory are given out when the sizes are known.
const (
	scratchBytes = 128 << 10
	scratchInfos = 16
)

type scratch struct {
	near  ndfile.Near
	sink  ndfile.Sink
	buf   [scratchBytes]byte
	infos [scratchInfos]ndfile.LoadInfo
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// loading is one call of ndf_load_many.
type loading struct {
	paths    []C.uintptr_t
	one      bool
	meta     bool
	name     string
	limits   ndfile.Limits
	buf      []byte
	infos    address
	room     int64 // for infos
	stride   uintptr
	results  address
	rstride  uintptr
	failures failures

	mu           sync.Mutex
	need, ninfos int64       // what all paths take; guarded by mu
	used, filled int64       // bytes and infos given out; guarded by mu
	short        atomic.Bool // some path had no room
}

// setRoom takes and checks the caller's memory.
func (l *loading) setRoom(paths address, n int64, buf address, capacity int64, infos address, room int64, errs address) (err error) {
	if l.paths, err = sliceAt[C.uintptr_t]("paths", paths, n); err != nil {
		return err
	}
	if l.buf, err = roomAt("buf", "len", buf, capacity); err != nil {
		return err
	}
	if room < 0 || infos == nil && room > 0 {
		return badArgument("ninfos is " + strconv.FormatInt(room, 10) + ", expected the number of infos that there is room for")
	}
	l.infos, l.room = infos, room
	if room > 0 {
		if l.stride, err = structStride("ndf_load_info", infos); err != nil {
			return err
		}
	}
	if n > 0 {
		if l.results == nil {
			return badArgument("results is NULL")
		}
		if l.rstride, err = structStride("ndf_load_result", l.results); err != nil {
			return err
		}
		if errs != nil {
			l.failures.each, err = sliceAt[C.ndf_error]("errors", errs, n)
		}
	}
	return err
}

// run reads all files.
func (l *loading) run(many *C.ndf_many_options, need, ninfos *C.int64_t) error {
	var flags C.uint32_t
	parallel, err := manyOptions(many, &flags)
	if err == nil && flags&^C.NDF_LOAD_META != 0 {
		err = badArgument("ndf_many_options: of the flags only NDF_LOAD_META can be given")
	}
	if err != nil {
		return err
	}
	l.meta = flags&C.NDF_LOAD_META != 0
	for i := range l.paths {
		l.result(int64(i), C.ndf_load_result{status: C.NDF_ERR_CANCELED})
	}
	busy := perWorker[scratch]{get: func() *scratch { return scratches.Get().(*scratch) }}
	defer func() {
		for _, s := range busy.made {
			s.near.Close()
			s.sink.Release()
			scratches.Put(s)
		}
	}()
	err = parallel.Each(context.Background(), int64(len(l.paths)), func(ctx context.Context, worker int, i int64) {
		found, err := l.load(ctx, busy.of(worker), i)
		found.status = l.failures.note(i, err)
		l.result(i, found)
	})
	*need, *ninfos = C.int64_t(l.need), C.int64_t(l.ninfos)
	switch {
	case err != nil:
		return err
	case l.short.Load():
		return l.tooShort()
	}
	return l.failures.err
}

func (l *loading) tooShort() error {
	l.short.Store(true)
	return ndfile.NewError(ndfile.ErrBuffer, "room for "+strconv.Itoa(len(l.buf))+" bytes and "+strconv.FormatInt(l.room, 10)+" infos")
}

// result tells the caller about path i.
func (l *loading) result(i int64, r C.ndf_load_result) {
	copyStruct(element(l.results, i, l.rstride), &r, l.rstride)
}

// load reads path i.
func (l *loading) load(ctx context.Context, s *scratch, i int64) (found C.ndf_load_result, err error) {
	if pointer(l.paths[i]) == nil {
		return found, badArgument("path " + strconv.FormatInt(i, 10) + " is NULL")
	}
	path := fieldText(l.paths[i])
	err = l.loadInto(ctx, s, path, s.buf[:], s.infos[:])
	small := err == nil
	if !small && !errors.Is(err, ndfile.ErrBuffer) {
		return found, err
	}
	n := int64(s.sink.N)
	place, first, room := l.reserve(s.sink.Need, n)
	if !room {
		return found, ndfile.Locate(l.tooShort(), path, "", false)
	}
	infos := s.infos[:]
	if small {
		copy(l.buf[place:], s.buf[:s.sink.Need])
	} else {
		if n > scratchInfos {
			infos = make([]ndfile.LoadInfo, n)
		}
		if err = l.loadInto(ctx, s, path, l.buf[place:place+s.sink.Need], infos); err != nil {
			if errors.Is(err, ndfile.ErrBuffer) {
				l.short.Store(true) // it has grown
			}
			return found, err
		}
		n = int64(s.sink.N)
	}
	for k := range n {
		info := &infos[k]
		info.Move(place)
		used := infoSize - uintptr(len(info.Shape)-int(info.NDim))*8 // the rest of the shape is not filled
		copyStruct(element(l.infos, first+k, l.stride), info, min(l.stride, used))
	}
	found.first_info, found.ninfos = C.int64_t(first), C.int64_t(n)
	if l.meta {
		found.meta_offset, found.meta_len = C.int64_t(place+s.sink.MetaOffset), C.int64_t(s.sink.MetaLen)
	}
	return found, nil
}

// loadInto reads a file into memory of its own.
func (l *loading) loadInto(ctx context.Context, s *scratch, path string, buf []byte, infos []ndfile.LoadInfo) error {
	sink := &s.sink
	sink.Want(buf, infos, l.limits)
	sink.One, sink.Name, sink.Meta = l.one, l.name, l.meta
	return ndfile.Load(ctx, all.Formats, &s.near, path, sink)
}

// reserve takes bytes of the buffer and infos. They are counted also when there is no room.
func (l *loading) reserve(bytes, infos int64) (place, first int64, room bool) {
	aligned, ok := ndarray.Add(bytes, ndfile.Alignment-1)
	if !ok {
		return 0, 0, false
	}
	aligned &^= ndfile.Alignment - 1
	l.mu.Lock()
	defer l.mu.Unlock()
	l.need += aligned
	l.ninfos += infos
	place, first = l.used, l.filled
	if place > int64(len(l.buf))-bytes || first > l.room-infos {
		return 0, 0, false
	}
	l.used += aligned
	l.filled += infos
	return place, first, true
}

// ndfgo_save_many writes many new files in one call, in parallel where that pays.
//
// Each file is written as ndf_save writes it. One that fails does not stop the others. When the call is canceled, files
// that are done stay.
//
// C: int32_t ndf_save_many(const ndf_save_file *files, int64_t n, const ndf_write_options *options, int32_t *statuses, ndf_error *errors, const ndf_many_options *many, ndf_error *err)
//
// Parameters:
//   - files (in, nullable): n files, each with its struct_size set; NULL only with n 0
//   - n: number of files
//   - options (in, nullable): how the files become visible; NULL: atomically, without fsync, over existing files
//   - statuses (out, nullable): receives the status of each file, n of them, NDF_ERR_CANCELED for those not begun
//   - errors (out, nullable): receives the reason for each file that fails, n of them, of which the others stay
//     untouched
//   - many (in, nullable): threads, progress and cancelling; NULL: as ndf_set_threads says, without progress
//
// Returns: NDF_OK when all files were written; NDF_ERR_CANCELED; else the status of the first file that failed, with
// its reason in err; NDF_ERR_ARGUMENT. With wrong arguments of the call nothing is written to statuses and errors.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_save_many
func ndfgo_save_many(files *C.ndf_save_file, n C.int64_t, options *C.ndf_write_options, statuses *C.int32_t, errors *C.ndf_error, many *C.ndf_many_options, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, saveMany(address(files), int64(n), options, statuses, address(errors), many))
}

func saveMany(files address, n int64, options *C.ndf_write_options, statuses *C.int32_t, errs address, many *C.ndf_many_options) error {
	parallel, err := manyOptions(many, nil)
	if err != nil {
		return err
	}
	if n < 0 || files == nil && n > 0 {
		return badArgument("n is " + strconv.FormatInt(n, 10) + ", expected the number of files")
	}
	if n == 0 {
		return nil
	}
	stride, err := structStride("ndf_save_file", files)
	if err != nil {
		return err
	}
	var f failures
	if errs != nil {
		if f.each, err = sliceAt[C.ndf_error]("errors", errs, n); err != nil {
			return err
		}
	}
	var each []C.int32_t
	if statuses != nil {
		if each, err = sliceAt[C.int32_t]("statuses", address(statuses), n); err != nil {
			return err
		}
	}
	for i := range each {
		each[i] = C.NDF_ERR_CANCELED
	}
	folders := perWorker[ndfile.Near]{get: func() *ndfile.Near { return new(ndfile.Near) }}
	defer func() {
		for _, near := range folders.made {
			near.Close()
		}
	}()
	err = parallel.Each(context.Background(), n, func(ctx context.Context, worker int, i int64) {
		status := f.note(i, saveFile(ctx, folders.of(worker), (*C.ndf_save_file)(element(files, i, stride)), i, stride, options))
		if each != nil {
			each[i] = status
		}
	})
	if err == nil {
		err = f.err
	}
	return err
}

// saveFile writes file i.
func saveFile(ctx context.Context, fsys ndfile.FS, file *C.ndf_save_file, i int64, stride uintptr, options *C.ndf_write_options) error {
	var c C.ndfgo_save_file
	if err := input("ndf_save_file", file, &c); err != nil {
		return err
	}
	switch {
	case uintptr(c.struct_size) != stride:
		return badArgument("ndf_save_file " + strconv.FormatInt(i, 10) + ": struct_size differs from that of the first")
	case pointer(c.path) == nil:
		return badArgument("path " + strconv.FormatInt(i, 10) + " is NULL")
	}
	return save(ctx, fsys, fieldText(c.path), (*C.char)(pointer(c.format)), pointer(c.items), int64(c.nitems), (*C.char)(pointer(c.attrs_json)), options)
}
