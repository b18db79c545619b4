package pyjson

import (
	"math"
	"strconv"
	"strings"
)

// maxDigits bounds the digits of one number. CPython 3.11 refuses longer
// integers (sys.int_info.default_max_str_digits). It has no such bound for the
// digits of a float; we do, because strconv.ParseFloat clips exponents and would
// bend a text with very many digits.
const maxDigits = 4300

// scanNumber finds the end of the number that begins at data[i] and whether it
// is an integer: no fraction, no exponent, none of the three words.
func scanNumber(data []byte, i int) (end int, isInt bool, err error) {
	start := i
	if i < len(data) && data[i] == '-' {
		i++
	}
	digits := i
	switch {
	case i >= len(data):
		return 0, false, expected("a number", data, i)
	case data[i] == 'I':
		end, err = scanWord(data, i, "Infinity")
		return end, false, err
	case data[i] == 'N' && i == start:
		end, err = scanWord(data, i, "NaN")
		return end, false, err
	case data[i] == '0':
		i++
	default:
		if i, err = scanDigits(data, i, "a number"); err != nil {
			return 0, false, err
		}
	}
	n := i - digits
	isInt = true
	if i < len(data) && data[i] == '.' {
		isInt = false
		point := i
		if i, err = scanDigits(data, point+1, "a digit"); err != nil {
			return 0, false, err
		}
		n += i - point - 1
	}
	if n > maxDigits {
		return 0, false, &LimitError{int64(start), maxDigits, "number with too many digits"}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		isInt = false
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if i, err = scanDigits(data, i, "a digit of the exponent"); err != nil {
			return 0, false, err
		}
	}
	return i, isInt, nil
}

// scanDigits passes one digit or more.
func scanDigits(data []byte, i int, what string) (int, error) {
	start := i
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	if i == start {
		return 0, expected(what, data, i)
	}
	return i, nil
}

// scanWord passes a literal word.
func scanWord(data []byte, i int, word string) (int, error) {
	for k := range len(word) {
		if i+k >= len(data) || data[i+k] != word[k] {
			return 0, expected(word, data, i+k)
		}
	}
	return i + len(word), nil
}

// isIntText tells an integer from the other checked number texts.
func isIntText(text string) bool {
	return !strings.ContainsAny(text, ".eEIN")
}

// parseInt64 and parseUint64 read a checked integer text; ok is false when it
// does not fit. Unlike strconv they build no error for that.
func parseInt64[T string | []byte](text T) (v int64, ok bool) {
	if text[0] != '-' {
		u, ok := parseUint64(text)
		return int64(u), ok && u <= math.MaxInt64
	}
	u, ok := parseUint64(text[1:])
	return -int64(u), ok && u <= 1<<63
}

func parseUint64[T string | []byte](text T) (v uint64, ok bool) {
	for i := range len(text) {
		d := uint64(text[i] - '0')
		if d > 9 || v > (math.MaxUint64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}

// AppendFloat appends f as Python's float.__repr__ does inside json.dumps: the
// shortest digits that read back as f, always with a point or an exponent, the
// exponent from 1e+16 up and below 1e-04; and the words NaN, Infinity, -Infinity.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	if abs := math.Abs(f); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if f == math.Trunc(f) {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendNumber appends a checked number text the way Python writes the number
// it stands for: -0 is the int 0, and a float goes through its repr.
func appendNumber(dst []byte, text string) []byte {
	if text == "-0" {
		return append(dst, '0')
	}
	if isIntText(text) {
		return append(dst, text...)
	}
	return AppendFloat(dst, parseFloat(text))
}

// parseFloat reads a checked number text as Python's float(text) does: past the
// largest float it is an infinity, for which strconv adds an error.
func parseFloat(text string) float64 {
	f, _ := strconv.ParseFloat(text, 64)
	return f
}
