package formattest

import (
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/aside"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// verify gives what Verify reports.
func (s *suite) verify(fsys ndfile.FS, path string, repair bool) (problems []ndfile.Problem, err error) {
	v, ok := s.format.(ndfile.Verifier)
	if !ok || !s.has(ndfile.CapVerify) {
		return nil, nil
	}
	err = v.Verify(ctx, fsys, path, ndfile.VerifyOptions{Format: s.format.Name(), Repair: repair}, func(p ndfile.Problem) {
		problems = append(problems, p)
	})
	return problems, err
}

// healthy reports what Verify finds in a file that nothing happened to.
func (s *suite) healthy(fsys ndfile.FS, path string) {
	s.tb.Helper()
	problems, err := s.verify(fsys, path, false)
	if err != nil {
		s.errorf("Verify: %v", err)
	}
	for _, p := range problems {
		s.errorf("Verify of a healthy file reports %s: %s (%s)", p.Path, p.Msg, p.Kind.C)
	}
}

// mends verifies and repairs a file that is damaged or that somebody was killed
// over: what could not be read (read) is reported, what could (opened) can still,
// nothing that a repair did is found again, and undone it is as before.
func (s *suite) mends(fsys ndfile.FS, path string, opened *content, read error) {
	s.tb.Helper()
	if !s.has(ndfile.CapVerify) {
		return
	}
	var problems []ndfile.Problem
	err := s.calm("Verify", func() (err error) { problems, err = s.verify(fsys, path, false); return err })
	if err != nil && ndfile.KindOf(err) == ndfile.ErrInternal {
		s.errorf("Verify: %v", err)
	}
	s.says(err, path, "", false)
	if read != nil && err == nil && len(problems) == 0 {
		s.errorf("Verify finds nothing wrong, but reading fails: %v", read)
	}
	for _, p := range problems {
		s.checkProblem(p, path)
	}
	if err != nil || len(problems) == 0 {
		return
	}
	before := s.tree(fsys, "/")
	var repaired, after []ndfile.Problem
	err = s.calm("Repair", func() (err error) { repaired, err = s.verify(fsys, path, true); return err })
	if err == nil {
		err = s.calm("Verify", func() (err error) { after, err = s.verify(fsys, path, false); return err })
	}
	if err != nil {
		s.errorf("Verify after Repair: %v", err)
	}
	for _, p := range repaired {
		if p.Repaired && p.Repair == "" {
			s.errorf("a repair of %s that was not announced", p.Path)
		}
		if p.Repair != "" && !p.Repaired {
			s.errorf("%s is not repaired, though that was asked for: %s", p.Path, p.Msg)
		}
	}
	for _, p := range after {
		if p.Repair != "" {
			s.errorf("%s needs a repair again: %s", p.Path, p.Msg)
		}
	}
	recounted := func(p ndfile.Problem) bool { return p.Repaired && p.Class == ndfile.Damage }
	if opened != nil && !slices.ContainsFunc(repaired, recounted) {
		got, err := s.read(fsys, path)
		if err == nil {
			err = s.sameContent(got, opened)
		}
		if err != nil {
			s.errorf("a repair changed what could be read: %v", err)
		}
	}
	if slices.ContainsFunc(repaired, func(p ndfile.Problem) bool { return p.Repaired }) {
		s.undone(fsys, path, before)
	}
}

// undone undoes a repair, and repairs again.
func (s *suite) undone(fsys ndfile.FS, path string, before map[string]string) {
	s.tb.Helper()
	given := 0
	err := ndfile.Verify(ctx, []ndfile.Format{s.format}, path, ndfile.VerifyOptions{FS: fsys, Undo: true}, func(ndfile.Problem) { given++ })
	if err != nil || given == 0 {
		s.errorf("a repair cannot be undone: %d files given back, %v", given, err)
		return
	}
	s.in("a repair undone").sameTree(fsys, before)
	_, err = s.verify(fsys, path, true)
	s.ok(err)
}

// sweep removes what repairs keep.
func (s *suite) sweep(fsys ndfile.FS) {
	s.tb.Helper()
	for _, path := range s.beside(fsys) {
		if aside.IsName(path) {
			s.ok(vfs.RemoveTree(fsys, path, nil))
		}
	}
}

// checkProblem checks that a report is complete.
func (s *suite) checkProblem(p ndfile.Problem, path string) {
	s.tb.Helper()
	kinds := []*ndfile.ErrorKind{ndfile.ErrCorrupt, ndfile.ErrLoss, ndfile.ErrValue}
	if !strings.HasPrefix(p.Path, path) || p.Msg == "" || p.Repaired || !slices.Contains(kinds, p.Kind) || (p.Kind == ndfile.ErrValue) != (p.Class != ndfile.Damage) {
		s.errorf("a report that is not complete: %+v", p)
	}
}

// checkVerify lets Verify look at stores with temporary and foreign files in them;
// other checks show it healthy ones and damage.
func checkVerify(s *suite) {
	c := s.modest(5)
	mem, path := ndfile.NewMem(), s.path("f")
	_, err := s.verify(mem, path, false)
	s.in("Verify of nothing").fails(err, ndfile.ErrNotFound)
	if !s.folder(mem, path, c) {
		return
	}
	s.healthy(mem, path)
	whole := s.tree(mem, "/")
	for _, p := range sorted(whole) {
		beside := mem.TempName(strings.TrimSuffix(p, "/"))
		if p == path+"/" {
			beside = mem.TempName(path + "/x")
		}
		for _, kind := range []string{"file", "folder"} {
			s := s.in("a temporary %s %s", kind, beside)
			mem := s.plant(whole)
			if kind == "folder" {
				s.ok(mem.Mkdir(beside))
				s.put(mem, beside+"/0", "half of something")
			} else {
				s.put(mem, beside, "half of something")
			}
			s.expectStray(mem, path, c, beside)
			s.sameTree(mem, whole)
		}
	}
	s = s.in("a file of somebody")
	notes := path + "/notes.txt"
	s.put(mem, notes, foreign)
	s.mends(mem, path, c, nil)
	if _, err := mem.Lstat(notes); err != nil {
		s.errorf("a repair removed it")
	}
}

// expectStray: the content is read as it was, Verify reports what is stray, and a
// repair removes it.
func (s *suite) expectStray(mem ndfile.FS, path string, c *content, stray string) {
	s.tb.Helper()
	s.sameOr(s.compare(mem, path, c))
	problems, err := s.verify(mem, path, false)
	s.ok(err)
	if len(problems) == 0 {
		s.errorf("Verify does not report it")
	}
	for _, p := range problems {
		if !strings.HasPrefix(p.Path, stray) || p.Class != ndfile.Stale || p.Repair == "" {
			s.errorf("Verify reports %+v, expected a stray file that a repair removes", p)
		}
	}
	s.mends(mem, path, c, nil)
	s.sweep(mem)
	s.healthy(mem, path)
}
