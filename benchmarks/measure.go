package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A bench has the workers, the folders and the results of one run.
type bench struct {
	workers map[string]*worker
	places  map[string]string // the folder of each place
	results Results
	folders int
	doomed  []string // folders to be deleted at the very end
}

// run measures an experiment: round 0 warms up and does not count.
func (b *bench) run(x experiment) error {
	for _, r := range x.rows {
		m := b.measurement(x, r)
		for round := 0; round <= x.rounds; round++ {
			if err := m.round(round); err != nil {
				return fmt.Errorf("%s in %s: %w", x.name, x.place, err)
			}
		}
	}
	return nil
}

// A measurement is the work on one row.
type measurement struct {
	*bench
	x       experiment
	row     row
	series  map[string]map[string]*Series // by contender and operation
	folders map[string]string             // of this round, by contender
}

func (b *bench) measurement(x experiment, r row) *measurement {
	m := &measurement{bench: b, x: x, row: r, series: map[string]map[string]*Series{}}
	for _, operation := range r.operations {
		for _, contender := range r.contenders {
			s := &Series{Experiment: x.name, Place: x.place, Case: r.case_, X: r.x, Operation: operation, Contender: contender, Count: r.count}
			if (x.name == "tiny" || x.name == "small") && slices.Contains(slow, contender) {
				s.Count = max(1, r.count/slowShare)
			}
			if m.series[contender] == nil {
				m.series[contender] = map[string]*Series{}
			}
			m.series[contender][operation] = s
			b.results.Series = append(b.results.Series, s)
		}
	}
	return m
}

// round has every contender do every operation once, each in a fresh folder of its own. Who begins changes from round
// to round, and so does the direction.
func (m *measurement) round(round int) error {
	order := slices.Clone(m.row.contenders)
	if len(order) == 0 {
		return nil
	}
	k := round % len(order)
	order = slices.Concat(order[k:], order[:k])
	if round%2 == 1 {
		slices.Reverse(order)
	}
	m.folders = map[string]string{}
	if m.x.bulky {
		for _, contender := range order {
			for _, operation := range m.row.operations {
				if err := m.one(round, contender, operation); err != nil {
					return err
				}
			}
			if err := m.clear(); err != nil {
				return err
			}
		}
		return nil
	}
	for _, operation := range m.row.operations {
		for _, contender := range order {
			if err := m.one(round, contender, operation); err != nil {
				return err
			}
		}
	}
	return m.clear()
}

// one has one contender do one operation.
func (m *measurement) one(round int, contender, operation string) error {
	s := m.series[contender][operation]
	if s.Skipped != "" {
		return nil
	}
	language, name, _ := strings.Cut(contender, "/")
	folder, err := m.folder(contender)
	if err != nil {
		return err
	}
	t, err := m.workers[language].do(request{name, operation, m.row.case_, folder, s.Count})
	if errors.Is(err, errSkipped) {
		_, why, _ := strings.Cut(err.Error(), errSkipped.Error()+": ")
		s.Skipped = strings.ReplaceAll(why, folder+"/", "")
		return nil
	}
	if err != nil || round == 0 {
		return err
	}
	n := float64(s.Count)
	s.Wall, s.CPU = append(s.Wall, float64(t.wall)/n), append(s.CPU, float64(t.cpu)/n)
	if round == m.x.rounds && strings.Contains(operation, "write") {
		bytes, disk, err := sizes(folder)
		if err != nil {
			return err
		}
		s.Bytes, s.Disk = float64(bytes)/n, float64(disk)/n
	}
	return nil
}

// folder gives the contender's folder of this round.
func (m *measurement) folder(contender string) (string, error) {
	if dir := m.folders[contender]; dir != "" {
		return dir, nil
	}
	m.bench.folders++
	dir := filepath.Join(m.places[m.x.place], fmt.Sprintf("%06d", m.bench.folders))
	m.folders[contender] = dir
	return dir, os.Mkdir(dir, 0o777)
}

// clear gets rid of this round's files. On the disk that is for the very end: on ext4 a file costs up to 1 ms to create
// once many have been deleted. tmpfs knows no such thing, and its files take memory.
func (m *measurement) clear() error {
	for contender, dir := range m.folders {
		delete(m.folders, contender)
		if m.x.place == "disk" {
			m.doomed = append(m.doomed, dir)
		} else if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// sizes adds up the files below a folder: their lengths, and the blocks that they take.
func sizes(folder string) (bytes, disk int64, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		bytes += info.Size()
		disk += info.Sys().(*syscall.Stat_t).Blocks * 512
		return nil
	})
	return bytes, disk, err
}
