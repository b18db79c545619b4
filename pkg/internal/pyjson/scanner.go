package pyjson

const (
	defaultDepth = 200
	// maxDepth bounds what a caller may ask for: recursion that deep still takes
	// only a few megabytes of stack.
	maxDepth = 10_000
)

// Scanner walks one JSON text from Pos on, value by value, without building
// anything. Set Data and go; every method first skips white space. No method
// allocates on success, except Value. After an error the Scanner is of no more
// use. Errors are *SyntaxError, and *LimitError for nesting deeper than MaxDepth
// or a number of more than 4300 digits; offsets count from the start of Data.
//
// An object is read like this, an array the same way with NextItem:
//
//	if err := s.EnterObject(); err != nil {
//		return err
//	}
//	for first := true; ; first = false {
//		key, plain, more, err := s.NextKey(first)
//		if err != nil || !more {
//			return err
//		}
//		... read or Skip the value of key
//	}
type Scanner struct {
	Data     []byte // the text; never changed
	Pos      int    // of the next byte to read
	MaxDepth int    // of arrays and objects inside each other; 0: 200, at most 10,000
	depth    int
}

// Peek returns the byte the next token begins with, and leaves it there.
func (s *Scanner) Peek() (byte, error) {
	if s.Pos < len(s.Data) && s.Data[s.Pos] > ' ' {
		return s.Data[s.Pos], nil
	}
	return s.peekPastSpace()
}

func (s *Scanner) peekPastSpace() (byte, error) {
	if s.space(); s.Pos < len(s.Data) {
		return s.Data[s.Pos], nil
	}
	return 0, s.expected("a token")
}

func (s *Scanner) space() {
	for s.Pos < len(s.Data) {
		switch s.Data[s.Pos] {
		case ' ', '\t', '\n', '\r':
			s.Pos++
		default:
			return
		}
	}
}

func (s *Scanner) expected(what string) error { return expected(what, s.Data, s.Pos) }

// at tells whether c is next.
func (s *Scanner) at(c byte) bool {
	s.space()
	return s.Pos < len(s.Data) && s.Data[s.Pos] == c
}

// EnterObject consumes the '{' of an object.
func (s *Scanner) EnterObject() error { return s.enter('{', "'{'") }

// EnterArray consumes the '[' of an array.
func (s *Scanner) EnterArray() error { return s.enter('[', "'['") }

func (s *Scanner) enter(open byte, name string) error {
	if !s.at(open) {
		return s.expected(name)
	}
	if limit := depthLimit(s.MaxDepth); s.depth >= limit {
		return &LimitError{int64(s.Pos), int64(limit), "arrays and objects nested too deep"}
	}
	s.depth++
	s.Pos++
	return nil
}

func depthLimit(asked int) int {
	if asked <= 0 {
		return defaultDepth
	}
	return min(asked, maxDepth)
}

// NextKey consumes the key of the next member and its ':', after the ',' of the
// member before unless first. key is what stands between the quotes, part of
// Data; plain tells that it has no escapes, otherwise see [Unquote]. When the
// object ends, more is false and its '}' is consumed.
func (s *Scanner) NextKey(first bool) (key []byte, plain, more bool, err error) {
	if key := s.usualKey(first); key != nil {
		return key, true, true, nil
	}
	if more, err = s.next(first, '}', "',' or '}'"); err != nil || !more {
		return nil, false, false, err
	}
	if key, plain, err = s.RawString(); err != nil {
		return nil, false, false, err
	}
	if err = s.colon(); err != nil {
		return nil, false, false, err
	}
	return key, plain, true, nil
}

// usualKey is NextKey for a plain key spaced as Python spaces it; for all else it
// gives nil and consumes nothing. Headers consist of such keys.
func (s *Scanner) usualKey(first bool) []byte {
	rest := s.Data[min(s.Pos, len(s.Data)):]
	i := 0
	if !first {
		i = 2
		if len(rest) < i || rest[0] != ',' || rest[1] != ' ' {
			return nil
		}
	}
	if i >= len(rest) || rest[i] != '"' {
		return nil
	}
	start := i + 1
	for i = start; i < len(rest) && simple[rest[i]]; i++ {
	}
	if i+2 >= len(rest) || rest[i] != '"' || rest[i+1] != ':' || rest[i+2] != ' ' {
		return nil
	}
	s.Pos += i + 3
	return rest[start:i:i]
}

