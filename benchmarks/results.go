package main

import (
	"encoding/json"
	"os"
)

// Series are the times of one contender at one thing.
type Series struct {
	Experiment string    `json:"experiment"`
	Place      string    `json:"place"`
	Case       string    `json:"case"`
	X          float64   `json:"x,omitempty"` // the size, where the experiment has a scale
	Operation  string    `json:"operation"`
	Contender  string    `json:"contender"`
	Count      int       `json:"count"`             // pieces of work a round
	Wall       []float64 `json:"wall_ns,omitempty"` // of one piece, by round
	CPU        []float64 `json:"cpu_ns,omitempty"`  // of one piece, user and kernel, all threads of the worker
	Bytes      float64   `json:"bytes,omitempty"`   // of one piece, after writing
	Disk       float64   `json:"disk,omitempty"`    // of one piece, in blocks of the file system
	Skipped    string    `json:"skipped,omitempty"` // why there are no times
}

// times gives the times that a metric names: "wall" or "cpu".
func (s *Series) times(metric string) []float64 {
	if metric == "wall" {
		return s.Wall
	}
	return s.CPU
}

// Results are everything of one run.
type Results struct {
	Machine  Machine           `json:"machine"`
	Versions map[string]string `json:"versions"`
	Missing  []string          `json:"missing_workers,omitempty"`
	Started  string            `json:"started"`
	Minutes  float64           `json:"minutes"`
	Claims   []Outcome         `json:"claims"`
	Scales   []Scale           `json:"scales"`
	Series   []*Series         `json:"series"`
}

// find gives the series of a contender at an operation; nil when there is none. x is 0 for
// experiments without a scale, and -1 for the largest size.
func (r *Results) find(experiment, place, operation, contender string, x float64) *Series {
	var found *Series
	for _, s := range r.Series {
		if s.Experiment != experiment || s.Place != place || s.Operation != operation || s.Contender != contender {
			continue
		}
		if s.X == x || x < 0 && (found == nil || s.X > found.X) {
			found = s
		}
	}
	return found
}

// writeJSON writes results for programs.
func (r *Results) writeJSON(path string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o666)
}
