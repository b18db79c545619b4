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
// implements [ndfile.Verifier] and [ndfile.Splitter].
var Format ndfile.Format = &format{ndfile.NewTraits("bcolz",
	ndfile.CapCreate|ndfile.CapUpdate|ndfile.CapFileAttrs|ndfile.CapArrayAttrs|ndfile.CapChunked|
		ndfile.CapResize|ndfile.CapRows|ndfile.CapRemove|ndfile.CapVerify|ndfile.CapSplit,
	".bcolz", // most roots have none; opening goes by content
)}

type format struct{ ndfile.Traits }

// Detect is Certain about a folder with __rootdirs__, or with meta/sizes and
// meta/storage. What has lost one of them, but has chunks, is Possible, and so is
// the layout of tables that only the format's text has: Open says what is wrong.
func (format) Detect(ctx context.Context, fsys ndfile.FS, path string) (ndfile.Match, error) {
	if err := ctx.Err(); err != nil {
		return ndfile.NoMatch, err
	}
	p := prober{fsys: fsys}
	root := trimRoot(path)
	sizes := p.has(root + "/" + sizesFile)
	storage := sizes && p.has(root+"/"+storageFile)
	if storage || p.has(root+"/"+rootdirsFile) {
		return ndfile.Certain, p.err
	}
	if !p.isFolder(path) {
		return ndfile.NoMatch, p.err
	}
	if sizes || p.has(root+"/"+storageFile) || p.has(root+"/"+dataFolder) && (p.has(chunkPath(root, 0)) || p.textTable(root)) {
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

// prober asks what there is. After an error it finds nothing.
type prober struct {
	fsys ndfile.FS
	err  error
}

// has reports whether there is something, be it a symbolic link.
func (p *prober) has(path string) bool {
	if p.err != nil {
		return false
	}
	_, err := p.fsys.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		p.err = err
	}
	return err == nil
}

// isFolder reports whether a path leads to a folder; nothing there is an error.
func (p *prober) isFolder(path string) bool {
	if p.err != nil {
		return false
	}
	info, err := p.fsys.Stat(path)
	p.err = err
	return err == nil && info.Mode == vfs.Dir
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
		if p.has(column+"/"+storageFile) || p.has(chunkPath(column, 0)) {
			return true
		}
		if looked++; looked == most {
			break
		}
	}
	return false
}
