package main

// #include "internal.h"
import "C"

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// ndfgo_file_load gives arrays of an open file, what describes them, or both, in one call.
//
// It does for an open file what ndf_load_prepared does for a path, with the same arguments: NDF_LOAD_META with
// NDF_LOAD_BARE gives everything about a file but its elements, NDF_LOAD_SOME takes a file of any number of arrays
// through memory of any size: come again with first at the array that follows those that came.
//
// C: int32_t ndf_file_load(ndf_file file, ndf_load_args *args, ndf_error *err)
//
// Parameters:
//   - file: the handle of a file open for reading or for changes
//   - args (inout): as for ndf_load_prepared. series is 0
//
// Returns: NDF_OK, also when first is behind the last array: none came; NDF_ERR_BUFFER; NDF_ERR_NAME when there is no
// array of that name; NDF_ERR_NOT_SUPPORTED for elements of a file that is being created; NDF_ERR_CORRUPT;
// NDF_ERR_LIMIT; NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT. Other than NDF_OK and NDF_ERR_BUFFER leave args as it
// was.
//
// Ownership: nothing is kept.
//
// Threads: any; reads of one file run in parallel.
//
// Since: 1.0
//
//export ndfgo_file_load
func ndfgo_file_load(file C.ndf_file, args *C.ndf_load_args, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, fileLoad(handle(file), args))
}

// ndfgo_file_open_load opens an existing file and gives what is at hand of it, in one call.
//
// It does what ndf_file_open and ndf_file_get_info do, and loads what ndf_file_load with NDF_LOAD_SOME gives as far as
// that is at hand: what describes the first arrays where a format keeps that in one place, and their elements where the
// file is so small that they have been read (else data_offset is -1). What is not at hand, or cannot be loaded, is no
// error: ninfos tells how many arrays there are, and ndf_file_load gives the others.
//
// C: int32_t ndf_file_open_load(const char *path, const ndf_open_options *options, ndf_load_args *args, ndf_file_info *info, ndf_file *file, ndf_error *err)
//
// Parameters:
//   - path (in): the file or folder
//   - options (in, nullable): as for ndf_file_open
//   - args (inout): as for ndf_load_prepared; of flags NDF_LOAD_META, NDF_LOAD_BARE and NDF_LOAD_ONCE count; other flags, name and
//     first are not looked at. series is 0
//   - info (out): struct_size set by the caller, the rest is filled
//   - file (out, owned): receives the handle; 0 after an error, and with NDF_LOAD_ONCE where all arrays came
//
// Returns: NDF_OK, and else what ndf_file_open returns.
//
// Ownership: the handle is the caller's, to be given to ndf_file_close.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_file_open_load
func ndfgo_file_open_load(path *C.char, options *C.ndf_open_options, args *C.ndf_load_args, info *C.ndf_file_info, file *C.ndf_file, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	h, e := openLoad(textAt(path), options, args, info)
	*file = C.ndf_file(h)
	return report(err, e)
}

func openLoad(path string, options *C.ndf_open_options, args *C.ndf_load_args, info *C.ndf_file_info) (handle, error) {
	f, err := newFile(path, options)
	if err != nil {
		return 0, err
	}
	done := false
	if err = f.describe(f.file, info); err == nil {
		err = loadPrepared(args, func(sink *ndfile.Sink) error {
			ndfile.LoadAhead(context.Background(), f.file, sink)
			done = args.flags&C.NDF_LOAD_ONCE != 0 && sink.N == len(f.file.Names())
			return nil
		})
	}
	if err != nil || done {
		f.end(abort)
		return 0, err
	}
	return f.register()
}

func fileLoad(h handle, args *C.ndf_load_args) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return loadPrepared(args, func(sink *ndfile.Sink) error {
		return f.shared(func(nf ndfile.File) error {
			return interruptible(func(ctx context.Context) error { return ndfile.LoadFile(ctx, nf, sink) })
		})
	})
}

// fromPath loads a file that is not open.
func fromPath(path string) func(*ndfile.Sink) error {
	return func(sink *ndfile.Sink) error {
		if asked() {
			return loadAsking(path, sink)
		}
		return ndfile.Load(context.Background(), all.Formats, ndfile.OS, path, sink)
	}
}

// loadAsking loads where the thread may have a function to ask, which takes memory.
func loadAsking(path string, sink *ndfile.Sink) error {
	return interruptible(func(ctx context.Context) error { return ndfile.Load(ctx, all.Formats, ndfile.OS, path, sink) })
}

