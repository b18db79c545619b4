package vfs

import (
	"syscall"
	"testing"
)

func TestNoFollow(t *testing.T) {
	eachFS(t, func(t *testing.T, s subject) {
		n := NoFollow(NoFollow(s.FS))
		s.Mkdir(s.path("d"))
		put(t, s, s.path("d/f"), "text")
		s.symlink("d", s.path("folder"))
		s.symlink("f", s.path("d/link"))
		s.symlink("none", s.path("d/dangling"))
		for _, link := range []string{"d/link", "folder/link", "d/dangling", "folder"} {
			path := s.path(link)
			_, err := n.Open(path)
			wantErrno(t, "Open "+link, err, syscall.ELOOP)
			_, err = n.OpenRW(path)
			wantErrno(t, "OpenRW "+link, err, syscall.ELOOP)
			_, err = n.Create(path, false)
			wantErrno(t, "Create "+link, err, syscall.ELOOP)
			_, _, err = n.ReadSmall(ctx, path, make([]byte, 9))
			wantErrno(t, "ReadSmall "+link, err, syscall.ELOOP)
			for _, opt := range allOptions {
				if !opt.Exclusive {
					wantErrno(t, "WriteFile "+link, n.WriteFile(path, [][]byte{[]byte("x")}, opt), syscall.ELOOP)
				}
			}
		}
		wantGet(t, n, s.path("folder/f"), "text") // the folder on the way may be one
		for _, opt := range allOptions {
			if !opt.Exclusive {
				if err := n.WriteFile(s.path("folder/f"), [][]byte{[]byte("new")}, opt); err != nil {
					t.Error(err)
				}
			}
		}
		f, err := n.OpenRW(s.path("d/f"))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		wantGet(t, s, s.path("d/link"), "new")
		if got := names(t, s, s.path("d")); got != "dangling@ f link@" {
			t.Errorf("left: %s", got)
		}
	})
}
