package ndfile

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
)

const (
	maxConditionText  = 1 << 20 // bytes
	maxConditionDepth = 200
)

// ParseCondition reads a condition as Python programs write it:
//
//	(close > 1) & (id == 3)        and or not, or & | ~
//	10 <= price < 20               == != < <= > >=, also in a row
//	day >= "2020-03-01"            times in ISO 8601; texts in quotes of either kind
//	sym in ("A", "B")              also not in, sym.isin(["A", "B"]), isin(sym, ["A"])
//	(high - low) / close > 0.1     + - * / // % **
//	~halted                        a column of bools
//	`net weight` < 3               names that are no words in backquotes
//
// & and | bind as "and" and "or" do, not as in Python: "a > 1 & b > 2" means
// "(a > 1) & (b > 2)". Comparisons of a column with constants are exact, see [Term];
// arithmetic is that of int64 where both sides are integers, and else of float64.
// What cannot be read is ErrArgument, with the position.
func ParseCondition(text string) (*Condition, error) {
	if len(text) > maxConditionText {
		return nil, NewError(ErrLimit, "condition: longer than "+strconv.Itoa(maxConditionText)+" bytes")
	}
	p := &conditionParser{text: text}
	p.next()
	x, err := p.or()
	if err == nil && p.token != "" {
		err = p.unexpected("an operator or the end")
	}
	if err != nil {
		return nil, err
	}
	return x.asCondition(p)
}

// phrase is a part of a condition: a condition, a value or a list of constants.
type phrase struct {
	condition *Condition
	value     *value
	list      []Value
	isList    bool
	at        int
}

func (x phrase) asCondition(p *conditionParser) (*Condition, error) {
	switch {
	case x.condition != nil:
		return x.condition, nil
	case x.value != nil && x.value.kind == fromColumn: // of bools, which the column must be
		return &Condition{kind: comparison, op: Equal, left: x.value, values: []Value{boolean(true)}, bare: true}, nil
	}
	return nil, p.at(x.at, "expected a comparison")
}

func boolean(b bool) Value {
	v, _ := ParseValue(strconv.AppendBool(nil, b))
	return v
}

func (x phrase) asValue(p *conditionParser) (*value, error) {
	if x.value == nil {
		return nil, p.at(x.at, "expected a column or a constant; comparisons are joined by &, | and ~")
	}
	return x.value, nil
}

// conditionParser reads by recursive descent.
type conditionParser struct {
	text  string
	pos   int    // behind the token
	start int    // of the token
	token string // "" at the end
	class tokenClass
	depth int
	err   error // of the token
}

type tokenClass uint8

const (
	sign tokenClass = iota
	word
	quoted // a name in backquotes
	number_
	text_
)

func (p *conditionParser) at(pos int, msg string) error {
	return NewError(ErrArgument, "condition "+strconv.Quote(p.text)+": at character "+strconv.Itoa(utf8.RuneCountInString(p.text[:pos])+1)+": "+msg)
}

func (p *conditionParser) unexpected(want string) error {
	if p.err != nil {
		return p.err
	}
	found := "the end"
	if p.token != "" {
		found = strconv.Quote(p.text[p.start:p.pos])
	}
	return p.at(p.start, "expected "+want+", found "+found)
}

// signs are the operators, longer ones first.
var signs = []string{"**", "//", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "&", "|", "~", "!", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", "."}

// next reads a token.
func (p *conditionParser) next() {
	for p.pos < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.pos:])
		if !unicode.IsSpace(r) {
			break
		}
		p.pos += n
	}
	p.start, p.token, p.class = p.pos, "", sign
	if p.pos == len(p.text) {
		return
	}
	rest := p.text[p.pos:]
	r, size := utf8.DecodeRuneInString(rest)
	digit := func(i int) bool { return i < len(rest) && '0' <= rest[i] && rest[i] <= '9' }
	switch {
	case rest[0] == '"' || rest[0] == '\'':
		p.quotedText(rest, 0, false)
		return
	case len(rest) > 1 && (rest[0] == 'b' || rest[0] == 'u') && (rest[1] == '"' || rest[1] == '\''):
		p.quotedText(rest, 1, rest[0] == 'b')
		return
	case rest[0] == '`':
		if end := strings.IndexByte(rest[1:], '`'); end > 0 {
			p.class, p.token, p.pos = quoted, rest[1:1+end], p.pos+end+2
		} else {
			p.err = p.at(p.start, "a name in backquotes does not end")
		}
		return
	case digit(0) || rest[0] == '.' && digit(1):
		n := 0
		for digit(n) || n < len(rest) && (rest[n] == '.' || rest[n] == '_' || rest[n]|0x20 == 'e' ||
			(rest[n] == '+' || rest[n] == '-') && n > 0 && rest[n-1]|0x20 == 'e') {
			n++
		}
		p.class, p.token, p.pos = number_, rest[:n], p.pos+n
		return
	case r == '_' || unicode.IsLetter(r):
		n := strings.IndexFunc(rest, func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)
		})
		if n < 0 {
			n = len(rest)
		}
		p.class, p.token, p.pos = word, rest[:n], p.pos+n
		return
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			p.token, p.pos = s, p.pos+len(s)
			return
		}
	}
	p.token, p.pos = rest[:size], p.pos+size // of no meaning
}

