//go:build linux || darwin

package vfs

import "syscall"

const (
	privateFile = 0o600
	privateDir  = 0o700
)

func (o osFS) CreatePrivate(path string) (File, error) {
	fd, err := open(path, syscall.O_RDWR|createFlags(true)|o.noFollow, privateFile)
	if err != nil {
		return nil, pathError("create", path, err)
	}
	return newOSFile(path, fd), nil
}

func (osFS) MkdirPrivate(path string) error {
	return pathError("mkdir", path, retry(func() error { return syscall.Mkdir(path, privateDir) }))
}

func (o osFS) Adopt(path, like string, all bool) error {
	want, err := o.Stat(like)
	if err != nil {
		return err
	}
	fd, err := open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return pathError("adopt", path, err)
	}
	var space [512]byte
	names, err := attributes(-1, like, "", space[:])
	if err == nil {
		err = adopt(fd, like, names, want, all)
	}
	syscall.Close(fd)
	return pathError("adopt", path, err)
}

// adopt gives the new file or folder fd the access of like, which want describes;
// names are those of its extended attributes.
// Where the group cannot be kept, the group gets no more than others have.
func adopt(fd int, like string, names []byte, want Info, all bool) error {
	var st syscall.Stat_t
	if err := retry(func() error { return syscall.Fstat(fd, &st) }); err != nil {
		return err
	}
	have := infoOf(&st)
	perm := want.Perm &^ 0o7000 // of files; whoever made a program of one does so again
	if have.Mode == Dir {
		perm = want.Perm
	}
	owned, sameGroup := takeOwner(fd, have, want)
	if !sameGroup {
		perm = perm&^0o2070 | perm&0o7<<3
	}
	changed, err := takeAttributes(fd, like, names, all, sameGroup)
	if err != nil {
		return err
	}
	if changed || owned || perm != have.Perm {
		return retry(func() error { return syscall.Fchmod(fd, perm) })
	}
	return nil
}

// takeOwner changes owner and group as far as that is permitted.
func takeOwner(fd int, have, want Info) (changed, sameGroup bool) {
	if have.UID != want.UID {
		if retry(func() error { return syscall.Fchown(fd, int(want.UID), int(want.GID)) }) == nil {
			return true, true
		}
	}
	if have.GID == want.GID {
		return false, true
	}
	ok := retry(func() error { return syscall.Fchown(fd, -1, int(want.GID)) }) == nil
	return ok, ok
}
