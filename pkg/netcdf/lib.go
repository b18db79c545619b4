//go:build cgo

package netcdf

/*
#cgo linux LDFLAGS: -ldl
#include <stdlib.h>
#include "lib.h"
*/
import "C"

import (
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Constants of netcdf.h that are needed here.
const (
	ncNoWrite = 0
	ncNetCDF4 = 0x1000
	ncNoFill  = 0x100
	ncFill    = 0
	ncGlobal  = -1

	ncClassicModel         = 0x100 // in the mode of create
	ncFormatNetCDF4Classic = 4
	ncChunked              = 0

	ncVlen     = 13 // classes of user-defined types
	ncOpaque   = 14
	ncEnum     = 15
	ncCompound = 16

	ncENotNC    = -51
	ncENoMem    = -61
	ncEFilter   = -132
	ncENoFilter = -136
	ncEBadName  = -59
)

// mu is held around every call of libnetcdf, which is not safe for concurrent use,
// and around nothing that takes long or calls others.
var mu sync.Mutex

// loaded says that libnetcdf was found; mu guards it.
var loaded bool

// load finds libnetcdf, once. The error has two lines: what to do, and what was
// tried.
func load() error {
	mu.Lock()
	defer mu.Unlock()
	if loaded {
		return nil
	}
	var absent, broken []string
	for _, name := range candidates() {
		cname := C.CString(name)
		var why [512]C.char
		ok := C.ndnc_load(cname, &why[0], C.size_t(len(why))) != 0
		C.free(unsafe.Pointer(cname))
		if ok {
			loaded = true
			return nil
		}
		reason := C.GoString(&why[0])
		if strings.Contains(reason, "o such file") && strings.Contains(reason, name+":") { // of name itself, not of a library that it needs
			absent = append(absent, name)
		} else {
			broken = append(broken, name+" ("+reason+")")
		}
	}
	tried := strings.Join(broken, ", ")
	if len(absent) > 0 {
		if tried != "" {
			tried += "; "
		}
		tried += "not there: " + strings.Join(absent, ", ")
	}
	return ndfile.NewError(ndfile.ErrNotSupported, "NetCDF-4 needs libnetcdf 4, which was not found: install it (pip install netCDF4, or Debian's libnetcdf19, "+
		"Fedora's netcdf, conda's libnetcdf, Homebrew's netcdf), or let NDFILE_LIBNETCDF name the file.\nTried: "+tried)
}

// failed makes an error of libnetcdf's code. kind is what it is where the code
// does not tell.
func failed(code C.int, kind *ndfile.ErrorKind, what string) error {
	switch {
	case code == 0:
		return nil
	case code > 0: // an errno
		return ndfile.NewError(ndfile.KindOf(syscall.Errno(code)), what).Because(syscall.Errno(code))
	case code == ncENotNC:
		kind = ndfile.ErrFormat
	case code == ncENoMem:
		kind = ndfile.ErrNoMemory
	case code == ncEFilter, code == ncENoFilter:
		kind = ndfile.ErrNotSupported
	case code == ncEBadName:
		kind = ndfile.ErrArgument
	}
	return ndfile.NewError(kind, what+": libnetcdf: "+C.GoString(C.ndnc_strerror(code)))
}

// withName calls f with a C copy of a name.
func withName(name string, f func(*C.char) C.int) C.int {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return f(c)
}

// kept verifies that a name which was just defined is stored as it is: libnetcdf
// normalises Unicode (NFC). stored asks for it.
func kept(name string, stored func(*C.char) C.int) error {
	if !strings.ContainsFunc(name, func(r rune) bool { return r > 0x7f }) {
		return nil
	}
	var c [ncMaxName + 1]C.char
	err := failed(stored(&c[0]), ndfile.ErrIO, "name")
	if got := C.GoString(&c[0]); err == nil && got != name {
		err = ndfile.NewError(ndfile.ErrValue, "the name "+strconv.Quote(name)+" would become "+strconv.Quote(got)+": NetCDF wants Unicode in its normal form NFC")
	}
	return err
}

// libPath is the path as libnetcdf gets it: absolute, since it takes others for
// URLs if they look so.
func libPath(path string) (string, error) { return filepath.Abs(path) }

// sizes copies numbers into the C type. It has at least one element, so that there
// is an address.
func sizes(n []int64) []C.size_t {
	s := make([]C.size_t, max(1, len(n)))
	for i, v := range n {
		s[i] = C.size_t(v)
	}
	return s
}

// pointer is the address of the first byte, of a byte of no use where there is none.
func pointer(p []byte) unsafe.Pointer {
	if len(p) == 0 {
		return unsafe.Pointer(&empty[0])
	}
	return unsafe.Pointer(&p[0])
}

var empty [8]byte

// cStrings is an array of C strings that libnetcdf fills or reads.
type cStrings struct {
	list  **C.char
	text  unsafe.Pointer
	n     int
	owned bool // libnetcdf allocated the strings
}

// newCStrings makes room for n strings of libnetcdf.
func newCStrings(n int) *cStrings {
	return &cStrings{list: (**C.char)(C.calloc(C.size_t(max(1, n)), C.size_t(unsafe.Sizeof(uintptr(0))))), n: n, owned: true}
}

// toCStrings copies n strings, each followed by a NUL that it does not contain.
func toCStrings(n int, total int64, at func(i int) []byte) *cStrings {
	s := newCStrings(n)
	s.owned = false
	s.text = C.malloc(C.size_t(total) + C.size_t(n) + 1)
	memory, list := unsafe.Slice((*byte)(s.text), total+int64(n)+1), s.slice()
	for i := range n {
		list[i] = (*C.char)(unsafe.Pointer(&memory[0]))
		k := copy(memory, at(i))
		memory[k] = 0
		memory = memory[k+1:]
	}
	return s
}

func (s *cStrings) slice() []*C.char { return unsafe.Slice(s.list, s.n) }

// at is string i, in C memory.
func (s *cStrings) at(i int) []byte {
	p := s.slice()[i]
	if p == nil {
		return nil
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), n)
}

func (s *cStrings) free() {
	if s.owned {
		C.ndnc_free_string(C.size_t(s.n), s.list)
	}
	C.free(unsafe.Pointer(s.list))
	C.free(s.text)
}
