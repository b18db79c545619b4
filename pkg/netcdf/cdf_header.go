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

// Tags of the lists in the header of a classic file.
const (
	tagDims = 10
	tagVars = 11
	tagAtts = 12
)

// streaming in place of the number of records says that it was not known when the
// header was written: they go on to the end of the file.
const streaming = math.MaxUint32

// externalSize is the size in bytes of an element of a type in a classic file; 0
// for types that there are not.
var externalSize = [...]int64{ncByte: 1, ncChar: 1, ncShort: 2, ncInt: 4, ncFloat: 4, ncDouble: 8, ncUByte: 1, ncUShort: 2, ncUInt: 4, ncInt64: 8, ncUInt64: 8}

// cdfHeader is the header of a classic file.
type cdfHeader struct {
	model   model
	records int64
	stride  int64 // from a record to the next
	dims    []cdfDim
	atts    []attribute
	vars    []cdfVar
}

// cdfDim is a dimension. That of the records has the length 0 in the header.
type cdfDim struct {
	name      string
	length    int64
	unlimited bool
}

// cdfVar is a variable, and where its elements lie.
type cdfVar struct {
	name   string
	dims   []int
	atts   []attribute
	typ    ncType
	begin  int64
	bytes  int64 // of the variable, or of one record of it, without padding
	record bool
}

// cdfParser walks over a header; err is the first thing wrong.
type cdfParser struct {
	cdfHeader
	ctx    context.Context
	in     vfs.File
	size   int64
	limit  int64 // bytes that attributes may still take
	at     int64
	wide   bool // CDF-5: counts have 8 bytes
	far    bool // not CDF-1: offsets have 8 bytes
	page   []byte
	pageAt int64
	err    error
}

// parseCDF reads a header. Everything in it is checked, and that the data of all
// variables lie inside the file: what is wrong is ndfile.ErrCorrupt with an offset,
// attributes beyond the limit are ndfile.ErrLimit.
func parseCDF(ctx context.Context, in vfs.File, size int64, limits ndfile.Limits) (*cdfHeader, error) {
	p := &cdfParser{ctx: ctx, in: in, size: size, limit: limits.Header()}
	p.parse()
	if p.err == nil {
		p.err = p.place()
	}
	return &p.cdfHeader, p.err
}

func (p *cdfParser) parse() {
	version := p.bytes(4)
	if p.err != nil {
		return
	}
	switch version[3] {
	case 1:
		p.model = cdf1
	case 2:
		p.model = cdf2
	case 5:
		p.model = cdf5
	default:
		p.fail(3, "the version 1, 2 or 5", fmt.Sprint(version[3]))
		return
	}
	p.wide, p.far = p.model == cdf5, p.model != cdf1
	p.records = p.number(p.wide)
	p.readDims()
	p.atts = p.attributes()
	p.readVars()
}

// place finds the distance of records, and checks where the data lie.
func (p *cdfParser) place() error {
	count, last := 0, &cdfVar{}
	first := p.size // of the records
	for i := range p.vars {
		if v := &p.vars[i]; v.record {
			count, last = count+1, v
			p.stride = p.sum(p.stride, padded(v.bytes))
			first = min(first, v.begin)
		}
	}
	if count == 1 { // without its padding
		p.stride = last.bytes
	}
	if !p.wide && p.records == streaming {
		p.records = 0
		if p.stride > 0 {
			p.records = max(0, p.size-first) / p.stride
		}
	}
	for i := range p.vars {
		v := &p.vars[i]
		end := p.sum(v.begin, v.bytes)
		if v.record {
			if p.records == 0 {
				continue
			}
			before, ok := ndarray.Mul(p.records-1, p.stride)
			if !ok {
				before = math.MaxInt64
			}
			end = p.sum(end, before)
		}
		if end > p.size && v.bytes > 0 {
			return ndfile.NewError(ndfile.ErrCorrupt, fmt.Sprintf("expected data up to byte %d, found a file of %d bytes", end, p.size)).At(v.begin).In(v.name)
		}
	}
	return nil
}

