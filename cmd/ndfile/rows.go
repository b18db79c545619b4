package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

const rowsLong = "%s shows the rows of a table, or of arrays of one length in any other file, one on a line;\n" +
	"standard error names the arrays of other lengths.\n" +
	"--where takes a condition on the columns, as Python writes it; missing elements fulfil none.\n" +
	"Datetimes are ISO 8601 in UTC. A column of several axes has a list in each row.\n\n" +
	"--to csv and tsv write a line of names first, fields in quotes where they need them, and\n" +
	"nothing for what is missing; --to jsonl writes an object a line, with null for it, and\n" +
	"--json a list of these. Memory is bounded, however many rows there are."

func newRows() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rows FILE",
		Short: "print rows of a table, all or those that fulfil a condition, also as CSV",
		Long:  strings.Replace(rowsLong, "%s", "rows", 1),
		Example: "  ndfile rows trades.bcolz --columns id,close --where 'close > 1 and id == 3'\n" +
			"  ndfile rows trades.bcolz --to csv > trades.csv",
	}
	return rowsCommand(cmd, 0)
}

func newHead() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "head FILE",
		Short:   "print the first 10 rows of a table",
		Long:    strings.Replace(rowsLong, "%s", "head", 1),
		Example: "  ndfile head trades.bcolz\n  ndfile head -n 3 trades.bcolz --columns id,close",
	}
	return rowsCommand(cmd, 10)
}

// rowsCommand is a command that prints rows, limit of them unless a flag says more; 0
// is all.
func rowsCommand(cmd *cobra.Command, limit int64) *cobra.Command {
	cmd.Annotations = map[string]string{schemaKey: "[{COLUMN: value or null (missing), ...}, ...]"}
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := one(args[0])
		if err != nil {
			return err
		}
		if t.named || t.index != nil {
			return usage("rows are taken by --columns, --where, --skip and --limit").On(args[0])
		}
		form := word(cmd, "to")
		if asJSON(cmd) {
			form = "json"
		}
		w := bufio.NewWriter(cmd.OutOrStdout())
		r, err := newRowPrinter(form, w)
		if err != nil {
			return err
		}
		return errors.Join(printRows(cmd, t, r), w.Flush())
	}
	f := cmd.Flags()
	f.Int64P("limit", "n", limit, "how many rows to print; 0 is all")
	f.Int64("skip", 0, "how many rows to leave out before")
	f.StringSlice("columns", nil, "the columns to print, with commas between; may be repeated")
	f.String("where", "", "a condition that the rows fulfil")
	f.String("to", "text", "text, csv, tsv or jsonl")
	cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions([]string{"text", "csv", "tsv", "jsonl"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func printRows(cmd *cobra.Command, t target, out rowPrinter) error {
	ctx := cmd.Context()
	f, _, err := t.open(ctx)
	if err != nil {
		return err
	}
	defer f.Abort()
	wanted, _ := cmd.Flags().GetStringSlice("columns")
	table, columns, left, err := asTable(f, wanted)
	if err != nil {
		return ndfile.Locate(err, t.path, "", false)
	}
	if left != nil && len(wanted) == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "ndfile: %s: no columns, since they have another length than %s: %s\n",
			printablePath(t.path), printable(columns[0]), strings.Join(left, ", "))
	}
	var q ndfile.Query
	q.Limit, _ = cmd.Flags().GetInt64("limit")
	q.Skip, _ = cmd.Flags().GetInt64("skip")
	if q.Limit < 0 || q.Skip < 0 {
		return usage("--limit and --skip are not negative")
	}
	if text := word(cmd, "where"); text != "" {
		if q.Condition, err = ndfile.ParseCondition(text); err != nil {
			return err
		}
	}
	if err := out.begin(columns); err != nil {
		return err
	}
	cells := make([]cells, len(columns))
	err = ndfile.Where(ctx, table, q, func(rows []int64) (bool, error) {
		for i, name := range columns {
			a, err := table.Array(name)
			if err == nil {
				cells[i], err = cellsOf(ctx, a, rows)
			}
			if err != nil {
				return false, ndfile.Locate(err, t.path, name, true)
			}
		}
		for _, row := range rows {
			if err := out.row(columns, cells, row); err != nil {
				return false, err
			}
		}
		return true, out.flush()
	})
	if err != nil {
		return ndfile.Locate(suggested(err, wrongName(err), table.names), t.path, "", false)
	}
	return out.end()
}

