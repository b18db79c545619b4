package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// sealJSON is a file in "seal --json".
type sealJSON struct {
	Path  text  `json:"path"`
	Files int64 `json:"files"`
}

func newSeal() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "seal FILE...",
		Short: "write the hashes of all files of a store, to compare with later",
		Long: "seal writes the SHA-256 of every file of a store, or of one file, to FILE.ndf-seal beside\n" +
			"it. With --check it names every file that was changed, is missing or was added since:\n" +
			"also values that changed silently, which nothing else can find. The seal is a text\n" +
			"that \"sha256sum -c\" understands, in the folder around.\n\n" +
			"A change of the store, by ndfile or another program, does not change its seal: seal it again.",
		Example:     "  ndfile seal 'data/*.bcolz'\n  ndfile seal --check 'data/*.bcolz'",
		Annotations: schema([]sealJSON{}),
		Args:        cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if flag(cmd, "check") {
				return verifyAll(cmd, args, countBytes, ndfile.VerifyOptions{Sealed: true})
			}
			list := []sealJSON{}
			err := each(cmd.Context(), args, func(t target) error {
				if t.named || t.index != nil {
					return usage("whole files are sealed").On(t.path)
				}
				bar := newProgress(cmd, t.path, countBytes)
				n, err := ndfile.Seal(cmd.Context(), t.path, ndfile.SealOptions{Progress: bar.set})
				bar.stop()
				if err != nil {
					return err
				}
				list = append(list, sealJSON{text(t.path), n})
				if !asJSON(cmd) {
					fmt.Fprintf(cmd.OutOrStdout(), "%s: sealed (%d files)\n", printablePath(t.path), n)
				}
				return nil
			})
			if !asJSON(cmd) {
				return err
			}
			return joined(err, emit(cmd, list))
		},
	}
	cmd.Flags().Bool("check", false, "compare all files with the seal")
	return cmd
}
