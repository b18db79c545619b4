package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// groups are the files of package capi that hold exports, in the order of the header, with their titles there.
var groups = []struct{ file, title string }{
	{"library.go", "The library"},
	{"formats.go", "Formats"},
	{"file.go", "Files"},
	{"array.go", "Arrays"},
	{"io.go", "Reading and writing boxes"},
	{"copy.go", "Copying arrays"},
	{"map.go", "Mapping into memory"},
	{"strings.go", "Elements of variable length"},
	{"resize.go", "Growing and shrinking"},
	{"chunks.go", "Chunks"},
	{"table.go", "Tables"},
	{"reduce.go", "Reductions"},
	{"arrow.go", "Arrow"},
	{"attrs.go", "Attributes"},
	{"groups.go", "Groups"},
	{"trailing.go", "Bytes after the data"},
	{"blosc.go", "Blosc1 chunks"},
	{"oneshot.go", "Small files in one call"},
	{"load.go", "Parts of an open file in one call"},
	{"many.go", "Many small files in one call"},
	{"verify.go", "Checking and repairing"},
	{"convert.go", "Converting"},
	{"split.go", "Splitting and joining"},
	{"settings.go", "Settings"},
}

// goPrefix and cPrefix begin the names of a Go export and of the C function that calls it. What begins with privatePrefix
// is between the library's own Go and C.
const (
	goPrefix      = "ndfgo_"
	cPrefix       = "ndf_"
	privatePrefix = "ndfile_"
)

// testTag begins files for tests, which have nothing for the header.
const testTag = "//go:build ndfpanic"

// api is all that the outputs are made of.
type api struct {
	version   string
	contract  string // the package's documentation
	functions []*function
	private   []string // exports between the library's own Go and C
	types     *types
}

// function is one public function.
type function struct {
	goName, name string
	group        int    // position in groups
	summary      string // one sentence, which begins with a lower-case verb
	prose        []string
	result       string // C type
	params       []param
	returns      string
	ownership    string
	threads      string
	since        string
}

// param is one parameter of a function.
type param struct {
	ctype, name, doc string
	tags             []string
}

// The tags of parameters. A pointer has one of in, out, inout and opaque.
const (
	tagIn       = "in"       // the library reads what it leads to, during the call
	tagOut      = "out"      // the library stores something there
	tagInOut    = "inout"    // it reads, then stores
	tagOpaque   = "opaque"   // it is handed back as it is, and may be anything
	tagNullable = "nullable" // it may be NULL
	tagOwned    = "owned"    // what is stored there is the caller's to close or release
	tagBorrowed = "borrowed" // what is stored there belongs to something else, which the text names
	tagTaken    = "taken"    // the handle is not valid afterwards
)

var directions = []string{tagIn, tagOut, tagInOut, tagOpaque}

// errParam is the last parameter of every function that can fail. It is described once, in the contract.
var errParam = param{"ndf_error *", "err", "receives the reason of an error", []string{tagOut, tagNullable}}

func (p *param) pointer() bool { return strings.HasSuffix(p.ctype, "*") }

// has reports whether the parameter has a tag.
func (p *param) has(tag string) bool { return slices.Contains(p.tags, tag) }

// tagText is the tags as the documentation shows them.
func (p *param) tagText() string {
	if len(p.tags) == 0 {
		return ""
	}
	return "[" + strings.Join(p.tags, ", ") + "] "
}

// isHandle reports whether the parameter is a handle.
func (p *param) isHandle() bool { return slices.Contains(handleTypes, p.ctype) }

// handleTypes are the types of handles; structOwned is the only struct that has to be released.
var handleTypes = []string{"ndf_file", "ndf_array", "ndf_map"}

const structOwned = "struct ArrowArrayStream *"