func (s *Scanner) colon() error {
	if !s.at(':') {
		return s.expected("':'")
	}
	s.Pos++
	return nil
}

// NextItem goes to the next value of an array, past the ',' after the one before
// unless first. When the array ends, more is false and its ']' is consumed.
func (s *Scanner) NextItem(first bool) (more bool, err error) {
	return s.next(first, ']', "',' or ']'")
}

func (s *Scanner) next(first bool, end byte, names string) (more bool, err error) {
	switch {
	case s.at(end):
		s.Pos++
		s.depth--
		return false, nil
	case first:
		return true, nil
	case !s.at(','):
		return false, s.expected(names)
	}
	s.Pos++
	return true, nil
}

// RawString consumes a string and returns what stands between its quotes, part
// of Data: valid UTF-8 and valid escapes. plain tells that it has no escapes;
// otherwise see [Unquote].
func (s *Scanner) RawString() (raw []byte, plain bool, err error) {
	if !s.at('"') {
		return nil, false, s.expected("a string")
	}
	start := s.Pos + 1
	end, plain, err := checkString(s.Data, start)
	if err != nil {
		return nil, false, err
	}
	if end == len(s.Data) {
		return nil, false, expected("the closing quote of a string", s.Data, end)
	}
	s.Pos = end + 1
	return s.Data[start:end:end], plain, nil
}

// Int64 consumes a number. ok is false when it is not an integer, or one that
// does not fit.
func (s *Scanner) Int64() (v int64, ok bool, err error) {
	// Up to 18 digits fit; what may go on as another number is left to number.
	i := s.Pos
	for ; i < len(s.Data) && i-s.Pos <= 18; i++ {
		digit := s.Data[i] - '0'
		if digit > 9 {
			break
		}
		v = v*10 + int64(digit)
	}
	if n := i - s.Pos; n > 0 && n <= 18 && i < len(s.Data) && (n == 1 || s.Data[s.Pos] != '0') {
		if c := s.Data[i]; c == ',' || c == ']' || c == '}' {
			s.Pos = i
			return v, true, nil
		}
	}
	text, isInt, err := s.number()
	if err != nil || !isInt {
		return 0, false, err
	}
	v, ok = parseInt64(text)
	return v, ok, nil
}

func (s *Scanner) number() (text []byte, isInt bool, err error) {
	s.space()
	start := s.Pos
	end, isInt, err := scanNumber(s.Data, start)
	if err != nil {
		return nil, false, err
	}
	s.Pos = end
	return s.Data[start:end], isInt, nil
}

// Bool consumes true or false.
func (s *Scanner) Bool() (bool, error) {
	switch {
	case s.at('t'):
		return true, s.word("true")
	case s.at('f'):
		return false, s.word("false")
	}
	return false, s.expected("true or false")
}

// Null consumes null.
func (s *Scanner) Null() error {
	s.space()
	return s.word("null")
}

func (s *Scanner) word(w string) error {
	end, err := scanWord(s.Data, s.Pos, w)
	if err != nil {
		return err
	}
	s.Pos = end
	return nil
}

// Skip consumes any value and returns its text, part of Data. It is as strict as
// [Parse].
func (s *Scanner) Skip() (raw []byte, err error) {
	s.space()
	start := s.Pos
	if err := s.skip(); err != nil {
		return nil, err
	}
	return s.Data[start:s.Pos:s.Pos], nil
}

// skip recurses as deep as enter allows.
func (s *Scanner) skip() error {
	c, err := s.Peek()
	if err != nil {
		return s.expected("a value")
	}
	switch c {
	case '{':
		err = s.EnterObject()
		for first := true; err == nil; first = false {
			_, _, more, e := s.NextKey(first)
			if e != nil || !more {
				return e
			}
			err = s.skip()
		}
	case '[':
		err = s.EnterArray()
		for first := true; err == nil; first = false {
			more, e := s.NextItem(first)
			if e != nil || !more {
				return e
			}
			err = s.skip()
		}
	case '"':
		_, _, err = s.RawString()
	case 't', 'f':
		_, err = s.Bool()
	case 'n':
		err = s.Null()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'N', 'I':
		_, _, err = s.number()
	default:
		err = s.expected("a value")
	}
	return err
}

// End succeeds when nothing but white space is left.
func (s *Scanner) End() error {
	if s.space(); s.Pos < len(s.Data) {
		return s.expected("the end of the text")
	}
	return nil
}
