package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// cleanJSON is a temporary file or folder in "clean --json".
type cleanJSON struct {
	Path     text   `json:"path"`
	Writer   text   `json:"writer"`
	Bytes    int64  `json:"bytes"`
	Modified string `json:"modified"`
	Removed  bool   `json:"removed"`
}

func newClean() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clean FOLDER...",
		Short: "list what writers that were killed have left, and remove it",
		Long: "clean lists the temporary files and folders (*.ndf-tmp-*) in folders and below them, and\n" +
			"says of each whether the process that writes it is alive, dead or unknown: on another\n" +
			"machine, in another container, or before this machine was restarted. With --force those of\n" +
			"dead processes are removed, with --force --unknown these too: then nobody must be writing\n" +
			"there. What may be the only copy of something (nothing is at the path that it was to get,\n" +
			"and it can be opened) is never removed: rename it, or delete it by hand.",
		Example:     "  ndfile clean data\n  ndfile clean --force data",
		Annotations: schema([]cleanJSON{}),
		Args:        cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt := ndfile.CleanOptions{Remove: flag(cmd, "force"), Unknown: flag(cmd, "unknown")}
			if opt.Unknown && !opt.Remove {
				return usage("--unknown says what --force removes: give both")
			}
			return listEach(cmd, args, func(t target, tell func(cleanJSON)) error {
				if t.named || t.index != nil {
					return usage("folders are cleaned").On(t.path)
				}
				return ndfile.Clean(cmd.Context(), all.Formats, t.path, opt, func(l ndfile.Leftover) {
					modified := time.Unix(0, l.ModTime).UTC().Format(time.RFC3339)
					tell(cleanJSON{text(l.Path), text(l.Rest.String()), l.Bytes, modified, l.Removed})
				})
			}, func(r cleanJSON) {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s (%d bytes, %s)%s\n", printablePath(string(r.Path)), r.Writer, r.Bytes, r.Modified, either(r.Removed, ": removed", ""))
			})
		},
	}
	cmd.Flags().Bool("force", false, "remove what dead processes have left")
	cmd.Flags().Bool("unknown", false, "with --force: also what processes have left of which nothing is known")
	return cmd
}
