package main

import "github.com/spf13/cobra"

// flag and word give flags that the command has; others are false and "".
func flag(cmd *cobra.Command, name string) bool {
	on, _ := cmd.Flags().GetBool(name)
	return on
}

func word(cmd *cobra.Command, name string) string {
	s, _ := cmd.Flags().GetString(name)
	return s
}

func words(cmd *cobra.Command, name string) []string {
	list, _ := cmd.Flags().GetStringArray(name)
	return list
}
