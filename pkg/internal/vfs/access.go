package vfs

import "syscall"

// The access of a file is its mode, its owner and group, and its ACL: who may do
// what with it. A file that replaces another takes it over with all other
// extended attributes; a new file in a store takes that of the store's files
// (WriteOptions.Like).

// CreateLike creates a file where nothing must be, with the access of the file
// like. At no time is it more open than that one.
func CreateLike(fsys FS, path, like string) (File, error) {
	file, err := fsys.CreatePrivate(path)
	if err != nil {
		return nil, err
	}
	if err := fsys.Adopt(path, like, false); err != nil {
		file.Close()
		fsys.Remove(path)
		return nil, err
	}
	return file, nil
}

// MkdirLike creates a folder with the access of the folder like.
func MkdirLike(fsys FS, path, like string) error {
	if err := fsys.MkdirPrivate(path); err != nil {
		return err
	}
	if err := fsys.Adopt(path, like, false); err != nil {
		fsys.Rmdir(path)
		return err
	}
	return nil
}

// adoptTree gives the new folder and what is in it the access of the old one and
// of what it holds under the same name. Where nothing is, a file takes that of
// the first file in the old folder, and a folder that of the old folder itself.
// The new folder comes last: until then nobody else reaches what is in it.
func adoptTree(fsys FS, work, old string) error {
	files, err := listTree(fsys, nil, work, "", nil)
	if err != nil {
		return err
	}
	sample := ""
	for _, e := range files {
		like := old + e.path[len(work):]
		info, err := fsys.Lstat(like)
		same := err == nil && info.Mode == e.mode
		if err != nil && errnoOf(err) != syscall.ENOENT && errnoOf(err) != syscall.ENOTDIR {
			return err
		}
		if !same && e.mode == Dir {
			like = old
		} else if !same {
			if sample == "" {
				if sample, err = firstFile(fsys, old); err != nil {
					return err
				}
			}
			if like = sample; like == "" {
				continue // files were not to be had: the new folder is all there is
			}
		}
		if err := fsys.Adopt(e.path, like, same); err != nil {
			return err
		}
	}
	return fsys.Adopt(work, old, true)
}

// firstFile returns the path of a regular file in or below a folder, the higher
// the better; "" when there is none.
func firstFile(fsys FS, dir string) (string, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.Mode == Regular && !IsTempName(e.Name) {
			return dir + "/" + e.Name, nil
		}
	}
	for _, e := range entries {
		if e.Mode == Dir && !IsTempName(e.Name) {
			if path, err := firstFile(fsys, dir+"/"+e.Name); path != "" || err != nil {
				return path, err
			}
		}
	}
	return "", nil
}