// quotedText reads a text as Python writes it; bytes from 0x80 on of one of bytes
// become what surrogateescape makes of them.
func (p *conditionParser) quotedText(rest string, at int, raw bool) {
	quote := rest[at]
	var b []byte
	escaped := func(digits, i int) (rune, bool) {
		if i+2+digits > len(rest) {
			return 0, false
		}
		v, err := strconv.ParseUint(rest[i+2:i+2+digits], 16, 32)
		return rune(v), err == nil
	}
	for i := at + 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == quote:
			p.class, p.token, p.pos = text_, string(b), p.pos+i+1
			if p.token == "" {
				p.token = "\x00" // which does not count at the end of a text
			}
			return
		case c == '\\' && i+1 < len(rest):
			digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[rest[i+1]]
			if digits > 0 && !(raw && digits > 2) {
				r, ok := escaped(digits, i)
				if !ok {
					p.err = p.at(p.start+i, "a bad escape in a text")
					return
				}
				if raw && r >= 0x80 {
					b = append(b, 0xed, 0xb2+byte(r>>6&1), 0x80|byte(r)&0x3f)
				} else {
					b = utf8.AppendRune(b, r)
				}
				i += 1 + digits
				continue
			}
			if k := strings.IndexByte(`nrt0\'"`, rest[i+1]); k >= 0 {
				b = append(b, "\n\r\t\x00\\'\""[k])
				i++
				continue
			}
			b = append(b, c)
		default:
			b = append(b, c)
		}
	}
	p.err = p.at(p.start, "a text does not end")
	p.token, p.pos = "?", len(p.text)
}

// accept goes over one of some tokens, and tells which.
func (p *conditionParser) accept(tokens ...string) string {
	if p.err == nil && (p.class == sign || p.class == word) && p.token != "" && slices.Contains(tokens, p.token) {
		t := p.token
		p.next()
		return t
	}
	return ""
}

func (p *conditionParser) deeper() error {
	if p.depth++; p.depth > maxConditionDepth {
		return NewError(ErrLimit, "condition: nested deeper than "+strconv.Itoa(maxConditionDepth))
	}
	return nil
}

func (p *conditionParser) or() (phrase, error) {
	return p.joined(anyOf, p.and, "|", "or", "||")
}

func (p *conditionParser) and() (phrase, error) {
	return p.joined(allOf, p.not, "&", "and", "&&")
}

func (p *conditionParser) joined(kind conditionKind, part func() (phrase, error), words ...string) (phrase, error) {
	if err := p.deeper(); err != nil {
		return phrase{}, err
	}
	defer func() { p.depth-- }()
	x, err := part()
	if err != nil || p.err != nil {
		return x, firstOf(err, p.err)
	}
	var args []*Condition
	for p.accept(words...) != "" {
		y, err := part()
		if err != nil {
			return x, err
		}
		if args == nil {
			c, err := x.asCondition(p)
			if err != nil {
				return x, err
			}
			args = append(args, c)
		}
		c, err := y.asCondition(p)
		if err != nil {
			return x, err
		}
		args = append(args, c)
	}
	if args != nil {
		return phrase{condition: &Condition{kind: kind, args: args}, at: x.at}, nil
	}
	return x, p.err
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *conditionParser) not() (phrase, error) {
	at := p.start
	if p.accept("not") == "" {
		return p.comparison()
	}
	if err := p.deeper(); err != nil {
		return phrase{}, err
	}
	defer func() { p.depth-- }()
	x, err := p.not()
	if err != nil {
		return x, err
	}
	return p.negated(x, at)
}

func (p *conditionParser) negated(x phrase, at int) (phrase, error) {
	c, err := x.asCondition(p)
	return phrase{condition: &Condition{kind: notThat, args: []*Condition{c}}, at: at}, err
}

