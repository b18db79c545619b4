package main

import (
	"encoding/json"
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
		Use:   "formats",
		Short: "list the formats and what each can do",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows := []formatJSON{}
			for _, f := range all.Formats {
				rows = append(rows, formatJSON{f.Name(), f.Extensions(), f.Caps().Names()})
			}
			if asJSON(cmd) {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(rows)
			}
			for _, r := range rows {
				fmt.Fprintf(cmd.OutOrStdout(), "%-9s %-14s %s\n", r.Name, strings.Join(r.Extensions, " "), strings.Join(r.Can, ", "))
			}
			return nil
		},
	}
}
