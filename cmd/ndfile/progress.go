package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
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
	bar   *progressbar.ProgressBar
}

func newProgress(cmd *cobra.Command, path string, unit unit) *progress {
	p := &progress{ctx: cmd.Context(), title: filepath.Base(path), unit: unit}
	if f, ok := cmd.ErrOrStderr().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.w = f
	}
	return p
}

// set is the Progress of the library's options.
func (p *progress) set(done, total int64) bool {
	if p.w != nil && total > 0 {
		if p.bar == nil {
			p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(printablePath(p.title)),
				progressbar.OptionShowBytes(bool(p.unit)), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionFullWidth())
		}
		p.bar.ChangeMax64(total)
		p.bar.Set64(min(done, total))
	}
	return p.ctx.Err() == nil
}

// stop takes the bar away.
func (p *progress) stop() {
	if p.bar != nil {
		p.bar.Clear()
	}
}