func (p *conditionParser) comparison() (phrase, error) {
	x, err := p.sum()
	if err != nil {
		return x, err
	}
	var all []*Condition
	left := x
	for {
		not := false
		if p.err == nil && p.class == word && (p.token == "not" || p.token == "in") {
			not = p.accept("not") != ""
			if p.accept("in") == "" {
				return x, p.unexpected(`"in"`)
			}
			list, err := p.sum()
			if err == nil {
				all, err = p.appendIn(all, left, list, not)
			}
			if err != nil {
				return x, err
			}
			left = list
			continue
		}
		token := p.accept("==", "!=", "<=", ">=", "<", ">")
		if token == "" {
			break
		}
		op, _ := ParseOp(token)
		right, err := p.sum()
		if err != nil {
			return x, err
		}
		c, err := p.compare(left, op, right)
		if err != nil {
			return x, err
		}
		all, left = append(all, c), right
	}
	switch len(all) {
	case 0:
		return x, nil
	case 1:
		return phrase{condition: all[0], at: x.at}, nil
	}
	return phrase{condition: And(all...), at: x.at}, nil
}

var mirrored = [...]Op{Equal: Equal, NotEqual: NotEqual, Less: Greater, LessEqual: GreaterEqual, Greater: Less, GreaterEqual: LessEqual}

// compare brings constants to the right.
func (p *conditionParser) compare(x phrase, op Op, y phrase) (*Condition, error) {
	left, err := x.asValue(p)
	if err != nil {
		return nil, err
	}
	right, err := y.asValue(p)
	if err != nil {
		return nil, err
	}
	if left.kind == isConstant {
		left, right, op = right, left, mirrored[op]
	}
	switch {
	case left.kind == isConstant:
		return nil, p.at(x.at, "a comparison without a column")
	case left.kind == fromColumn && right.kind == isConstant:
		return &Condition{kind: comparison, op: op, left: left, values: []Value{right.constant}}, nil
	}
	return &Condition{kind: comparison, op: op, left: left, right: right}, nil
}

func (p *conditionParser) appendIn(all []*Condition, x, list phrase, not bool) ([]*Condition, error) {
	left, err := x.asValue(p)
	if err != nil {
		return nil, err
	}
	if list.value != nil && list.value.kind == isConstant { // of one in parentheses
		list.list, list.isList = []Value{list.value.constant}, true
	}
	if left.kind != fromColumn || !list.isList {
		return nil, p.at(x.at, "expected a column in a list of constants")
	}
	op := Equal
	if not {
		op = NotEqual
	}
	return append(all, &Condition{kind: oneOf, op: op, left: left, values: list.list}), nil
}

var sums = map[string]valueKind{"+": plus, "-": minus}
var products = map[string]valueKind{"*": times, "/": divided, "//": floorDivided, "%": modulo}

func (p *conditionParser) sum() (phrase, error) {
	return p.arithmetic(sums, p.product, "+", "-")
}

func (p *conditionParser) product() (phrase, error) {
	return p.arithmetic(products, p.unary, "*", "/", "//", "%")
}

func (p *conditionParser) arithmetic(kinds map[string]valueKind, part func() (phrase, error), tokens ...string) (phrase, error) {
	x, err := part()
	for n := 0; err == nil; n++ {
		token := p.accept(tokens...)
		if token == "" {
			return x, p.err
		}
		if n > maxConditionDepth { // the tree grows to the left
			return x, NewError(ErrLimit, "condition: more than "+strconv.Itoa(maxConditionDepth)+" operations in a row")
		}
		var y phrase
		if y, err = part(); err == nil {
			x, err = p.combined(kinds[token], x, y)
		}
	}
	return x, err
}

// combined makes an operation on values; of constants it is calculated.
func (p *conditionParser) combined(kind valueKind, x, y phrase) (phrase, error) {
	a, err := x.asValue(p)
	if err != nil {
		return x, err
	}
	b, err := y.asValue(p)
	if err != nil {
		return x, err
	}
	v := &value{kind: kind, args: [2]*value{a, b}}
	if kind == negative {
		v.args[1] = nil
	}
	if a.kind == isConstant && b.kind == isConstant {
		if v, err = p.folded(kind, a.constant, b.constant, x.at); err != nil {
			return x, err
		}
	}
	return phrase{value: v, at: x.at}, nil
}

func (p *conditionParser) folded(kind valueKind, a, b Value, at int) (*value, error) {
	x, okX := numberConstant(a)
	y, okY := numberConstant(b)
	if !okX || !okY {
		return nil, p.at(at, "arithmetic with something that is no number")
	}
	constant := func(text string) (*value, error) {
		v, err := ParseValue([]byte(text))
		return &value{kind: isConstant, constant: v}, err
	}
	if x.value != nil && y.value != nil && x.value.IsInt() && y.value.IsInt() && a.IsInt() && b.IsInt() {
		r := new(big.Int)
		switch kind {
		case negative:
			return constant(r.Neg(x.value.Num()).String())
		case plus:
			return constant(r.Add(x.value.Num(), y.value.Num()).String())
		case minus:
			return constant(r.Sub(x.value.Num(), y.value.Num()).String())
		case times:
			return constant(r.Mul(x.value.Num(), y.value.Num()).String())
		}
	}
	f, _ := a.Float64()
	g, _ := b.Float64()
	r := []float64{0}
	calculate(kind, r, []float64{f}, []float64{g})
	return constant(string(pyjson.AppendFloat(nil, r[0])))
}

