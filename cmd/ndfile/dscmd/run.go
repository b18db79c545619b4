// Package dscmd is the command "ds" of ds-format 5, on ndfile: its arguments, which
// are PST, and what it prints. Files are all that ndfile reads; those written are ds,
// NetCDF and JSON.
package dscmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// version is the one of ds-format whose command this is.
const version = "5.0.2"

const usageText = `Usage: ds [CMD] [OPTIONS]
	   ds --help
	   ds --version
Use ` + "`ds --help`" + ` for help.
`

// command is one of ds's commands.
type command struct {
	run   func(c *call) error
	usage string
	// trailing: options come before the command's name or last.
	trailing bool
}

var commands = map[string]command{
	"attrs":      {printAttrs, "attrs [var] [attr] [--] input", false},
	"cat":        {cat, "cat [-h] [-n] var... [--] input", false},
	"dim":        {printDim, "dim dim [--] input", false},
	"dims":       {printDims, "dims [-z | --size] [var] [--] input", false},
	"ls":         {ls, "[ls] [-l] [a: attrs] [var]... [--] input", false},
	"merge":      {mergeFiles, "merge [new: dim] [variables: { var... }] dim [--] input... output", false},
	"meta":       {printMeta, "meta [var] [--] input", false},
	"rename":     {rename, "rename vars | var attrs | { var attrs }... [--] input output", true},
	"rename_dim": {renameDim, "rename_dim { old: new... } [--] input output", true},
	"rm":         {remove, "rm var [attr] [--] input output", false},
	"select":     {selectVars, "select [var...] [sel] [--] input output", true},
	"set":        {set, "set ds_attrs | var [type [dims [data]]] [attrs]... | { var ... }... ds_attrs [--] input output", true},
	"size":       {printSize, "size var [--] input", false},
	"stats":      {stats, "stats var [--] input", false},
	"type":       {printType, "type var [--] input", false},
}

// call is one run of a command.
type call struct {
	ctx     context.Context
	out     io.Writer
	args    []any
	opts    *object
	fixed   bool // -F: names are no patterns
	strict  bool // names that are not there are errors
	json    bool
	compact bool
}

// errUsage is an error of the arguments.
var errUsage = errors.New("invalid number of arguments")

// Run runs the command with its arguments, without its own name, and gives the exit
// status: 0, or 1 where something failed, which stderr tells.
func Run(ctx context.Context, argv []string, stdout, stderr io.Writer) int {
	var rest []string
	if i := slices.Index(argv, "--"); i >= 0 {
		argv, rest = argv[:i], argv[i+1:]
	}
	args := decode(argv)
	for _, arg := range rest {
		args = append(args, arg)
	}
	name, c := split(args)
	c.ctx, c.out = ctx, stdout
	switch {
	case c.on("help"):
		return help(name, stdout)
	case c.on("version"):
		fmt.Fprintln(stdout, version)
		return 0
	case name == "" && len(c.args) == 0:
		fmt.Fprint(stderr, usageText)
		return 1
	case name == "":
		name = "ls"
	}
	c.settings()
	err := commands[name].run(c)
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "ds %s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", " "))
	if errors.Is(err, errUsage) {
		fmt.Fprintf(stderr, "Usage: ds %s\nUse `ds %s --help` for command help.\n", commands[name].usage, name)
	}
	return 1
}

// split finds the command among the arguments, and what are options.
func split(args []any) (name string, c *call) {
	c = &call{opts: newObject()}
	at := slices.IndexFunc(args, func(arg any) bool {
		s, ok := arg.(string)
		_, known := commands[s]
		return ok && known
	})
	if at >= 0 {
		name = args[at].(string)
	}
	for i, arg := range args {
		o, ok := arg.(*object)
		switch {
		case i == at:
		case ok && (i < at || i == len(args)-1 || !commands[name].trailing):
			c.opts.update(o)
		default:
			c.args = append(c.args, arg)
		}
	}
	return name, c
}

