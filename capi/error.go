package main

// #include "internal.h"
import "C"

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// report tells the caller how a call ended. On success only the code is written.
func report(out *C.ndf_error, err error) C.int32_t {
	if err == nil {
		if out != nil {
			out.code = C.NDF_OK
		}
		return C.NDF_OK
	}
	code := C.int32_t(ndfile.KindOf(err).Code)
	if out != nil {
		out.code = code
		out.os_error = C.int32_t(ndfile.Errno(err))
		out.offset = C.int64_t(ndfile.Offset(err))
		setMessage(out, err.Error())
	}
	return code
}

// setMessage stores a text as UTF-8, cut between characters where it is too long.
func setMessage(out *C.ndf_error, text string) {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "?"), "\uFFFD")
	if room := len(out.message) - 1; len(text) > room {
		for room > 0 && !utf8.RuneStart(text[room]) {
			room--
		}
		text = text[:room]
	}
	setName(out.message[:], text)
}

// printStack is done once, by the first panic.
var printStack sync.Once

// guard makes a panic a status. Every export begins with it.
func guard(out *C.ndf_error, status *C.int32_t) {
	p := recover()
	if p == nil {
		return
	}
	printStack.Do(func() { fmt.Fprintf(os.Stderr, "ndfile: internal error: %v\n%s", p, debug.Stack()) })
	code := report(out, ndfile.NewError(ndfile.ErrInternal, fmt.Sprintf("internal error, please report it: %v", p)))
	if status != nil {
		*status = code
	}
}

// badArgument is the error of a wrong argument.
func badArgument(msg string) error { return ndfile.NewError(ndfile.ErrArgument, msg) }

// outside is the error of a position that does not exist.
func outside(what string, index, n int64) error {
	return ndfile.NewError(ndfile.ErrBounds, what+" "+strconv.FormatInt(index, 10)+" of "+strconv.FormatInt(n, 10))
}
