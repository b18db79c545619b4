package vfs

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// noteName is the extended attribute that holds the note of a folder. It is not
// copied to what replaces the folder.
const noteName = "user.ndf.begun"

// localFS are the file systems in which a lock of a folder is met by all who reach
// it. The kernel gives one in others too, but NFS, SMB and FUSE tell no other
// machine of it.
var localFS = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC}

// osFolder is a FolderLock by flock.
type osFolder struct {
	fd   int
	path string
}

// OpenFolderLock implements FolderLocker.
func (osFS) OpenFolderLock(path string) (FolderLock, error) {
	fd, err := openWatched(path, syscall.O_RDONLY|syscall.O_DIRECTORY)
	if err != nil {
		return nil, pathError("lock", path, err)
	}
	l := &osFolder{fd: fd, path: strings.Clone(path)}
	var fs syscall.Statfs_t
	err = retry(func() error { return syscall.Fstatfs(fd, &fs) })
	if err == nil && !slices.Contains(localFS, int64(fs.Type)) {
		err = syscall.ENOTSUP
	}
	if err != nil {
		l.Close()
		return nil, pathError("lock", path, err)
	}
	return l, nil
}

func (l *osFolder) TryLock(kind LockKind) (ok bool, err error) {
	how := [...]int{syscall.LOCK_UN, syscall.LOCK_SH, syscall.LOCK_EX}[kind]
	err = retry(func() error { return syscall.Flock(l.fd, how|syscall.LOCK_NB) })
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, pathError("lock", l.path, err)
}

func (l *osFolder) Note() (string, error) {
	var space [256]byte
	value, err := fgetxattr(l.fd, noteName, space[:])
	if err == syscall.ENODATA {
		return "", nil
	}
	return string(value), pathError("read", l.path, err)
}

func (l *osFolder) SetNote(text string) error {
	var err error
	if text == "" {
		err = fremovexattr(l.fd, noteName)
	} else {
		err = fsetxattr(l.fd, noteName, []byte(text))
	}
	if err == syscall.ENODATA {
		err = nil
	}
	return pathError("write", l.path, err)
}

func (l *osFolder) Info() (Info, error) {
	var st syscall.Stat_t
	err := retry(func() error { return syscall.Fstat(l.fd, &st) })
	return infoOf(&st), pathError("stat", l.path, err)
}

// Holder implements FolderLock, by the kernel's list of locks. Processes of other
// containers are not in it.
func (l *osFolder) Holder() int {
	var st syscall.Stat_t
	if syscall.Fstat(l.fd, &st) != nil {
		return 0
	}
	f, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer f.Close()
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	for lines := bufio.NewScanner(f); lines.Scan(); { // 1: FLOCK  ADVISORY  WRITE 719 fe:00:2113 0 EOF
		if words := strings.Fields(lines.Text()); len(words) > 5 && words[1] == "FLOCK" && words[5] == file {
			pid, _ := strconv.Atoi(words[4])
			return max(pid, 0)
		}
	}
	return 0
}

// Close unlocks before it closes: a child that was forked just now may have the
// folder open too.
func (l *osFolder) Close() error {
	l.TryLock(Unlocked)
	return pathError("unlock", l.path, closeWatched(l.fd))
}
