package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// storageFlags gives ndfile.ConvertOptions.Storage of --chunks and --codecs, nil
// without them.
func storageFlags(cmd *cobra.Command) (func(string, *ndfile.Spec) error, error) {
	chunks, codecs := word(cmd, "chunks"), word(cmd, "codecs")
	if chunks == "" && codecs == "" {
		return nil, nil
	}
	cut, err := parseChunks(chunks)
	if err != nil {
		return nil, err
	}
	list, err := parseCodecs(codecs)
	if err != nil {
		return nil, err
	}
	return func(_ string, s *ndfile.Spec) error {
		if chunks != "" {
			cut.apply(s)
		}
		if codecs != "" {
			s.Codecs = list
		}
		return nil
	}, nil
}

// chunking is what --chunks asks for: extents in the order of the axes, or by their
// names. 0 is the whole axis.
type chunking struct {
	extents []int64
	byName  map[string]int64
}

func parseChunks(text string) (c chunking, err error) {
	if text == "" {
		return c, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, extent, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			extent = name
		}
		n, err := strconv.ParseInt(extent, 10, 64)
		if extent == "all" {
			n, err = 0, nil
		} else if n < 1 {
			err = strconv.ErrRange
		}
		if err != nil {
			return c, usage("--chunks: expected a number above 0 or all, found " + strconv.Quote(extent))
		}
		if !named {
			c.extents = append(c.extents, n)
			continue
		}
		if c.byName == nil {
			c.byName = map[string]int64{}
		}
		c.byName[name] = n
	}
	if c.byName != nil && c.extents != nil {
		return c, usage("--chunks takes extents with the names of axes or without, not both")
	}
	return c, nil
}

// apply changes the chunks of an array that has the axes; others stay as they are.
func (c *chunking) apply(s *ndfile.Spec) {
	chunks := slices.Clone(s.Shape)
	for axis := range chunks {
		if chunks[axis] = max(1, chunks[axis]); len(s.Chunks) == len(chunks) {
			chunks[axis] = s.Chunks[axis]
		}
	}
	set := func(axis int, n int64) {
		if chunks[axis] = n; n == 0 {
			chunks[axis] = max(1, s.Shape[axis])
		}
	}
	any := false
	for axis, name := range s.Dims {
		if n, ok := c.byName[name]; ok {
			set(axis, n)
			any = true
		}
	}
	if len(c.extents) > 0 && len(c.extents) == len(chunks) {
		for axis, n := range c.extents {
			set(axis, n)
		}
		any = true
	}
	if any {
		s.Chunks = chunks
	}
}

// parseCodecs reads --codecs: none, names with levels as "shuffle,zstd:5", or the JSON
// list that every API takes.
func parseCodecs(text string) ([]codec.Spec, error) {
	switch {
	case text == "":
		return nil, nil
	case text == "none":
		return []codec.Spec{}, nil
	case strings.HasPrefix(strings.TrimSpace(text), "["):
		return ndfile.ParseCodecs([]byte(text))
	}
	var list []any
	for part := range strings.SplitSeq(text, ",") {
		name, level, has := strings.Cut(strings.TrimSpace(part), ":")
		if !has {
			list = append(list, name)
			continue
		}
		n, err := strconv.Atoi(level)
		if err != nil {
			return nil, usage("--codecs: expected NAME:LEVEL, found " + strconv.Quote(part))
		}
		list = append(list, map[string]any{"name": name, either(name == "blosc", "clevel", "level"): n})
	}
	data, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	return ndfile.ParseCodecs(data)
}
