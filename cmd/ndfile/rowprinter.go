package main

import (
	"bufio"
	"encoding/csv"
	"io"
	"text/tabwriter"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// rowPrinter writes rows in one form.
type rowPrinter interface {
	begin(columns []string) error
	row(columns []string, c []cells, row int64) error
	flush() error // a block of rows is done
	end() error
}

func newRowPrinter(form string, w *bufio.Writer) (rowPrinter, error) {
	switch form {
	case "text":
		return &textRows{w: tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)}, nil
	case "csv":
		return &csvRows{w: csv.NewWriter(w)}, nil
	case "tsv":
		c := csv.NewWriter(w)
		c.Comma = '\t'
		return &csvRows{w: c}, nil
	case "jsonl":
		return &jsonRows{w: w, after: "\n"}, nil
	case "json":
		return &jsonRows{w: w, before: "[", between: ",\n ", last: "]\n"}, nil
	}
	return nil, usage("--to is text, csv, tsv or jsonl, not " + printable(form))
}

// textRows are aligned columns.
type textRows struct {
	w   *tabwriter.Writer
	buf []byte
}

func (p *textRows) line() error {
	p.buf = append(p.buf, '\n')
	_, err := p.w.Write(p.buf)
	p.buf = p.buf[:0]
	return err
}

func (p *textRows) begin(columns []string) error {
	for i, name := range columns {
		p.buf = append(append(p.buf, either(i > 0, "\t", "")...), printable(name)...)
	}
	return p.line()
}

func (p *textRows) row(_ []string, c []cells, row int64) error {
	for i := range c {
		p.buf = c[i].append(append(p.buf, either(i > 0, "\t", "")...), row, false, "--")
	}
	return p.line()
}

func (p *textRows) flush() error { return p.w.Flush() }
func (p *textRows) end() error   { return p.w.Flush() }

// csvRows are fields with commas or tabs between.
type csvRows struct {
	w      *csv.Writer
	buf    []byte
	fields []string
}

func (p *csvRows) begin(columns []string) error { return p.w.Write(columns) }

func (p *csvRows) row(_ []string, c []cells, row int64) error {
	p.fields = p.fields[:0]
	for i := range c {
		p.buf = c[i].field(p.buf[:0], row)
		p.fields = append(p.fields, string(p.buf))
	}
	return p.w.Write(p.fields)
}

func (p *csvRows) flush() error {
	p.w.Flush()
	return p.w.Error()
}

func (p *csvRows) end() error { return p.flush() }

// jsonRows are objects.
type jsonRows struct {
	w                            io.Writer
	before, between, after, last string
	buf                          []byte
	more                         bool
}

func (p *jsonRows) begin([]string) error {
	_, err := io.WriteString(p.w, p.before)
	return err
}

func (p *jsonRows) row(columns []string, c []cells, row int64) error {
	p.buf = append(p.buf[:0], either(p.more, p.between, "")...)
	for i, name := range columns {
		p.buf = append(p.buf, either(i > 0, ", ", "{")...)
		p.buf = append(ndfile.AppendJSONString(p.buf, name), ": "...)
		p.buf = c[i].append(p.buf, row, true, "null")
	}
	p.buf = append(append(p.buf, '}'), p.after...)
	p.more = true
	_, err := p.w.Write(p.buf)
	return err
}

func (p *jsonRows) flush() error { return nil }

func (p *jsonRows) end() error {
	_, err := io.WriteString(p.w, p.last)
	return err
}
