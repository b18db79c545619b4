//go:build ndfpanic

package main

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// panicking is a format that panics whenever it is asked to write, for the tests.
type panicking struct{ ndfile.Format }

func init() { all.Formats = append(all.Formats, panicking{all.Formats[0]}) }

func (panicking) Name() string { return "panic" }

func (panicking) Extensions() []string { return []string{".panic"} }

func (panicking) Create(context.Context, ndfile.FS, string, ndfile.CreateOptions) (ndfile.File, error) {
	panic("the format panics")
}