// settings takes up the options of all commands.
func (c *call) settings() {
	c.strict = os.Getenv("DS_MODE") == "strict"
	if c.on("t") || c.on("m") {
		c.strict = false
	}
	c.strict = c.strict || c.on("s")
	c.fixed, c.json, c.compact = c.on("F"), c.on("j"), c.on("noindent")
}

// on tells whether a flag was given.
func (c *call) on(flag string) bool {
	v, _ := c.opts.get(flag)
	b, _ := v.(bool)
	return b
}

func help(name string, out io.Writer) int {
	if name != "" {
		fmt.Fprintf(out, "Usage: ds %s\n", commands[name].usage)
		return 0
	}
	fmt.Fprint(out, usageText, "\nCommands:\n")
	var names []string
	for name := range commands {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(out, "  ds %s\n", commands[name].usage)
	}
	fmt.Fprint(out, "\nOptions of all: -F (no patterns), -j (JSON), --noindent, -s, -m, -t (missing names are errors, warnings, ignored),\n"+
		"and of what is read sel:, range:, at:, between:. Arguments are PST: { a b } is a list, key: value a member of an object.\n")
	return 0
}

// print writes one line.
func (c *call) print(v any) error {
	if !c.json {
		_, err := c.out.Write(append(encode(v, !c.compact), '\n'))
		return err
	}
	text := appendJSON(nil, v)
	if !c.compact {
		text = indentJSON(v, 0)
	}
	_, err := c.out.Write(append(text, '\n'))
	return err
}

// indentJSON is JSON with a line for each item, as Python's indent=4 has it.
func indentJSON(v any, depth int) []byte {
	var open, end string
	var items [][]byte
	switch v := v.(type) {
	case []any:
		open, end = "[", "]"
		for _, item := range v {
			items = append(items, indentJSON(item, depth+1))
		}
	case *object:
		open, end = "{", "}"
		for _, key := range v.keys {
			items = append(items, append(append(ndfile.AppendJSONString(nil, key), ": "...), indentJSON(v.values[key], depth+1)...))
		}
	default:
		return appendJSON(nil, v)
	}
	if len(items) == 0 {
		return []byte(open + end)
	}
	pad := strings.Repeat("    ", depth)
	out := []byte(open)
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '\n'), pad+"    "...), item...)
	}
	return append(out, "\n"+pad+end...)
}

// text is an argument that is a text, or nil where none may be.
func text(v any, what string, none bool) (string, error) {
	s, ok := v.(string)
	if !ok && !(none && v == nil) {
		return "", fmt.Errorf("%s: invalid type", what)
	}
	return s, nil
}

// textList is a list of texts, or one.
func textList(v any, what string) ([]string, error) {
	items, ok := v.([]any)
	if !ok {
		items = []any{v}
	}
	list := make([]string, len(items))
	for i, item := range items {
		s, err := text(item, what, false)
		if err != nil {
			return nil, err
		}
		list[i] = s
	}
	return list, nil
}

// missing is what happens where a name is not there.
func (c *call) missing(name, what string) error {
	if c.strict {
		return fmt.Errorf("%s: %s not found", name, what)
	}
	return nil
}

// variable finds the one that a pattern means; nil where there is none.
func (c *call) variable(d *dataset, v any) (*variable, error) {
	pattern, err := text(v, "var", false)
	if err != nil {
		return nil, err
	}
	name := pattern
	if !c.fixed {
		if name, err = find(d.names(), pattern, "variable"); err != nil {
			return nil, err
		}
	}
	if d.vars[name] == nil {
		return nil, c.missing(name, "variable")
	}
	return d.vars[name], nil
}

// variables finds those that patterns mean, in their order.
func (c *call) variables(d *dataset, patterns []any) ([]string, error) {
	var names []string
	for _, v := range patterns {
		pattern, err := text(v, "var", false)
		if err != nil {
			return nil, err
		}
		if c.fixed {
			names = append(names, pattern)
		} else {
			names = append(names, findAll(d.names(), pattern)...)
		}
	}
	return names, nil
}
