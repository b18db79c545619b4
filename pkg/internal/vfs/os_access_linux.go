package vfs

import (
	"bytes"
	"encoding/binary"
	"strings"
	"syscall"
	"unsafe"
)

const (
	accessACL  = "system.posix_acl_access"
	defaultACL = "system.posix_acl_default"

	aclGroup = 0x04 // tags of entries: the group that owns the file,
	aclOther = 0x20 // and everybody else

	maxAttributes = 64 << 10 // bytes of all names, and of a value: the kernel's limit
)

// takeAttributes makes the ACL of the new file fd that of like, which has the
// attributes want, and, with all, copies the other ones. Hashes of the old content are left out.
// Those that belong to the system are copied where that is permitted; ACLs and
// what users wrote must be.
func takeAttributes(fd int, like string, want []byte, all, sameGroup bool) (changed bool, err error) {
	var space [512]byte
	have, err := attributes(fd, "", "", space[:])
	if err != nil {
		return false, err
	}
	for rest := want; len(rest) > 0; {
		name, after, _ := bytes.Cut(rest, []byte{0})
		rest = after
		copied, err := takeAttribute(fd, like, string(name), all, sameGroup)
		if err != nil {
			return changed, err
		}
		changed = changed || copied
	}
	for rest := have; len(rest) > 0; { // what the folder gave it
		name, after, _ := bytes.Cut(rest, []byte{0})
		rest = after
		if isACL(string(name)) && !hasAttribute(want, name) {
			changed = true
			if err := fremovexattr(fd, string(name)); err != nil && err != syscall.ENODATA {
				return changed, err
			}
		}
	}
	return changed, nil
}

func hasAttribute(list, name []byte) bool {
	for len(list) > 0 {
		n, rest, _ := bytes.Cut(list, []byte{0})
		if bytes.Equal(n, name) {
			return true
		}
		list = rest
	}
	return false
}

func isACL(name string) bool { return name == accessACL || name == defaultACL }

// takeAttribute copies one and tells whether it did.
func takeAttribute(fd int, like, name string, all, sameGroup bool) (bool, error) {
	if !all && !isACL(name) || name == "security.ima" || name == "security.evm" || name == noteName {
		return false, nil
	}
	value, err := attributes(-1, like, name, make([]byte, 256))
	if err == nil && value != nil {
		if name == accessACL && !sameGroup {
			narrowGroup(value)
		}
		err = fsetxattr(fd, name, value)
	}
	if err != nil && !isACL(name) && !strings.HasPrefix(name, "user.") {
		return false, nil
	}
	return err == nil, err
}

// narrowGroup takes from the owning group of an ACL what others do not have:
// it is not the group that it was meant for.
func narrowGroup(acl []byte) {
	var group []byte
	other := uint16(0)
	for at := 4; at+8 <= len(acl); at += 8 { // a version, then entries of tag, permissions and id
		switch e := acl[at:]; binary.LittleEndian.Uint16(e) {
		case aclGroup:
			group = e[2:4]
		case aclOther:
			other = binary.LittleEndian.Uint16(e[2:])
		}
	}
	if group != nil {
		binary.LittleEndian.PutUint16(group, binary.LittleEndian.Uint16(group)&other)
	}
}

// attributes returns the names of the extended attributes of the file fd or, where
// fd is negative, of path, each with a NUL after it; or of the named one its value.
// They lie in buf, if they fit. A file system without such things has none.
func attributes(fd int, path, name string, buf []byte) ([]byte, error) {
	var space1, space2 pathSpace
	p, err := cpath(&space1, path)
	if err != nil {
		return nil, err
	}
	q, err := cpath(&space2, name)
	if err != nil {
		return nil, err
	}
	for {
		var n uintptr
		var errno syscall.Errno
		size := uintptr(len(buf))
		switch {
		case fd >= 0:
			n, _, errno = syscall.Syscall(syscall.SYS_FLISTXATTR, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), size)
		case name == "":
			n, _, errno = syscall.Syscall(syscall.SYS_LLISTXATTR, uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), size)
		default:
			n, _, errno = syscall.Syscall6(syscall.SYS_LGETXATTR, uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(q)), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), size, 0, 0)
		}
		switch {
		case errno == 0:
			return buf[:n], nil
		case errno == syscall.ERANGE && len(buf) < maxAttributes:
			buf = make([]byte, maxAttributes)
		case errno == syscall.ENOTSUP, errno == syscall.ENOSYS, errno == syscall.ENODATA:
			return nil, nil
		case errno != syscall.EINTR:
			return nil, errno
		}
	}
}

// fgetxattr returns the value of an attribute, in buf or where it is too long for it
// in memory of its own.
func fgetxattr(fd int, name string, buf []byte) ([]byte, error) {
	var space pathSpace
	p, err := cpath(&space, name)
	if err != nil {
		return nil, err
	}
	for {
		n, _, errno := syscall.Syscall6(syscall.SYS_FGETXATTR, uintptr(fd), uintptr(unsafe.Pointer(p)),
			uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)), 0, 0)
		switch {
		case errno == 0:
			return buf[:n], nil
		case errno == syscall.ERANGE && len(buf) < maxAttributes:
			buf = make([]byte, maxAttributes)
		default:
			return nil, errno
		}
	}
}

func fsetxattr(fd int, name string, value []byte) error {
	var space pathSpace
	p, err := cpath(&space, name)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(syscall.SYS_FSETXATTR, uintptr(fd), uintptr(unsafe.Pointer(p)),
		uintptr(unsafe.Pointer(unsafe.SliceData(value))), uintptr(len(value)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func fremovexattr(fd int, name string) error {
	var space pathSpace
	p, err := cpath(&space, name)
	if err != nil {
		return err
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_FREMOVEXATTR, uintptr(fd), uintptr(unsafe.Pointer(p)), 0); errno != 0 {
		return errno
	}
	return nil
}