// sum adds; what is too large is larger than any file.
func (p *cdfParser) sum(a, b int64) int64 {
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
func (p *cdfParser) bytes(n int) []byte {
	const pageSize = 8 << 10
	if p.err != nil || p.at > p.size-int64(n) {
		p.fail(p.at, "the header", "the end of the file")
		return make([]byte, n)
	}
	if p.at < p.pageAt || p.at+int64(n) > p.pageAt+int64(len(p.page)) {
		p.page = sized(p.page, min(max(pageSize, int64(n)), p.size-p.at))
		p.pageAt = p.at
		if p.err = flat.ReadFull(p.ctx, p.in, p.page, p.at); p.err != nil {
			return make([]byte, n)
		}
	}
	b := p.page[p.at-p.pageAt:][:n]
	p.at += int64(n)
	return b
}

// sized is memory of n bytes, that of p if it suffices.
func sized(p []byte, n int64) []byte {
	if int64(cap(p)) < n {
		return make([]byte, n)
	}
	return p[:n]
}

func (p *cdfParser) fail(at int64, expected, found string) {
	if p.err == nil {
		p.err = ndfile.NewError(ndfile.ErrCorrupt, "classic header: expected "+expected+", found "+found).At(at)
	}
}

// number reads a count or an offset: big endian, of 8 bytes if wide.
func (p *cdfParser) number(wide bool) int64 {
	if !wide {
		return int64(binary.BigEndian.Uint32(p.bytes(4)))
	}
	n := binary.BigEndian.Uint64(p.bytes(8))
	if n > math.MaxInt64 {
		p.fail(p.at-8, "a number below 2^63", fmt.Sprint(n))
		return 0
	}
	return int64(n)
}

// list reads the head of a list of elements that take at least least bytes each.
func (p *cdfParser) list(tag, least int64) (n int64) {
	at := p.at
	found := p.number(false)
	n = p.number(p.wide)
	if found != tag && (found != 0 || n != 0) {
		p.fail(at, fmt.Sprintf("a list with tag %d", tag), fmt.Sprintf("tag %d and %d elements", found, n))
	} else if n > (p.size-p.at)/least {
		p.fail(at, fmt.Sprintf("a list that fits into the %d bytes of the file", p.size), fmt.Sprintf("%d elements", n))
	}
	if p.err != nil {
		return 0
	}
	return n
}

func (p *cdfParser) name() string {
	n := p.number(p.wide)
	if n > 1<<12 {
		p.fail(p.at, "a name of at most 4096 bytes", fmt.Sprint(n))
	}
	if p.err != nil {
		return ""
	}
	return string(p.bytes(int(padded(n)))[:n])
}

func (p *cdfParser) readDims() {
	for range p.list(tagDims, 8) {
		d := cdfDim{name: p.name()}
		at := p.at
		d.length = p.number(p.wide)
		if p.err != nil {
			return
		}
		if d.length == 0 {
			for i := range p.dims {
				if p.dims[i].unlimited {
					p.fail(at, "one dimension without limit", "another one, "+fmt.Sprintf("%q", d.name))
					return
				}
			}
			d.unlimited = true
		}
		p.dims = append(p.dims, d)
	}
}

// typeCode reads a type.
func (p *cdfParser) typeCode() ncType {
	t := p.number(false)
	if t <= 0 || t >= int64(len(externalSize)) {
		p.fail(p.at-4, "a type from 1 to 11", fmt.Sprint(t))
		return ncByte
	}
	return ncType(t)
}

func (p *cdfParser) attributes() (all []attribute) {
	for range p.list(tagAtts, 12) {
		at := p.at
		a := attribute{name: p.name(), typ: p.typeCode()}
		n := p.number(p.wide)
		size, ok := ndarray.Mul(n, externalSize[a.typ])
		if !ok || p.err == nil && padded(size) > p.size-p.at {
			p.fail(p.at, fmt.Sprintf("an attribute of %d elements", n), "the end of the file")
		}
		if p.limit -= size; p.err == nil && p.limit < 0 {
			p.err = ndfile.NewError(ndfile.ErrLimit, fmt.Sprintf("attribute %q: the attributes are larger than the limit for metadata", a.name)).At(at)
		}
		if p.err != nil {
			return nil
		}
		a.n, a.data = int(n), p.content(size)
		toNative(a.data, a.typ)
		all = append(all, a)
	}
	return all
}

// content reads n bytes, which the file has, and passes over their padding.
func (p *cdfParser) content(n int64) []byte {
	data := make([]byte, n)
	if have := p.pageAt + int64(len(p.page)) - p.at; n <= have {
		copy(data, p.page[p.at-p.pageAt:])
	} else {
		p.err = flat.ReadFull(p.ctx, p.in, data, p.at)
	}
	p.at += padded(n)
	return data
}

func (p *cdfParser) readVars() {
	for range p.list(tagVars, 28) {
		v := cdfVar{name: p.name(), bytes: 1}
		n := p.number(p.wide)
		if n > 1024 { // libnetcdf's own limit
			p.fail(p.at, "at most 1024 axes", fmt.Sprint(n))
		}
		if p.err != nil {
			return
		}
		for axis := range n {
			at := p.at
			id := p.number(p.wide)
			if p.err == nil && id >= int64(len(p.dims)) {
				p.fail(at, fmt.Sprintf("a dimension below %d", len(p.dims)), fmt.Sprint(id))
			}
			if p.err != nil {
				return
			}
			v.dims = append(v.dims, int(id))
			d := &p.dims[id]
			if d.unlimited && axis > 0 {
				p.fail(at, "the dimension without limit as the first one", fmt.Sprintf("it is axis %d", axis))
				return
			}
			if v.record = v.record || d.unlimited; !d.unlimited {
				v.bytes = product(v.bytes, d.length)
			}
		}
		v.atts = p.attributes()
		v.typ = p.typeCode()
		v.bytes = product(v.bytes, externalSize[v.typ])
		p.number(p.wide) // vsize, which is redundant and often wrong
		if v.begin = p.number(p.far); p.err != nil {
			return
		}
		p.vars = append(p.vars, v)
	}
}

// toNative turns elements of a type from the order of classic files into the
// machine's, and back.
func toNative(data []byte, t ncType) {
	if d, ok := dtypeOf(t); ok {
		if d = d.WithOrder(ndarray.Big); d.Swapped() {
			ndarray.SwapBytes(data, d)
		}
	}
}

// product multiplies; what is too large is larger than any file.
func product(a, b int64) int64 {
	if m, ok := ndarray.Mul(a, b); ok {
		return m
	}
	return math.MaxInt64
}
