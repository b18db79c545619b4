package netcdf

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Tags of the lists in a classic header.
const (
	tagDims = 10
	tagVars = 11
	tagAtts = 12
)

// externalSize is the size in bytes of an element of a type in a classic file; 0
// for types that there are not.
var externalSize = [...]int64{ncByte: 1, ncChar: 1, ncShort: 2, ncInt: 4, ncFloat: 4, ncDouble: 8, ncUByte: 1, ncUShort: 2, ncUInt: 4, ncInt64: 8, ncUInt64: 8}

// checkClassic verifies that the data of all variables lies inside a file of CDF-1,
// CDF-2 or CDF-5. libnetcdf reads what is missing of a truncated file as zeros.
func checkClassic(ctx context.Context, in vfs.File, size int64) error {
	h := classicHeader{ctx: ctx, in: in, size: size}
	return h.parse()
}

// classicHeader walks over a header; err is the first thing wrong.
type classicHeader struct {
	ctx    context.Context
	in     vfs.File
	size   int64
	at     int64
	wide   bool // CDF-5: counts have 8 bytes
	far    bool // not CDF-1: offsets have 8 bytes
	page   []byte
	pageAt int64
	err    error
}

// classicVar is where the data of a variable lies.
type classicVar struct {
	name   string
	begin  int64
	bytes  int64 // of the variable, or of one record of it
	record bool
}

func (h *classicHeader) parse() error {
	version := h.bytes(4)
	if h.err != nil {
		return h.err
	}
	h.wide, h.far = version[3] == 5, version[3] != 1
	records := h.number(h.wide)
	streaming := !h.wide && records == math.MaxUint32 // the number was not known when the header was written
	dims := h.dims()
	h.attributes()
	vars := h.vars(dims)
	if h.err != nil {
		return h.err
	}
	var stride int64 // of one record: all of the record variables, or a single one without its padding
	var count int
	for _, v := range vars {
		if v.record {
			count++
			stride = h.sum(stride, padded(v.bytes))
		}
	}
	for _, v := range vars {
		end := h.sum(v.begin, v.bytes)
		if v.record {
			if count == 1 {
				stride = v.bytes
			}
			if records == 0 || streaming {
				continue
			}
			before, ok := ndarray.Mul(records-1, stride)
			if !ok {
				before = math.MaxInt64
			}
			end = h.sum(end, before)
		}
		if end > h.size && v.bytes > 0 {
			return ndfile.NewError(ndfile.ErrCorrupt, fmt.Sprintf("expected data up to byte %d, found a file of %d bytes", end, h.size)).At(v.begin).In(v.name)
		}
	}
	return nil
}

// sum adds; what is too large is larger than any file.
func (h *classicHeader) sum(a, b int64) int64 {
	if s, ok := ndarray.Add(a, b); ok {
		return s
	}
	return math.MaxInt64
}

func padded(n int64) int64 {
	if n > math.MaxInt64-3 {
		return math.MaxInt64
	}
	return (n + 3) &^ 3
}

// bytes gives the next n bytes of the header, few of them.
func (h *classicHeader) bytes(n int) []byte {
	const pageSize = 8 << 10
	if h.err != nil || h.at > h.size-int64(n) {
		h.fail(h.at, "the header", "the end of the file")
		return make([]byte, n)
	}
	if h.at < h.pageAt || h.at+int64(n) > h.pageAt+int64(len(h.page)) {
		h.page = sized(h.page, min(max(pageSize, int64(n)), h.size-h.at))
		h.pageAt = h.at
		if h.err = flat.ReadFull(h.ctx, h.in, h.page, h.at); h.err != nil {
			return make([]byte, n)
		}
	}
	p := h.page[h.at-h.pageAt:][:n]
	h.at += int64(n)
	return p
}

// sized is memory of n bytes, that of p if it suffices.
func sized(p []byte, n int64) []byte {
	if int64(cap(p)) < n {
		return make([]byte, n)
	}
	return p[:n]
}

func (h *classicHeader) fail(at int64, expected, found string) {
	if h.err == nil {
		h.err = ndfile.NewError(ndfile.ErrCorrupt, "classic header: expected "+expected+", found "+found).At(at)
	}
}

