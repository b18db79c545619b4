package edit

import (
	"io"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// A writer that is killed while it changes the structure of a store leaves what the
// metadata do not count. That it was about to make it, and nobody has lost it, is
// noted with the lock: a text of the format's own, which stays as long as nobody has
// settled it. It is a note of the folder, or stands in the lock file where folders
// have none. Without a lock there is no note.

// intentAt is where the text stands in the lock file, behind the line of the holder.
const intentAt = 512

// mostIntent bounds the text.
const mostIntent = 4096

// Intend notes what is about to be changed, before it is; Settle forgets it.
func (s *Session) Intend(what string) {
	if s.lock == nil || len(what) >= mostIntent || what == s.lock.intent {
		return
	}
	s.lock.intent, s.lock.noted = what, true
	if s.lock.folder != nil { // without it, here and below, less is known after a kill
		s.lock.folder.SetNote(what)
	} else {
		s.lock.file.WriteAt([]byte(what+"\n"), intentAt)
	}
}

// Settle says that nothing is left of what was begun, here or by a writer before.
func (s *Session) Settle() {
	if s.lock != nil {
		s.lock.intent = ""
	}
}

// Intended is what this session or a writer before it has begun and not settled, as
// given to Intend; "" is nothing.
func (s *Session) Intended() string {
	if s.lock == nil {
		return ""
	}
	if s.shared { // others note theirs
		if intent, err := s.lock.readIntent(); err == nil {
			s.lock.intent = intent
		}
	}
	return s.lock.intent
}

// IntendedIn is what was begun and not settled in the store in a folder, which a writer
// may have open just now.
func IntendedIn(fsys ndfile.FS, folder string) string {
	if l, err := vfs.OpenFolderLock(fsys, folder); err == nil {
		defer l.Close()
		if note, _ := l.Note(); note != "" {
			return note
		}
	}
	f, err := fsys.Open(folder + "/" + vfs.LockName)
	if err != nil {
		return ""
	}
	defer f.Close()
	return intentOf(f)
}

// readIntent reads the note. That of a file counts where the folder has none: the
// store may come from another file system.
func (l *Lock) readIntent() (string, error) {
	if l.folder != nil {
		if note, err := l.folder.Note(); note != "" || l.file == nil || err != nil {
			return note, err
		}
	}
	return intentOf(l.file), nil
}

func intentOf(file io.ReaderAt) string {
	buf := make([]byte, mostIntent)
	n, _ := file.ReadAt(buf, intentAt)
	line, _, ok := strings.Cut(string(buf[:n]), "\n")
	if !ok {
		return ""
	}
	return line
}
