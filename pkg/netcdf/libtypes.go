//go:build cgo

package netcdf

/*
#include <stdlib.h>
#include "lib.h"
*/
import "C"

import (
	"strconv"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// maxNested bounds compounds in compounds.
const maxNested = 16

var typeKinds = map[C.int]string{ncVlen: "variable-length", ncOpaque: "opaque", ncEnum: "enumeration", ncCompound: "compound"}

// readType describes a type of the file. The caller holds mu.
func readType(ncid, typ C.int, nested int) (*userType, error) {
	var name [ncMaxName + 1]C.char
	var of, kind C.int
	var size, n C.size_t
	if err := failed(C.ndnc_inq_user_type(ncid, typ, &name[0], &size, &of, &n, &kind), ndfile.ErrCorrupt, "type"); err != nil {
		return nil, err
	}
	u := &userType{name: C.GoString(&name[0]), kind: typeKinds[kind]}
	switch {
	case kind == ncEnum:
		u.base = ncType(of)
		return u, u.readMembers(ncid, typ, n)
	case kind != ncCompound:
	case nested > maxNested || size > ndarray.MaxItemSize || n > maxMoves:
		u.why = "there is too much"
	default:
		u.size = int(size)
		return u, u.readFields(ncid, typ, C.int(n), nested)
	}
	return u, nil
}

// readMembers reads the names of an enumeration.
func (u *userType) readMembers(ncid, typ C.int, n C.size_t) error {
	d, ok := dtypeOf(u.base)
	if !ok || n > 1<<16 {
		return ndfile.NewError(ndfile.ErrCorrupt, "the enumeration "+strconv.Quote(u.name)+" has "+strconv.FormatUint(uint64(n), 10)+" names, of type "+strconv.Itoa(int(u.base)))
	}
	u.enum = ndfile.NewAttrs()
	for i := range C.int(n) {
		var name [ncMaxName + 1]C.char
		var value [8]byte
		if err := failed(C.ndnc_inq_enum_member(ncid, typ, i, &name[0], unsafe.Pointer(&value[0])), ndfile.ErrCorrupt, "enumeration"); err != nil {
			return err
		}
		u.enum.Set(C.GoString(&name[0]), number(d, value[:d.Size]))
	}
	return nil
}

// readFields reads the members of a compound.
func (u *userType) readFields(ncid, typ, n C.int, nested int) error {
	fields := make([]field, n)
	for i := range fields {
		var name [ncMaxName + 1]C.char
		var offset C.size_t
		var of, ndims C.int
		var dims [1024]C.int // libnetcdf's own limit
		if err := failed(C.ndnc_inq_compound_field(ncid, typ, C.int(i), &name[0], &offset, &of, &ndims, &dims[0]), ndfile.ErrCorrupt, "field"); err != nil {
			return err
		}
		f := field{name: C.GoString(&name[0]), offset: int(offset), typ: ncType(of)}
		for _, k := range dims[:ndims] {
			f.shape = append(f.shape, int64(k))
		}
		if f.typ >= firstUserType {
			var err error
			if f.of, err = readType(ncid, of, nested+1); err != nil {
				return err
			}
			if f.of.enum != nil {
				f.typ = f.of.base
			}
		}
		fields[i] = f
	}
	u.compound(fields)
	return nil
}

// typeID gives the number of a new variable's type, which is defined if need be. The
// caller holds mu, as of what follows.
func (a *newArray) typeID() (C.int, error) {
	d := a.spec.DType
	switch {
	case a.extra.enum != nil:
		e := a.extra.enum
		key := "enum " + d.String() + string(ndfile.AppendJSON(nil, e.enum))
		return a.file.defined(key, e.name, func(name *C.char, id *C.int) error { return a.file.defineEnum(name, id, a.typ, d, e) })
	case a.typ != userDefined:
		return C.int(a.typ), nil
	}
	name := a.extra.typeName
	if d.Kind == ndarray.Complex {
		var usual string
		if d, usual = complexRecord(d); name == "" {
			name = usual
		}
	} else if name == "" {
		name = "record_t"
	}
	return a.file.compoundID(d, name)
}

// compoundID gives the number of a compound.
func (w *writer) compoundID(d ndarray.DType, name string) (C.int, error) {
	return w.defined(d.String(), name, func(cname *C.char, id *C.int) error { return w.defineCompound(cname, id, d) })
}

// defined gives the number of a type, which define makes under the name wanted or one
// like it.
func (w *writer) defined(key, name string, define func(name *C.char, id *C.int) error) (C.int, error) {
	key = name + " " + key
	if id, ok := w.userTypes[key]; ok {
		return id, nil
	}
	unique := name
	for n := 1; w.typeNames[unique] || w.root.names[unique] || w.root.groups[unique] != nil; n++ {
		unique = name + "_" + strconv.Itoa(n)
	}
	var id C.int
	cname := C.CString(unique)
	defer C.free(unsafe.Pointer(cname))
	if err := define(cname, &id); err != nil {
		return 0, err
	}
	w.userTypes[key], w.typeNames[unique] = id, true
	return id, nil
}

func (w *writer) defineEnum(name *C.char, id *C.int, base ncType, d ndarray.DType, e *userType) error {
	if err := failed(C.ndnc_def_enum(w.root.ncid, C.int(base), name, id), ndfile.ErrValue, "enumeration "+strconv.Quote(e.name)); err != nil {
		return err
	}
	for i := range e.enum.Len() {
		member, v := e.enum.At(i)
		p, ok := element(d, v)
		if !ok {
			return wrongExtra(keyEnum, "values of dtype "+d.String(), v)
		}
		code := withName(member, func(m *C.char) C.int { return C.ndnc_insert_enum(w.root.ncid, *id, m, pointer(p)) })
		if err := failed(code, ndfile.ErrValue, "name "+strconv.Quote(member)+" of an enumeration"); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) defineCompound(name *C.char, id *C.int, d ndarray.DType) error {
	u, fields, _ := layoutOf(d)
	types := make([]C.int, len(fields))
	for i, f := range fields {
		types[i] = C.int(f.typ)
		if f.of != nil {
			var err error
			if types[i], err = w.compoundID(d.Fields[i].DType, C.GoString(name)+"_"+f.name); err != nil {
				return err
			}
		}
	}
	if err := failed(C.ndnc_def_compound(w.root.ncid, C.size_t(u.size), name, id), ndfile.ErrValue, "record"); err != nil {
		return err
	}
	for i, f := range fields {
		var dims []C.int
		for _, n := range f.shape {
			dims = append(dims, C.int(n))
		}
		code := withName(f.name, func(p *C.char) C.int {
			if dims == nil {
				return C.ndnc_insert_compound(w.root.ncid, *id, p, C.size_t(f.offset), types[i])
			}
			return C.ndnc_insert_array_compound(w.root.ncid, *id, p, C.size_t(f.offset), types[i], C.int(len(dims)), &dims[0])
		})
		if err := failed(code, ndfile.ErrValue, "field "+strconv.Quote(f.name)); err != nil {
			return err
		}
	}
	return nil
}

// laidOut gives records as libnetcdf wants them.
func (a *newArray) laidOut(data []byte) ([]byte, error) {
	u, _, _ := layoutOf(a.spec.DType)
	if u.moves == nil {
		return data, nil
	}
	n := len(data) / u.dtype.Size
	out, err := ndfile.NewBytes(n * u.size)
	if err == nil {
		u.unpack(out, data, n)
	}
	return out, err
}