func (p *conditionParser) unary() (phrase, error) {
	if err := p.deeper(); err != nil {
		return phrase{}, err
	}
	defer func() { p.depth-- }()
	at := p.start
	switch p.accept("-", "+", "~", "!") {
	case "-":
		x, err := p.unary()
		if err != nil {
			return x, err
		}
		return p.combined(negative, x, x)
	case "+":
		return p.unary()
	case "~", "!":
		x, err := p.unary()
		if err != nil {
			return x, err
		}
		return p.negated(x, at)
	}
	x, err := p.primary()
	if err != nil || p.accept("**") == "" {
		return x, firstOf(err, p.err)
	}
	y, err := p.unary()
	if err != nil {
		return x, err
	}
	return p.combined(power, x, y)
}

func (p *conditionParser) primary() (phrase, error) {
	if p.err != nil {
		return phrase{}, p.err
	}
	at, token, class := p.start, p.token, p.class
	switch {
	case token == "":
		return phrase{}, p.unexpected("a column or a constant")
	case class == number_:
		v, err := numberValue(token)
		if err != nil {
			return phrase{}, p.unexpected("a number")
		}
		p.next()
		return phrase{value: &value{kind: isConstant, constant: v}, at: at}, nil
	case class == text_:
		p.next()
		return phrase{value: &value{kind: isConstant, constant: StringValue(strings.TrimRight(token, "\x00"))}, at: at}, nil
	case class == word && (token == "True" || token == "False" || token == "true" || token == "false"):
		p.next()
		return phrase{value: &value{kind: isConstant, constant: boolean(token[0]|0x20 == 't')}, at: at}, nil
	case class == word && slices.Contains([]string{"and", "or", "not", "in", "is", "None"}, token):
		return phrase{}, p.unexpected("a column or a constant")
	case class == word || class == quoted:
		p.next()
		return p.named(token, class, at)
	case token == "(" || token == "[":
		return p.parenthesized(token)
	}
	return phrase{}, p.unexpected("a column or a constant")
}

// named goes on behind a name.
func (p *conditionParser) named(name string, class tokenClass, at int) (phrase, error) {
	x := phrase{value: &value{kind: fromColumn, name: name}, at: at}
	function := class == word && name == "isin" && p.accept("(") != ""
	if function {
		var err error
		if x, err = p.sum(); err != nil {
			return x, err
		}
		if p.accept(",") == "" {
			return x, p.unexpected(`","`)
		}
	} else if p.accept(".") != "" {
		if p.accept("isin") == "" || p.accept("(") == "" {
			return x, p.unexpected("isin(...)")
		}
		function = true
	}
	if !function {
		return x, p.err
	}
	list, err := p.sum()
	if err != nil {
		return x, err
	}
	if p.accept(")") == "" {
		return x, p.unexpected(`")"`)
	}
	all, err := p.appendIn(nil, x, list, false)
	if err != nil {
		return x, err
	}
	return phrase{condition: all[0], at: at}, nil
}

// parenthesized reads what stands in parentheses, or a list of constants.
func (p *conditionParser) parenthesized(open string) (phrase, error) {
	at, closing := p.start, ")"
	if open == "[" {
		closing = "]"
	}
	p.next()
	list := phrase{isList: true, at: at}
	if p.accept(closing) != "" {
		return list, nil
	}
	x, err := p.or()
	if err != nil {
		return x, err
	}
	if open == "(" && p.accept(")") != "" {
		x.at = at
		return x, p.err
	}
	for {
		if x.value == nil || x.value.kind != isConstant {
			if len(list.list) == 0 && open == "(" && p.token != "," {
				return x, p.unexpected(`")"`)
			}
			return x, p.at(x.at, "expected constants in a list")
		}
		list.list = append(list.list, x.value.constant)
		if p.accept(",") == "" {
			break
		}
		if p.accept(closing) != "" {
			return list, p.err
		}
		if x, err = p.or(); err != nil {
			return x, err
		}
	}
	if p.accept(closing) == "" {
		return list, p.unexpected(strconv.Quote(closing))
	}
	return list, p.err
}

// numberValue reads a number of Python.
func numberValue(text string) (Value, error) {
	text = strings.ReplaceAll(text, "_", "")
	if strings.HasPrefix(text, ".") {
		text = "0" + text
	}
	if i := strings.IndexByte(text, '.'); i >= 0 && (i+1 == len(text) || text[i+1] < '0' || text[i+1] > '9') {
		text = text[:i+1] + "0" + text[i+1:]
	}
	return ParseValue([]byte(text))
}
