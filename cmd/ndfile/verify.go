package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// verifyJSON is a file in "verify --json".
type verifyJSON struct {
	Path     text          `json:"path"`
	OK       bool          `json:"ok"`
	Problems []problemJSON `json:"problems"`
}

// problemJSON is a problem in verifyJSON.
type problemJSON struct {
	Path     text   `json:"path"`
	Array    *text  `json:"array"`
	Class    text   `json:"class"`
	Kind     text   `json:"kind"`
	Offset   *int64 `json:"offset"`
	Message  text   `json:"message"`
	Repair   *text  `json:"repair"`
	Repaired bool   `json:"repaired"`
}

func newVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "check files, and repair them where that is certain",
		Long: "verify reads all data and reports each problem: what was expected and found, and what a\n" +
			"repair would do. With --repair it does that, where nothing else can be meant. A repair\n" +
			"deletes nothing: what it takes away or writes anew is kept in a new folder beside the\n" +
			"store, FILE.ndf-removed-N, and --undo gives it back, the last repair first.\n\n" +
			"Each problem has a class: damage (data cannot be read, were lost, or are not counted),\n" +
			"stale (harmless leftovers of a writer that was stopped) or foreign (no part of the\n" +
			"format). A file is ok, and the exit status 0, when all damage is repaired.\n\n" +
			"With --sealed all files are compared with what \"ndfile seal\" has written, and nothing else.",
		Example:     "  ndfile verify store.zarr\n  ndfile verify --repair 'data/*.bcolz'\n  ndfile verify --undo data/a.bcolz",
		Annotations: schema([]verifyJSON{}),
		Args:        cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list := []verifyJSON{}
			err := each(cmd.Context(), args, func(t target) error {
				v, err := verifyFile(cmd, t)
				if err != nil {
					return err
				}
				if !asJSON(cmd) {
					v.print(cmd.OutOrStdout())
				}
				list = append(list, v)
				if !v.OK {
					return errDiffers
				}
				return nil
			})
			if !asJSON(cmd) {
				return err
			}
			return joined(err, emit(cmd, list))
		},
	}
	cmd.Flags().Bool("repair", false, "repair what can be repaired")
	cmd.Flags().Bool("undo", false, "give back what the last repair took away, and verify nothing")
	cmd.Flags().Bool("sealed", false, "compare with the seal, and verify nothing else")
	cmd.MarkFlagsMutuallyExclusive("repair", "undo", "sealed")
	cmd.Flags().String("from", "", "the format; else it goes by the content")
	cmd.RegisterFlagCompletionFunc("from", formatNames)
	return cmd
}

func verifyFile(cmd *cobra.Command, t target) (verifyJSON, error) {
	v := verifyJSON{Path: text(t.path), OK: true, Problems: []problemJSON{}}
	if t.named || t.index != nil {
		return v, usage("whole files are verified").On(t.path)
	}
	bar := newProgress(cmd, t.path, unit(flag(cmd, "sealed")))
	defer bar.stop()
	opt := ndfile.VerifyOptions{Repair: flag(cmd, "repair"), Undo: flag(cmd, "undo"), Sealed: flag(cmd, "sealed"), Format: word(cmd, "from"), Progress: bar.set}
	err := ndfile.Verify(cmd.Context(), all.Formats, t.path, opt, func(p ndfile.Problem) {
		v.Problems = append(v.Problems, problemOf(p))
		if p.Class == ndfile.Damage && !p.Repaired {
			v.OK = false
		}
	})
	return v, err
}

// problemOf is a problem as it is printed.
func problemOf(p ndfile.Problem) problemJSON {
	j := problemJSON{Path: text(p.Path), Class: text(p.Class.String()), Kind: text(kindName(p.Kind)), Message: text(p.Msg), Repaired: p.Repaired}
	if name := text(p.Array); p.HasArray {
		j.Array = &name
	}
	if p.Offset >= 0 {
		j.Offset = &p.Offset
	}
	if repair := text(p.Repair); p.Repair != "" {
		j.Repair = &repair
	}
	return j
}

// kindName is the name of a kind of errors: "corrupt".
func kindName(k *ndfile.ErrorKind) string {
	return strings.ToLower(strings.TrimPrefix(k.C, "NDF_ERR_"))
}

func (v *verifyJSON) print(w io.Writer) {
	for _, p := range v.Problems {
		fmt.Fprintf(w, "%s: ", printablePath(string(p.Path)))
		if p.Array != nil {
			fmt.Fprintf(w, "array %s: ", printable(string(*p.Array)))
		}
		if p.Offset != nil {
			fmt.Fprintf(w, "at byte %d: ", *p.Offset)
		}
		fmt.Fprintf(w, "%s: %s", p.name(), p.Message)
		if p.Repair != nil {
			fmt.Fprintf(w, " (%s: %s)", either(p.Repaired, "repaired", "repair"), *p.Repair)
		}
		fmt.Fprintln(w)
	}
	if v.OK {
		fmt.Fprintf(w, "%s: ok\n", printablePath(string(v.Path)))
	}
}

// name is the class of a problem, or of damage the kind of error.
func (p *problemJSON) name() text {
	if p.Class == text(ndfile.Damage.String()) {
		return p.Kind
	}
	return p.Class
}
