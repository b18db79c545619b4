package main

// #include "internal.h"
import "C"

import (
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// specAt reads an array's description, into Go's memory.
func specAt(cspec *C.ndf_array_spec) (spec ndfile.Spec, err error) {
	var own C.ndfgo_array_spec
	if err := input("ndf_array_spec", cspec, &own); err != nil {
		return spec, err
	}
	if own.flags&^C.NDF_ARRAY_MASKED != 0 {
		return spec, ndfile.NewError(ndfile.ErrArgument, "ndf_array_spec: of the flags only NDF_ARRAY_MASKED can be given")
	}
	if pointer(own.dtype) == nil {
		return spec, ndfile.NewError(ndfile.ErrArgument, "ndf_array_spec: dtype is NULL")
	}
	if spec.DType, err = ndarray.Parse(strings.Clone(fieldText(own.dtype))); err != nil {
		return spec, err
	}
	shape, err := axesAt("ndf_array_spec: shape", own.ndim, (*C.int64_t)(pointer(own.shape)))
	if err != nil {
		return spec, err
	}
	spec.Shape = append([]int64{}, shape...)
	spec.Masked = own.flags&C.NDF_ARRAY_MASKED != 0
	if spec.Dims, spec.Attrs, spec.Extra, err = metadataAt(own.dims_json, own.attrs_json, own.extra_json); err != nil {
		return spec, err
	}
	return spec, storageAt(&own, &spec)
}

// storageAt reads how the elements of a new array are to be stored, into Go's memory.
func storageAt(own *C.ndfgo_array_spec, spec *ndfile.Spec) error {
	if p := pointer(own.chunks); p != nil {
		chunks, err := axesAt("ndf_array_spec: chunks", own.ndim, (*C.int64_t)(p))
		if err != nil {
			return err
		}
		spec.Chunks = append([]int64{}, chunks...)
	}
	if p := pointer(own.compression); p != nil {
		params, err := bloscParams((*C.ndf_blosc_params)(p))
		if err != nil {
			return err
		}
		spec.Codecs = ndfile.Compression{Codec: params.Codec.String(), Level: params.Level, Shuffle: int(params.Shuffle)}.Codecs()
	}
	if p := pointer(own.shards); p != nil {
		shards, err := axesAt("ndf_array_spec: shards", own.ndim, (*C.int64_t)(p))
		if err != nil {
			return err
		}
		spec.Shards = append([]int64{}, shards...)
	}
	if pointer(own.codecs_json) != nil {
		var err error
		if spec.Codecs, err = ndfile.ParseCodecs([]byte(fieldText(own.codecs_json))); err != nil {
			return err
		}
	}
	if p := pointer(own.fill); p != nil {
		size := int64(spec.DType.Size)
		if spec.DType.IsVar() {
			size = int64(own.fill_len)
		}
		fill, err := sliceAt[byte]("ndf_array_spec: fill", p, size)
		if err != nil {
			return err
		}
		if spec.Fill, err = reordered(fill, spec.DType.Native(), spec.DType); err != nil {
			return err
		}
	}
	if spec.ExpectedRows = int64(own.expected_rows); spec.ExpectedRows < 0 {
		return badArgument("ndf_array_spec: expected_rows is " + strconv.FormatInt(spec.ExpectedRows, 10))
	}
	return nil
}

// reordered gives an element of one type as one of another, which differ in byte order at most.
func reordered(element []byte, from, to ndarray.DType) ([]byte, error) {
	if from.IsVar() {
		return append([]byte{}, element...), nil
	}
	out := make([]byte, len(element))
	err := ndarray.Copy(ndarray.Buffer{DType: to, Data: out}, ndarray.Buffer{DType: from, Data: element})
	return out, err
}