// checkTags refuses tags that say too little or contradict the type.
func (p *param) checkTags() error {
	var direction []string
	for _, t := range p.tags {
		switch {
		case slices.Contains(directions, t):
			direction = append(direction, t)
		case !slices.Contains([]string{tagNullable, tagOwned, tagBorrowed, tagTaken}, t):
			return fmt.Errorf("parameter %s: unknown tag %q", p.name, t)
		}
	}
	given, isHandle := strings.CutSuffix(p.ctype, " *")
	isHandle = isHandle && slices.Contains(handleTypes, given) || p.ctype == structOwned
	switch {
	case p.pointer() && len(direction) != 1:
		return fmt.Errorf("parameter %s: a pointer has one of the tags %q, found %q", p.name, directions, direction)
	case !p.pointer() && len(direction) > 0:
		return fmt.Errorf("parameter %s: the tag %q of no pointer", p.name, direction[0])
	case p.has(tagIn) != (strings.HasPrefix(p.ctype, "const ") && !strings.HasSuffix(p.ctype, " **")) && !p.has(tagOpaque):
		return fmt.Errorf("parameter %s: the tag %q goes with const, and only with it", p.name, tagIn)
	case isHandle != p.has(tagOwned):
		return fmt.Errorf("parameter %s: the tag %q goes with what has to be closed", p.name, tagOwned)
	case strings.HasSuffix(p.ctype, " **") != p.has(tagBorrowed):
		return fmt.Errorf("parameter %s: the tag %q goes with addresses that the library gives", p.name, tagBorrowed)
	case p.has(tagTaken) && !p.isHandle():
		return fmt.Errorf("parameter %s: the tag %q of what is no handle", p.name, tagTaken)
	case mayBeNull.MatchString(p.doc):
		return fmt.Errorf("parameter %s: the tag %q says what %q says", p.name, tagNullable, mayBeNull.FindString(p.doc))
	}
	return nil
}

// mayBeNull is prose in place of the tag.
var mayBeNull = regexp.MustCompile(`(?i)\b(may|can) be null\b`)

// goType is the type that the Go side has: no const, and numbers for pointers that it could not bear.
func (p *param) goType() string {
	if p.has(tagOpaque) {
		return "uintptr_t"
	}
	return mutable(p.ctype)
}

// prototype is the C declaration without the semicolon.
func (f *function) prototype() string {
	args := "void"
	if len(f.params) > 0 {
		list := make([]string, len(f.params))
		for i, p := range f.params {
			list[i] = declare(p.ctype, p.name)
		}
		args = strings.Join(list, ", ")
	}
	return declare(f.result, f.name) + "(" + args + ")"
}

// fallible reports whether the function returns a status.
func (f *function) fallible() bool { return f.result == "int32_t" }

// declare joins a C type and a name.
func declare(ctype, name string) string {
	if strings.HasSuffix(ctype, "*") {
		return ctype + name
	}
	return ctype + " " + name
}

// load reads package capi from the folder dir.
func load(dir string) (*api, error) {
	a := &api{}
	text, err := os.ReadFile(filepath.Join(dir, "ndfile_types.h"))
	if err != nil {
		return nil, err
	}
	if a.types, err = parseTypes(string(text)); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(string(text), testTag) {
			continue
		}
		errs = append(errs, a.addFile(filepath.Base(path), text))
	}
	slices.SortStableFunc(a.functions, func(f, g *function) int { return f.group - g.group })
	if a.version == "" || a.contract == "" {
		errs = append(errs, errors.New("capi: no constant version, or no package comment"))
	}
	for _, f := range a.functions {
		errs = append(errs, a.checkNames(f))
	}
	return a, errors.Join(errs...)
}

// addFile adds the exports of one Go file, its version and its package comment.
func (a *api) addFile(name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
	if err != nil {
		return err
	}
	if file.Doc != nil {
		a.contract = file.Doc.Text()
	}
	var errs []error
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			a.addVersion(d)
		case *ast.FuncDecl:
			if !exported(d) {
				continue
			}
			if strings.HasPrefix(d.Name.Name, privatePrefix) {
				a.private = append(a.private, d.Name.Name)
				continue
			}
			f, err := parseExport(d)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %s: %w", name, d.Name.Name, err))
				continue
			}
			f.group = slices.IndexFunc(groups, func(g struct{ file, title string }) bool { return g.file == name })
			if f.group < 0 {
				errs = append(errs, fmt.Errorf("%s: %s: the file is none of the groups of the header", name, d.Name.Name))
			}
			a.functions = append(a.functions, f)
		}
	}
	return errors.Join(errs...)
}

