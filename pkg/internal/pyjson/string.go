package pyjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// checkString validates the inside of a string literal from data[i] on. end is
// the index of the closing quote, or len(data) when there is none; plain tells
// that no escape was met.
func checkString(data []byte, i int) (end int, plain bool, err error) {
	plain = true
	for {
		for i < len(data) && simple[data[i]] {
			i++
		}
		if i >= len(data) {
			return i, plain, nil
		}
		switch c := data[i]; {
		case c == '"':
			return i, plain, nil
		case c == '\\':
			n, err := checkEscape(data, i)
			if err != nil {
				return 0, false, err
			}
			plain = false
			i += n
		case c < 0x20:
			return 0, false, expected("an escape for a control character", data, i)
		default:
			_, n := utf8.DecodeRune(data[i:])
			if n == 1 {
				return 0, false, expected("UTF-8", data, i)
			}
			i += n
		}
	}
}

// simple marks the bytes that stand for themselves in a string: ASCII without
// quotes, backslashes and control characters.
var simple = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// checkEscape returns the length of the escape that begins at data[i].
func checkEscape(data []byte, i int) (int, error) {
	if i+1 >= len(data) {
		return 0, expected("an escape", data, i+1)
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if k >= len(data) || hexDigit(data[k]) < 0 {
				return 0, expected(`four hex digits after \u`, data, k)
			}
		}
		return 6, nil
	}
	return 0, expected(`one of "\/bfnrtu after the backslash`, data, i+1)
}

func hexDigit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

// Unquote resolves the escapes of raw, the bytes between the quotes of a string
// literal. It checks what [Scanner.RawString] checks; offsets in its
// *SyntaxError count from the start of raw. Lone surrogates become WTF-8.
func Unquote(raw []byte) (string, error) {
	end, plain, err := checkString(raw, 0)
	if err != nil {
		return "", err
	}
	if end < len(raw) {
		return "", expected("an escaped quote", raw, end)
	}
	if plain {
		return string(raw), nil
	}
	return string(appendUnquoted(make([]byte, 0, len(raw)), raw)), nil
}

// appendUnquoted appends raw, which checkString has passed, with its escapes
// resolved. The result is never longer than raw.
func appendUnquoted(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(raw)
			raw = raw[4:]
			if utf16.IsSurrogate(r) && len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
				if pair := utf16.DecodeRune(r, hex4(raw[2:])); pair != utf8.RuneError {
					r = pair
					raw = raw[6:]
				}
			}
			dst = appendWTF8(dst, r)
		default: // the quote, the backslash and the slash stand for themselves
			dst = append(dst, c)
		}
	}
}

func hex4(b []byte) rune {
	return hexDigit(b[0])<<12 | hexDigit(b[1])<<8 | hexDigit(b[2])<<4 | hexDigit(b[3])
}

// appendWTF8 is utf8.AppendRune that keeps surrogates.
func appendWTF8(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
	}
	return utf8.AppendRune(dst, r)
}

// AppendString appends s as a JSON string in quotes, in ASCII, with Python's
// choice of escapes: the short ones for \b \f \n \r \t, the quote and the
// backslash, lower-case \uXXXX for all else outside ' '..'~', and two of them for
// a code point above U+FFFF.
//
// A surrogate held as WTF-8 is written as its escape. A high one followed by a
// low one gives the two escapes of a pair, which read back as one code point;
// Python writes the same for such a str. A byte that is neither UTF-8 nor WTF-8
// is written as Python's surrogateescape maps it: 0xff as \udcff.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0 // of the run not yet copied
	for i := 0; i < len(s); {
		c := s[i]
		if ' ' <= c && c <= '~' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		n := 1
		if c < utf8.RuneSelf {
			dst = appendEscapedASCII(dst, c)
		} else {
			var r rune
			r, n = decodeWTF8(s[i:])
			if r > 0xffff {
				hi, lo := utf16.EncodeRune(r)
				dst = appendHex4(appendHex4(dst, hi), lo)
			} else {
				dst = appendHex4(dst, r)
			}
		}
		i += n
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscapedASCII(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return appendHex4(dst, rune(c))
}

func appendHex4(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// decodeWTF8 decodes the first code point of s, which begins with a non-ASCII
// byte, and its length; a stray byte becomes the surrogate U+DC00 + byte.
func decodeWTF8(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if n > 1 {
		return r, n
	}
	if len(s) >= 3 && s[0] == 0xed && s[1]&0xe0 == 0xa0 && s[2]&0xc0 == 0x80 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return 0xdc00 + rune(s[0]), 1
}
