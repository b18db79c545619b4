// Package metafile reads the metadata of formats whose files are folders: JSON
// documents in small files, which may come from a stranger.
package metafile
