package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// formatJSON is a row of "formats --json".
type formatJSON struct {
	Name       string   `json:"name"`
	Extensions []string `json:"extensions"`
	Can        []string `json:"can"`
}

func newFormats() *cobra.Command {
	return &cobra.Command{
		Use:         "formats",
		Short:       "list the formats and what each can do",
		Annotations: schema([]formatJSON{}),
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows := []formatJSON{}
			for _, f := range all.Formats {
				rows = append(rows, formatJSON{f.Name(), f.Extensions(), f.Caps().Names()})
			}
			if asJSON(cmd) {
				return emit(cmd, rows)
			}
			for _, r := range rows {
				fmt.Fprintf(cmd.OutOrStdout(), "%-9s %-14s %s\n", r.Name, strings.Join(r.Extensions, " "), strings.Join(r.Can, ", "))
			}
			return nil
		},
	}
}

// formatNames completes the values of --to and --from.
func formatNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, f := range all.Formats {
		names = append(names, f.Name())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
