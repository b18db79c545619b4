package main

import (
	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

func newRepair() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repair FILE...",
		Short: "repair stores where that is certain, or undo it",
		Long: "repair does what \"ndfile verify\" says that a repair would do. It deletes nothing: what it\n" +
			"takes away or writes anew is kept in a new folder beside the store, FILE.ndf-removed-N,\n" +
			"with a journal. --undo gives it back, the last repair first, unless the store was changed\n" +
			"since. When all is well, the folder can be deleted.\n\n" +
			"It keeps other writers out, as far as they take locks. The exit status is 0 when no damage\n" +
			"is left.",
		Example:     "  ndfile repair 'data/*.bcolz'\n  ndfile repair --undo data/a.bcolz",
		Annotations: schema([]verifyJSON{}),
		Args:        cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return verifyAll(cmd, args, countBlocks, ndfile.VerifyOptions{Repair: !flag(cmd, "undo"), Undo: flag(cmd, "undo")})
		},
	}
	cmd.Flags().Bool("undo", false, "give back what the last repair took away")
	return cmd
}

// verifyAll verifies files in some way, and prints what is found.
func verifyAll(cmd *cobra.Command, args []string, unit unit, opt ndfile.VerifyOptions) error {
	list := []verifyJSON{}
	err := each(cmd.Context(), args, func(t target) error {
		if t.named || t.index != nil {
			return usage("whole files are verified").On(t.path)
		}
		v := verifyJSON{Path: text(t.path), OK: true, Problems: []problemJSON{}}
		bar := newProgress(cmd, t.path, unit)
		opt.Progress = bar.set
		err := ndfile.Verify(cmd.Context(), all.Formats, t.path, opt, func(p ndfile.Problem) {
			v.Problems = append(v.Problems, problemOf(p))
			v.OK = v.OK && (p.Class != ndfile.Damage || p.Repaired)
		})
		bar.stop()
		if err != nil {
			return err
		}
		if !asJSON(cmd) {
			v.print(cmd.OutOrStdout())
		}
		if list = append(list, v); !v.OK {
			return errDiffers
		}
		return nil
	})
	if !asJSON(cmd) {
		return err
	}
	return joined(err, emit(cmd, list))
}
