package main

// #include "internal.h"
import "C"

import (
	"context"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// mapping is what a map handle stands for.
type mapping struct{ unmap func() error }

// ndfgo_array_map maps the elements of an array into memory, as they lie in the file.
//
// Nothing is read or copied; pages come from the file when they are touched. Elements are row-major, without gaps, in
// the stored dtype. The memory is read-only: writing to it ends the process, as does reading it after another program
// has made the file shorter.
//
// C: int32_t ndf_array_map(ndf_array array, const void **data, int64_t *len, ndf_map *mapping, ndf_error *err)
//
// Parameters:
//   - array: the handle
//   - data (out, borrowed): receives the address of the first element; NULL when there are no elements
//   - len (out): receives the number of bytes
//   - mapping (out, owned): receives the handle that keeps the memory; 0 after an error
//
// Returns: NDF_OK; NDF_ERR_NOT_SUPPORTED, with the reason, for elements that do not lie in the file as they are in
// memory: compressed, in the other byte order, where elements can be missing, of variable length, not aligned, and for a
// format without NDF_CAP_MAP or a file that is being created; NDF_ERR_NO_DATA; NDF_ERR_CORRUPT; NDF_ERR_IO;
// NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: the memory is valid until the mapping is given to ndf_map_close, also after the array and the file are
// closed, and in a child of fork() as long as the child lives.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_array_map
func ndfgo_array_map(array C.ndf_array, data *address, len *C.int64_t, mapping *C.ndf_map, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	bytes, h, e := mapArray(handle(array))
	*data, *len, *mapping = startOf(bytes), lengthOf(bytes), C.ndf_map(h)
	return report(err, e)
}

func lengthOf(b []byte) C.int64_t { return C.int64_t(len(b)) }

func mapArray(h handle) (data []byte, mapped handle, err error) {
	a, err := findArray(h)
	if err != nil {
		return nil, 0, err
	}
	defer a.leave()
	err = a.read(func(spec *ndfile.Spec) error {
		m, ok := a.array.(ndfile.Mapper)
		switch {
		case a.file.access == creating:
			return ndfile.NewError(ndfile.ErrNotSupported, "cannot be mapped: the file is being created")
		case spec.NoData:
			return ndfile.NewError(ndfile.ErrNoData, "")
		case !ok:
			return ndfile.NewError(ndfile.ErrNotSupported, "cannot be mapped: elements of the format "+a.file.format.Name()+" do not lie in the file as they are in memory")
		}
		bytes, unmap, err := m.Map(context.Background())
		if err != nil {
			return err
		}
		if align := alignment(spec.DType); !aligned(bytes, align) {
			err = ndfile.NewError(ndfile.ErrNotSupported, "cannot be mapped: the elements do not begin at a multiple of "+strconv.Itoa(align)+" bytes in the file")
		} else {
			mapped, err = handles().add(kindMap, &mapping{unmap})
		}
		if err != nil {
			unmap()
			return err
		}
		data = bytes
		return nil
	})
	return data, mapped, err
}

// alignment is what the words of a type want of their addresses, as C compilers have it.
func alignment(d ndarray.DType) int {
	switch d.Kind {
	case ndarray.Bytes, ndarray.Raw, ndarray.Record: // records are packed
		return 1
	case ndarray.Unicode:
		return 4
	case ndarray.Complex:
		return min(d.Size/2, 8)
	}
	return min(d.Size, 8)
}

// ndfgo_map_close gives mapped memory back.
//
// C: int32_t ndf_map_close(ndf_map mapping, ndf_error *err)
//
// Parameters:
//   - mapping (taken): the handle
//
// Returns: NDF_OK; NDF_ERR_HANDLE, as for a handle that is closed already; NDF_ERR_IO.
//
// Ownership: takes the handle back. The memory must not be touched any more.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_map_close
func ndfgo_map_close(mapping C.ndf_map, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, closeMap(handle(mapping)))
}

func closeMap(h handle) error {
	m, err := take[*mapping](kindMap, h)
	if err != nil {
		return err
	}
	return m.unmap()
}