// number reads a count or an offset: big endian, of 8 bytes if wide.
func (h *classicHeader) number(wide bool) int64 {
	if !wide {
		return int64(binary.BigEndian.Uint32(h.bytes(4)))
	}
	n := binary.BigEndian.Uint64(h.bytes(8))
	if n > math.MaxInt64 {
		h.fail(h.at-8, "a number below 2^63", fmt.Sprint(n))
		return 0
	}
	return int64(n)
}

// list reads the head of a list of elements that take at least least bytes each.
func (h *classicHeader) list(tag, least int64) (n int64) {
	at := h.at
	found := h.number(false)
	n = h.number(h.wide)
	if found != tag && (found != 0 || n != 0) {
		h.fail(at, fmt.Sprintf("a list with tag %d", tag), fmt.Sprintf("tag %d and %d elements", found, n))
	} else if n > (h.size-h.at)/least {
		h.fail(at, fmt.Sprintf("a list that fits into the %d bytes of the file", h.size), fmt.Sprintf("%d elements", n))
	}
	if h.err != nil {
		return 0
	}
	return n
}

// skip passes over n bytes and their padding.
func (h *classicHeader) skip(n int64) {
	if n = padded(n); h.err == nil && n > h.size-h.at {
		h.fail(h.at, fmt.Sprintf("%d bytes", n), "the end of the file")
	}
	if h.err == nil {
		h.at += n
	}
}

func (h *classicHeader) name() string {
	n := h.number(h.wide)
	if n > 1<<12 {
		h.fail(h.at, "a name of at most 4096 bytes", fmt.Sprint(n))
	}
	if h.err != nil {
		return ""
	}
	return string(h.bytes(int(padded(n)))[:n])
}

func (h *classicHeader) dims() (lengths []int64) {
	for range h.list(tagDims, 8) {
		if h.name(); h.err != nil {
			return nil
		}
		lengths = append(lengths, h.number(h.wide))
	}
	return lengths
}

// elementSize reads a type.
func (h *classicHeader) elementSize() int64 {
	t := h.number(false)
	if t <= 0 || t >= int64(len(externalSize)) {
		h.fail(h.at-4, "a type from 1 to 11", fmt.Sprint(t))
		return 0
	}
	return externalSize[t]
}

func (h *classicHeader) attributes() {
	for range h.list(tagAtts, 12) {
		h.name()
		size := h.elementSize()
		n, ok := ndarray.Mul(h.number(h.wide), size)
		if !ok {
			h.fail(h.at, "an attribute of less than 2^63 bytes", "more")
		}
		if h.skip(n); h.err != nil {
			return
		}
	}
}

func (h *classicHeader) vars(dims []int64) (vars []classicVar) {
	for range h.list(tagVars, 28) {
		v := classicVar{name: h.name(), bytes: 1}
		n := h.number(h.wide)
		if n > 1024 { // libnetcdf's own limit
			h.fail(h.at, "at most 1024 axes", fmt.Sprint(n))
		}
		empty := false
		for axis := range n {
			id := h.number(h.wide)
			if h.err != nil {
				return nil
			}
			if id >= int64(len(dims)) {
				h.fail(h.at, fmt.Sprintf("a dimension below %d", len(dims)), fmt.Sprint(id))
				return nil
			}
			switch length := dims[id]; {
			case length == 0 && axis == 0:
				v.record = true
			case length == 0:
				empty = true
			default:
				if v.bytes, _ = ndarray.Mul(v.bytes, length); v.bytes == 0 {
					v.bytes = math.MaxInt64
				}
			}
		}
		h.attributes()
		size := h.elementSize()
		var ok bool
		if v.bytes, ok = ndarray.Mul(v.bytes, size); !ok {
			v.bytes = math.MaxInt64
		}
		if empty {
			v.bytes = 0
		}
		h.number(h.wide) // vsize, which is redundant and often wrong
		if v.begin = h.number(h.far); h.err != nil {
			return nil
		}
		vars = append(vars, v)
	}
	return vars
}
