// Package pyjson reads and writes JSON as CPython 3.11 does with json.loads and
// json.dumps at their defaults.
//
// It differs from encoding/json where the files of Python programs need it:
// members keep their order, numbers keep their text (integers of any size are
// exact), NaN, Infinity and -Infinity are values, and lone surrogates such as
// "\udcff" survive. What [Append] writes is, byte for byte, what json.dumps
// writes for the value json.loads made of the same text.
//
// # Text
//
// Input is strict UTF-8 without a byte order mark; a raw surrogate, an unescaped
// control character and anything after the value are refused. A lone surrogate,
// which only an escape can spell, is held in a Go string as WTF-8: the three
// bytes UTF-8 would give its code point.
//
// # Limits
//
// Texts come from strangers. Size, nesting and the number of values are bounded
// by [Limits], and no number may have more than 4300 digits. Time and memory are
// linear in the text.
//
// [Scanner] walks a text without building values and without allocating;
// [Parse] is built on it, so both accept exactly the same texts.
package pyjson