// wrongName is the array that an error is about.
func wrongName(err error) string {
	var e *ndfile.Error
	if errors.As(err, &e) {
		return e.Array
	}
	return ""
}

// asTable sees a file as a table: what is none has the arrays of one length as columns.
// Columns are those that are wanted, or all; left are the names, as they are printed, of arrays that can be none.
func asTable(f ndfile.File, wanted []string) (c *contents, columns, left []string, err error) {
	if c, err = contentsOf(f); err != nil {
		return nil, nil, nil, err
	}
	for _, name := range wanted {
		if _, err := c.Array(name); err != nil {
			return nil, nil, nil, suggested(err, name, c.names)
		}
	}
	if c.kind == ndfile.Single {
		return nil, nil, nil, usage("rows are of tables and of files with several arrays; cat prints a single array")
	}
	if c.kind != ndfile.Table {
		length := int64(-1)
		for _, name := range slices.Concat(wanted, c.names) { // the first that is wanted, or is there, counts
			if s := c.arrays[name].Spec(); length < 0 && !s.NoData && len(s.Shape) > 0 {
				length = s.Shape[0]
			}
		}
		c.kind = ndfile.Table
		c.names = slices.DeleteFunc(c.names, func(name string) bool {
			s := c.arrays[name].Spec()
			other := s.NoData || len(s.Shape) == 0 || s.Shape[0] != length
			if other {
				left = append(left, printable(name))
			}
			return other
		})
		for _, name := range wanted {
			if !slices.Contains(c.names, name) {
				return nil, nil, nil, ndfile.NewError(ndfile.ErrShape, "it has another length than array "+strconv.Quote(wanted[0])).In(name)
			}
		}
	}
	if len(wanted) > 0 {
		return c, wanted, left, nil
	}
	return c, c.names, left, nil
}

// cells are the elements of a column in a block of rows.
type cells struct {
	block
	dtype ndarray.DType
	first int64 // row
	each  int64 // elements a row; -1 where the column has one axis only
}

// cellsOf reads the rows of a column from the first to the last of those given.
func cellsOf(ctx context.Context, a ndfile.Array, rows []int64) (cells, error) {
	s := a.Spec()
	box := ndarray.Full(s.Shape)
	box.Start[0], box.Count[0] = rows[0], rows[len(rows)-1]-rows[0]+1
	b, err := readBlock(ctx, a, box, s.DType)
	c := cells{block: b, dtype: s.DType, first: rows[0], each: -1}
	if len(s.Shape) > 1 {
		c.each = b.n / box.Count[0]
	}
	return c, err
}

// append appends the cell of a row, as text or JSON, with what stands for a missing
// element.
func (c *cells) append(dst []byte, row int64, json bool, missing string) []byte {
	row -= c.first
	if c.each < 0 {
		return c.appendOne(dst, row, json, missing)
	}
	dst = append(dst, '[')
	for i := range c.each {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = c.appendOne(dst, row*c.each+i, json, missing)
	}
	return append(dst, ']')
}

func (c *cells) appendOne(dst []byte, i int64, json bool, missing string) []byte {
	if c.missing(i) {
		return append(dst, missing...)
	}
	return appendElement(dst, c.dtype, c.element(i), json)
}

// field appends the cell of a row as a field: texts as they are, and nothing for what is
// missing.
func (c *cells) field(dst []byte, row int64) []byte {
	at := row - c.first
	if c.each >= 0 || c.missing(at) {
		return c.append(dst, row, false, "")
	}
	data := c.element(at)
	switch c.dtype.Kind {
	case ndarray.VarString, ndarray.VarBytes:
		return append(dst, data...)
	case ndarray.Bytes:
		return append(dst, bytes.TrimRight(data, "\x00")...)
	case ndarray.Unicode:
		if text, ok := characters(data); ok {
			return append(dst, text...)
		}
	}
	return appendElement(dst, c.dtype, data, false)
}