// addVersion takes the value of the constant version.
func (a *api) addVersion(d *ast.GenDecl) {
	for _, s := range d.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || d.Tok != token.CONST || len(v.Values) != 1 || v.Names[0].Name != "version" {
			continue
		}
		if lit, ok := v.Values[0].(*ast.BasicLit); ok {
			a.version = constant.StringVal(constant.MakeFromLiteral(lit.Value, lit.Kind, 0))
		}
	}
}

// exported reports whether a function has an //export directive.
func exported(d *ast.FuncDecl) bool {
	return d.Doc != nil && slices.ContainsFunc(d.Doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//export ")
	})
}

// The sections of a doc comment, in the order that is demanded. Parameters is missing where there are none but err.
const (
	sectionC          = "C:"
	sectionParameters = "Parameters:"
	sectionReturns    = "Returns:"
	sectionOwnership  = "Ownership:"
	sectionThreads    = "Threads:"
	sectionSince      = "Since:"
)

var sections = []string{sectionC, sectionParameters, sectionReturns, sectionOwnership, sectionThreads, sectionSince}

// parseExport reads the doc comment of an export:
//
//	name and summary in one sentence.
//
//	Prose, any number of paragraphs.
//
//	C: the prototype
//
//	Parameters:
//	  - name (tags): units, limits, what NULL means
//
//	Returns: the statuses
//
//	Ownership: who owns what
//
//	Threads: from where, beside what
//
//	Since: version
func parseExport(d *ast.FuncDecl) (*function, error) {
	f := &function{goName: d.Name.Name}
	base, ok := strings.CutPrefix(f.goName, goPrefix)
	if !ok {
		return nil, errors.New("the name does not begin with " + goPrefix)
	}
	f.name = cPrefix + base
	for _, c := range d.Doc.List {
		if name, ok := strings.CutPrefix(c.Text, "//export "); ok && name != f.goName {
			return nil, fmt.Errorf("exported as %s", name)
		}
	}
	paragraphs := strings.Split(strings.TrimSpace(d.Doc.Text()), "\n\n")
	if f.summary, ok = strings.CutPrefix(flow(paragraphs[0]), f.goName+" "); !ok || !strings.HasSuffix(f.summary, ".") {
		return nil, errors.New("the summary is not a sentence that begins with the name")
	}
	found := map[string]string{}
	last := -1
	for _, p := range paragraphs[1:] {
		i := slices.IndexFunc(sections, func(s string) bool { return strings.HasPrefix(p, s) })
		switch {
		case i < 0 && last >= 0:
			return nil, fmt.Errorf("a paragraph after %q: %.40q", sections[last], p)
		case i < 0:
			f.prose = append(f.prose, flow(p))
		case i <= last:
			return nil, fmt.Errorf("%q comes twice or too late", sections[i])
		default:
			found[sections[i]] = strings.TrimRight(strings.TrimPrefix(p, sections[i]), "\n")
			last = i
		}
	}
	for _, s := range sections {
		if found[s] == "" && s != sectionParameters {
			return nil, fmt.Errorf("%q is missing", s)
		}
	}
	f.returns, f.ownership = flow(found[sectionReturns]), flow(found[sectionOwnership])
	f.threads, f.since = flow(found[sectionThreads]), flow(found[sectionSince])
	if !releaseForm.MatchString(f.since) {
		return nil, fmt.Errorf("%q is %q, expected the minor release, as 1.0", sectionSince, f.since)
	}
	if err := f.parsePrototype(flow(found[sectionC])); err != nil {
		return nil, err
	}
	if err := f.parseParameters(found[sectionParameters]); err != nil {
		return nil, err
	}
	if f.fallible() && !strings.HasPrefix(f.returns, "NDF_OK") {
		return nil, fmt.Errorf("%q does not begin with NDF_OK", sectionReturns)
	}
	return f, f.checkGo(d)
}