// loadPrepared loads with the caller's arguments and fills them.
func loadPrepared(args *C.ndf_load_args, run func(*ndfile.Sink) error) error {
	var own C.ndfgo_load_args
	err := input("ndf_load_args", args, &own)
	if err != nil {
		return err
	}
	done, err := loadArgs(&own, run)
	if done {
		copyStruct(address(args), &own, uintptr(own.struct_size))
	}
	return err
}

// sinks are spare sinks: a sink is large and used for a moment.
var sinks = sync.Pool{New: func() any { return new(ndfile.Sink) }}

// allLoadFlags are those that there are.
const allLoadFlags = C.NDF_LOAD_META | C.NDF_LOAD_BARE | C.NDF_LOAD_NAMES | C.NDF_LOAD_SOME | C.NDF_LOAD_ONCE

// loadArgs has run load what args ask for, and fills them; done tells that it has come so far.
func loadArgs(args *C.ndfgo_load_args, run func(*ndfile.Sink) error) (done bool, err error) {
	infos, room := pointer(args.infos), int64(args.max_infos)
	dst, err := roomAt("buf", "len", pointer(args.buf), int64(args.cap))
	switch {
	case err != nil:
		return false, err
	case room < 0 || infos == nil && room > 0:
		return false, badArgument("ninfos is " + strconv.FormatInt(room, 10) + ", expected the number of infos that there is room for")
	case args.first < 0:
		return false, badArgument("ndf_load_args: first is " + strconv.FormatInt(int64(args.first), 10))
	case args.flags&^allLoadFlags != 0:
		return false, badArgument("ndf_load_args: unknown flags")
	}
	stride := infoSize
	if room > 0 {
		if stride, err = structStride("ndf_load_info", infos); err != nil {
			return false, err
		}
	}
	sink := sinks.Get().(*ndfile.Sink)
	defer func() {
		sink.Release()
		sinks.Put(sink)
	}()
	sink.Want(dst, nil, limits())
	if name := pointer(args.name); name != nil {
		sink.One, sink.Name = true, textAt((*C.char)(name))
	}
	sink.First, sink.Meta, sink.Bare = int(args.first), args.flags&C.NDF_LOAD_META != 0, args.flags&C.NDF_LOAD_BARE != 0
	sink.Names, sink.Some = args.flags&C.NDF_LOAD_NAMES != 0, args.flags&C.NDF_LOAD_SOME != 0
	if stride == infoSize {
		if sink.Infos, err = sliceAt[ndfile.LoadInfo]("infos", infos, room); err == nil {
			err = run(sink)
		}
	} else {
		err = loadStrided(run, sink, infos, room, stride)
	}
	if done = err == nil || errors.Is(err, ndfile.ErrBuffer); done {
		args.need, args.ninfos, args.narrays = C.int64_t(sink.Need), C.int64_t(sink.N), C.int64_t(sink.Total)
		args.series = C.int64_t(seriesOf(sink))
		args.meta_offset, args.meta_len = C.int64_t(sink.MetaOffset), C.int64_t(sink.MetaLen)
	}
	return done, err
}

// seriesOf is the sink's series as this process knows it: the copy of the library that a forked child loads counts its
// own, but the child remembers those of its parent.
func seriesOf(sink *ndfile.Sink) uint64 {
	if sink.Series == 0 {
		return 0
	}
	return sink.Series<<8 | uint64(epoch())
}

// loadStrided loads for a caller whose infos have another size than ours.
func loadStrided(run func(*ndfile.Sink) error, sink *ndfile.Sink, infos address, room int64, stride uintptr) error {
	if _, err := sliceAt[byte]("infos", infos, room); err != nil {
		return err
	}
	const few = 16
	sink.Infos = make([]ndfile.LoadInfo, min(room, few))
	err := run(sink)
	if n := min(int64(sink.N), room); n > few && errors.Is(err, ndfile.ErrBuffer) || err == nil && sink.Some && room > few {
		sink.Infos, sink.N, sink.Need = make([]ndfile.LoadInfo, room), 0, 0
		err = run(sink)
	}
	for i := range min(sink.N, len(sink.Infos)) {
		outputAt(element(infos, int64(i), stride), address(&sink.Infos[i]), min(stride, infoSize))
	}
	return err
}
