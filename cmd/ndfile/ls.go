package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// lsJSON is a file in "ls --json".
type lsJSON struct {
	Path   text  `json:"path"`
	Format text  `json:"format"`
	Kind   text  `json:"kind"`
	Arrays int   `json:"arrays"`
	Bytes  int64 `json:"bytes"`
}

func newLs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ls [FILE|FOLDER]...",
		Short: "list files of arrays: format, kind, number of arrays, bytes on disk",
		Long: "ls lists files, one on a line: format, kind, number of arrays, bytes on disk, path.\n" +
			"Of a folder that is not a store it lists what is in it, without what is no file of\n" +
			"arrays. Without arguments it lists the current folder. What needs a library that is\n" +
			"not here is listed as ?, with one line on standard error for all of it.",
		Example:     "  ndfile ls\n  ndfile ls data/ '*.ra'\n  ndfile ls --recursive data",
		Annotations: schema([]lsJSON{}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
			l := lister{recursive: flag(cmd, "recursive")}
			err := listEach(cmd, args, func(t target, tell func(lsJSON)) error {
				l.tell = tell
				return l.path(cmd.Context(), t.path)
			}, func(r lsJSON) {
				arrays := either(r.Kind == unknownKind, "?", strconv.Itoa(r.Arrays))
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", r.Format, r.Kind, arrays, r.Bytes, printablePath(string(r.Path)))
			})
			return joined(joined(err, w.Flush()), l.unread())
		},
	}
	cmd.Flags().BoolP("recursive", "R", false, "list what is in folders of folders too; symbolic links to folders are not followed")
	return cmd
}

// unknownKind is the kind of a file that cannot be opened for want of a library.
const unknownKind = "?"

// lister lists files.
type lister struct {
	recursive bool
	tell      func(lsJSON)
	refused   error // of the first file that needs what is not here
	count     int   // of such files
}

// unread is one short line for all files that need what is not here.
func (l *lister) unread() error {
	if l.refused == nil {
		return nil
	}
	why := l.refused.Error()
	if e := (*ndfile.Error)(nil); errors.As(l.refused, &e) {
		why = e.Msg
	}
	why, _, _ = strings.Cut(why, ": install")
	return ndfile.NewError(ndfile.ErrNotSupported, either(l.count == 1, "1 file is", strconv.Itoa(l.count)+" files are")+" listed as ?: "+why)
}

// path lists a file or store, or the files and stores in a folder.
func (l *lister) path(ctx context.Context, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		_, err := ndfile.Detect(ctx, all.Formats, ndfile.OS, path)
		if errors.Is(err, ndfile.ErrFormat) {
			return l.folder(ctx, path)
		}
	}
	return l.file(ctx, path)
}

// folder lists what is in a folder and is of a known format.
func (l *lister) folder(ctx context.Context, path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return ndfile.Locate(err, path, "", false)
	}
	var failed failures
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			failed.add(ndfile.Locate(err, path, "", false))
			break
		}
		if !e.IsDir() && !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0 {
			continue // reading a device or a FIFO may never end
		}
		child := filepath.Join(path, e.Name())
		_, err := ndfile.Detect(ctx, all.Formats, ndfile.OS, child)
		switch {
		case err == nil:
			failed.add(l.file(ctx, child))
		case !errors.Is(err, ndfile.ErrFormat):
			failed.add(err)
		case e.IsDir() && l.recursive:
			failed.add(l.folder(ctx, child))
		}
	}
	return failed.err()
}

func (l *lister) file(ctx context.Context, path string) error {
	row := lsJSON{Path: text(path), Kind: unknownKind}
	f, format, err := ndfile.OpenAs(ctx, all.Formats, path, ndfile.OpenOptions{})
	switch {
	case err == nil:
		defer f.Abort()
		row.Format, row.Kind, row.Arrays = text(format.Name()), text(f.Kind().String()), len(f.Names())
	case errors.Is(err, ndfile.ErrNotSupported):
		format, found := ndfile.Detect(ctx, all.Formats, ndfile.OS, path)
		if found != nil {
			return err
		}
		if l.count++; l.refused == nil {
			l.refused = err
		}
		row.Format = text(format.Name())
	default:
		return err
	}
	if row.Bytes, err = bytesOnDisk(path); err == nil {
		l.tell(row)
	}
	return err
}

// bytesOnDisk is the size of a file, or of all files in a folder.
func bytesOnDisk(path string) (size int64, err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return 0, err
	}
	err = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}