// flow makes one line of a paragraph.
func flow(p string) string { return strings.Join(strings.Fields(p), " ") }

var (
	prototypeForm = regexp.MustCompile(`^(const char \*|int32_t )(\w+)\((.*)\)$`)
	releaseForm   = regexp.MustCompile(`^\d+\.\d+$`)
	itemForm      = regexp.MustCompile(`^(\w+)( \(([a-z, ]+)\))?: (.+)$`)
	paramForm     = regexp.MustCompile(`^((?:const |struct )?\w+ (?:\*const \*|\*{0,2}))(\w+)$`)
)

// parsePrototype reads the C prototype.
func (f *function) parsePrototype(text string) error {
	m := prototypeForm.FindStringSubmatch(text)
	if m == nil || m[2] != f.name {
		return fmt.Errorf("prototype of another name or form: %q", text)
	}
	f.result = strings.TrimSpace(m[1])
	if m[3] == "void" {
		return nil
	}
	for _, t := range strings.Split(m[3], ",") {
		p := paramForm.FindStringSubmatch(strings.TrimSpace(t))
		if p == nil {
			return fmt.Errorf("prototype: parameter %q", t)
		}
		f.params = append(f.params, param{ctype: strings.TrimSpace(p[1]), name: p[2]})
	}
	if last := &f.params[len(f.params)-1]; f.fallible() {
		if last.ctype != strings.TrimSpace(errParam.ctype) || last.name != errParam.name {
			return errors.New("prototype: the last parameter is not ndf_error *err")
		}
		last.doc, last.tags = errParam.doc, errParam.tags
	}
	return nil
}

// parseParameters reads the list of parameters.
func (f *function) parseParameters(text string) error {
	next := 0
	for _, item := range strings.Split(text, "\n  - ")[1:] {
		m := itemForm.FindStringSubmatch(flow(item))
		if m == nil {
			return fmt.Errorf("parameter without a text: %q", item)
		}
		name, tags, doc := m[1], m[3], m[4]
		if next >= len(f.params) || f.params[next].name != name {
			return fmt.Errorf("parameter %s is documented, but is not the prototype's next", name)
		}
		f.params[next].doc = doc
		if tags != "" {
			f.params[next].tags = strings.Split(tags, ", ")
		}
		next++
	}
	for _, p := range f.params {
		if p.doc == "" {
			return fmt.Errorf("parameter %s is not documented", p.name)
		}
		if err := p.checkTags(); err != nil {
			return err
		}
	}
	return nil
}

// checkGo compares the prototype with the parameters of the Go function.
func (f *function) checkGo(d *ast.FuncDecl) error {
	var names []string
	for _, field := range d.Type.Params.List {
		for _, n := range field.Names {
			names = append(names, n.Name)
		}
	}
	var want []string
	for _, p := range f.params {
		want = append(want, p.name)
	}
	if !slices.Equal(names, want) {
		return fmt.Errorf("the prototype has the parameters %q, the Go function %q", want, names)
	}
	return nil
}

var constantForm = regexp.MustCompile(`\bNDF_[A-Z0-9_]*[A-Z0-9]\b`)

// checkNames refuses constants that do not exist in the texts of a function.
func (a *api) checkNames(f *function) error {
	known := map[string]bool{"NDF_VERSION": true, "NDF_ERR_UNKNOWN": true} // the latter is text only
	for _, c := range a.constants() {
		known[c.name] = true
	}
	texts := append([]string{f.summary, f.returns, f.ownership, f.threads}, f.prose...)
	for _, p := range f.params {
		texts = append(texts, p.doc)
	}
	for _, name := range constantForm.FindAllString(strings.Join(texts, " "), -1) {
		if !known[name] {
			return fmt.Errorf("%s: unknown constant %s", f.goName, name)
		}
	}
	return nil
}
