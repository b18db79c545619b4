package pyliteral

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// AppendStr appends the repr of a str; s is valid UTF-8. Which characters are
// escaped because they cannot be printed depends on the version of Unicode.
func AppendStr(dst []byte, s string) []byte {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	dst = append(dst, byte(quote))
	for _, r := range s {
		switch {
		case r == quote, r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case unicode.IsPrint(r):
			dst = append(dst, string(r)...)
		case r < 1<<8:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case r < 1<<16:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		}
	}
	return append(dst, byte(quote))
}

// AppendInts appends the repr of a tuple of integers: a shape.
func AppendInts(dst []byte, tuple []int64) []byte {
	dst = append(dst, '(')
	for i, n := range tuple {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendInt(dst, n, 10)
	}
	if len(tuple) == 1 {
		dst = append(dst, ',')
	}
	return append(dst, ')')
}
