//go:build cgo

package netcdf

/*
#include "lib.h"
*/
import "C"

import (
	"strconv"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// put writes an attribute. The caller holds mu.
func (a *attribute) put(ncid, varid C.int) error {
	data := pointer(a.data)
	if a.typ == ncString {
		total := int64(0)
		for _, s := range a.texts {
			total += int64(len(s))
		}
		s := toCStrings(len(a.texts), total, func(i int) []byte { return []byte(a.texts[i]) })
		defer s.free()
		data = unsafe.Pointer(s.list)
	}
	code := withName(a.name, func(name *C.char) C.int {
		typ := C.int(a.typ)
		if a.user != 0 {
			typ = C.int(a.user)
		}
		return C.ndnc_put_att(ncid, varid, name, typ, C.size_t(a.n), data)
	})
	if err := failed(code, ndfile.ErrValue, "attribute "+strconv.Quote(a.name)); err != nil {
		return err
	}
	return kept(a.name, func(p *C.char) C.int {
		var n C.int
		if code := numAtts(ncid, varid, &n); code != 0 {
			return code
		}
		return C.ndnc_inq_attname(ncid, varid, n-1, p)
	})
}

// readAttributes reads those of a variable, or of a group where varid is ncGlobal.
// The caller holds mu. limit is how many bytes all of them may have; it is counted down.
func readAttributes(ncid, varid C.int, limit *int64) ([]attribute, error) {
	var n C.int
	if err := failed(numAtts(ncid, varid, &n), ndfile.ErrCorrupt, "attributes"); err != nil {
		return nil, err
	}
	all := make([]attribute, 0, min(n, 1<<10))
	for i := range n {
		var name [ncMaxName + 1]C.char
		if err := failed(C.ndnc_inq_attname(ncid, varid, i, &name[0]), ndfile.ErrCorrupt, "attribute "+strconv.Itoa(int(i))); err != nil {
			return nil, err
		}
		a := attribute{name: C.GoString(&name[0])}
		if err := a.read(ncid, varid, &name[0], limit); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func numAtts(ncid, varid C.int, n *C.int) C.int {
	if varid == ncGlobal {
		return C.ndnc_inq_natts(ncid, n)
	}
	return C.ndnc_inq_varnatts(ncid, varid, n)
}

func (a *attribute) read(ncid, varid C.int, name *C.char, limit *int64) error {
	what := "attribute " + strconv.Quote(a.name)
	var typ C.int
	var n C.size_t
	if err := failed(C.ndnc_inq_att(ncid, varid, name, &typ, &n), ndfile.ErrCorrupt, what); err != nil {
		return err
	}
	if a.typ = ncType(typ); a.typ >= firstUserType {
		u, err := readType(ncid, typ, 0)
		if err != nil {
			return err
		}
		a.typ = u.base
	}
	size := 8
	if d, ok := dtypeOf(a.typ); ok {
		size = d.Size
	} else if a.typ == ncChar {
		size = 1
	} else if a.typ != ncString {
		return nil // of no type that there is a value for
	}
	total, ok := ndarray.Mul(int64(min(n, 1<<62)), int64(size))
	if *limit -= total; !ok || *limit < 0 {
		return ndfile.NewError(ndfile.ErrLimit, what+": the attributes are larger than the limit for metadata; it has "+strconv.FormatUint(uint64(n), 10)+" elements")
	}
	a.n = int(n)
	if a.typ != ncString {
		a.data = make([]byte, total)
		return failed(C.ndnc_get_att(ncid, varid, name, pointer(a.data)), ndfile.ErrCorrupt, what)
	}
	s := newCStrings(a.n)
	defer s.free()
	if err := failed(C.ndnc_get_att(ncid, varid, name, unsafe.Pointer(s.list)), ndfile.ErrCorrupt, what); err != nil {
		return err
	}
	for i := range a.n {
		a.texts = append(a.texts, string(s.at(i)))
	}
	return nil
}
