package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
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
			"repair would do. With --repair it does that, where nothing else can be meant.\n\n" +
			"A problem is damage (with the kind of the library's error: corrupt for what cannot be read,\n" +
			"loss for what was lost already, ...), stale, a harmless leftover of a writer that was\n" +
			"stopped, or foreign, no part of the format. A file is ok, and the exit status 0, when all\n" +
			"damage is repaired.",
		Example:     "  ndfile verify store.zarr\n  ndfile verify --repair 'data/*.bcolz'",
		Annotations: schema([]verifyJSON{}),
		Args:        cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return verifyAll(cmd, args, countBlocks, ndfile.VerifyOptions{Repair: flag(cmd, "repair"), Format: word(cmd, "from")})
		},
	}
	cmd.Flags().Bool("repair", false, "repair what can be repaired")
	cmd.Flags().String("from", "", "the format; else it goes by the content")
	cmd.RegisterFlagCompletionFunc("from", formatNames)
	return cmd
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
		kind := p.Class
		if kind == "damage" {
			kind += ": " + p.Kind
		}
		fmt.Fprintf(w, "%s: %s", kind, p.Message)
		if p.Repair != nil {
			fmt.Fprintf(w, " (%s: %s)", either(p.Repaired, "repaired", "repair"), *p.Repair)
		}
		fmt.Fprintln(w)
	}
	if v.OK {
		fmt.Fprintf(w, "%s: ok\n", printablePath(string(v.Path)))
	}
}
