package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// unit is what progress counts.
type unit bool

const (
	countBytes  unit = true
	countBlocks unit = false
)

// progress shows how far a long call is, with rate and time left, where standard
// error is a terminal. It ends the call when the context ends.
type progress struct {
	ctx   context.Context
	w     io.Writer // nil: show nothing
	title string
	unit  unit
	begun time.Time // of the first step; the zero time before
	shown time.Time
}

func newProgress(cmd *cobra.Command, path string, unit unit) *progress {
	p := &progress{ctx: cmd.Context(), title: printablePath(filepath.Base(path)), unit: unit}
	if f, ok := cmd.ErrOrStderr().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.w = f
	}
	return p
}

// set is the Progress of the library's options.
func (p *progress) set(done, total int64) bool {
	if p.w != nil && total > 0 {
		now := time.Now()
		if p.begun.IsZero() {
			p.begun = now
		}
		if now.Sub(p.shown) >= 100*time.Millisecond {
			p.shown = now
			fmt.Fprint(p.w, "\r", progressLine(p.title, p.unit, min(done, total), total, now.Sub(p.begun), columns(p.w)-1))
		}
	}
	return p.ctx.Err() == nil
}

// columns is how wide a terminal is, 80 where that is not known.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// stop takes the bar away.
func (p *progress) stop() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// progressLine fills a width with a title, a bar and numbers.
func progressLine(title string, unit unit, done, total int64, took time.Duration, width int) string {
	tail := fmt.Sprintf(" %3d %%  %s", 100*done/total, amount(unit, float64(done)))
	if rate := float64(done) / took.Seconds(); done > 0 && took > 0 {
		left := time.Duration(float64(total-done) / rate * float64(time.Second)).Round(time.Second)
		tail += fmt.Sprintf("  %s/s  %s left", amount(unit, rate), left)
	}
	width -= utf8.RuneCountInString(title) + 1 + len(tail)
	if width < 4 {
		return title + tail
	}
	full := int(int64(width) * done / total)
	return title + " " + strings.Repeat("█", full) + strings.Repeat("░", width-full) + tail
}

// amount is a number of bytes or blocks with a fitting unit.
func amount(unit unit, n float64) string {
	if unit != countBytes {
		return fmt.Sprintf("%.0f blocks", n)
	}
	for _, name := range []string{"B", "KiB", "MiB"} {
		if n < 1024 {
			return fmt.Sprintf("%.3g %s", n, name)
		}
		n /= 1024
	}
	return fmt.Sprintf("%.3g GiB", n)
}
