package edit

import (
	"io"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// A writer that is killed while it changes the structure of a store leaves what the
// metadata do not count. That it was about to make it, and nobody has lost it, is
// noted in the lock file: a text of the format's own, which stays as long as nobody
// has settled it. Without a lock there is no note.

// intentAt is where the text stands in the lock file, behind the line of the holder.
const intentAt = 512

// mostIntent bounds the text.
const mostIntent = 4096

// Intend notes what is about to be changed, before it is; Settle forgets it.
func (s *Session) Intend(what string) {
	if s.lock == nil || len(what) >= mostIntent || what == s.lock.intent {
		return
	}
	s.lock.intent = what
	s.lock.file.WriteAt([]byte(what+"\n"), intentAt) // without it less is known after a kill
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
		s.lock.intent = readIntent(s.lock.file)
	}
	return s.lock.intent
}

// IntendedIn is what was begun and not settled in the store in a folder, which a writer
// may have open just now.
func IntendedIn(fsys ndfile.FS, folder string) string {
	f, err := fsys.Open(folder + "/" + vfs.LockName)
	if err != nil {
		return ""
	}
	defer f.Close()
	return readIntent(f)
}

func readIntent(file io.ReaderAt) string {
	buf := make([]byte, mostIntent)
	n, _ := file.ReadAt(buf, intentAt)
	line, _, ok := strings.Cut(string(buf[:n]), "\n")
	if !ok {
		return ""
	}
	return line
}
