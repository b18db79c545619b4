package bcolz

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format is the bcolz format, name "bcolz", extension ".bcolz". It also
// implements [ndfile.Verifier] and [ndfile.Sharder].
var Format ndfile.Format = format{}

type format struct{}

// Name is "bcolz".
func (format) Name() string { return "bcolz" }

var extensions = []string{".bcolz"}

// Extensions has ".bcolz". Most roots have no extension; opening goes by content.
func (format) Extensions() []string { return extensions }

// Caps: all that a format of chunks can do, in place too.
func (format) Caps() ndfile.Caps {
	return ndfile.CapCreate | ndfile.CapUpdate | ndfile.CapFileAttrs | ndfile.CapArrayAttrs | ndfile.CapChunked |
		ndfile.CapResize | ndfile.CapRows | ndfile.CapRemove | ndfile.CapVerify | ndfile.CapShard
}

// Detect is Certain about a folder with __rootdirs__, or with meta/sizes and
// meta/storage. What has lost one of them, but has chunks, is Possible, and so is
// the layout of tables that only the format's text has: Open says what is wrong.
func (format) Detect(ctx context.Context, fsys ndfile.FS, path string) (ndfile.Match, error) {
	if err := ctx.Err(); err != nil {
		return ndfile.NoMatch, err
	}
	p := prober{fsys: fsys}
	root := trimRoot(path)
	if p.has(root+"/"+sizesFile) && p.has(root+"/"+storageFile) || p.has(root+"/"+rootdirsFile) {
		return ndfile.Certain, p.err
	}
	if p.err == nil && !p.isFile {
		_, p.err = fsys.Stat(path)
	}
	if p.err != nil || p.isFile {
		return ndfile.NoMatch, p.err
	}
	if p.has(root+"/"+sizesFile) || p.has(root+"/"+storageFile) || p.has(chunkPath(root, 0)) || p.textTable(root) {
		return ndfile.Possible, p.err
	}
	return ndfile.NoMatch, p.err
}

// trimRoot is a path without slashes at its end.
func trimRoot(path string) string {
	if cut := strings.TrimRight(path, "/"); cut != "" {
		return cut
	}
	return path
}

// prober asks what there is in a folder.
type prober struct {
	fsys   ndfile.FS
	isFile bool // the folder is a file
	err    error
}

// has reports whether there is something, be it a symbolic link.
func (p *prober) has(path string) bool {
	if p.err != nil || p.isFile {
		return false
	}
	_, err := p.fsys.Lstat(path)
	switch {
	case err == nil:
		return true
	case errors.Is(err, syscall.ENOTDIR):
		p.isFile = true
	case errors.Is(err, fs.ErrNotExist):
	default:
		p.err = err
	}
	return false
}

// textTable reports whether the columns lie below data/, as the text of the
// format has it. No release of bcolz wrote that.
func (p *prober) textTable(root string) bool {
	data := root + "/" + dataFolder
	if !p.has(data) {
		return false
	}
	entries, err := p.fsys.ReadDir(data)
	if err != nil {
		return false
	}
	const most = 16 // folders to look into
	looked := 0
	for _, e := range entries {
		if e.Mode != vfs.Dir {
			continue
		}
		column := data + "/" + e.Name
		p.isFile = false
		if p.has(column+"/"+storageFile) || p.has(chunkPath(column, 0)) {
			return true
		}
		if looked++; looked == most {
			break
		}
	}
	p.isFile = false
	return false
}
