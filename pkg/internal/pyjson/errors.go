package pyjson

import "fmt"

// SyntaxError reports a text that is not JSON, or not the JSON asked for.
type SyntaxError struct {
	Offset int64  // of the offending byte, counted from the start of the text
	Msg    string // what was expected and what was found
}

// Error returns the message with its offset.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("json: byte %d: %s", e.Offset, e.Msg)
}

// LimitError reports a text that is larger, deeper or longer than allowed. The
// text may be correct JSON.
type LimitError struct {
	Offset int64  // where the limit was passed, counted from the start of the text
	Limit  int64  // the limit, in the unit Msg names
	Msg    string // what is too large
}

// Error returns the message with its limit and offset.
func (e *LimitError) Error() string {
	return fmt.Sprintf("json: byte %d: %s (limit %d)", e.Offset, e.Msg, e.Limit)
}

// describe names the byte of data at i for an error message.
func describe(data []byte, i int) string {
	switch {
	case i >= len(data):
		return "the end of the text"
	case data[i] < 0x20 || data[i] > 0x7e:
		return fmt.Sprintf("byte 0x%02x", data[i])
	}
	return fmt.Sprintf("'%c'", data[i])
}

func expected(what string, data []byte, i int) *SyntaxError {
	return &SyntaxError{int64(i), "expected " + what + ", found " + describe(data, i)}
}
