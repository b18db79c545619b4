package pyjson

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const header = ` { "name" : "temp", "esc\u0061pe": "\n", "size": [10, -20 , 1e3, 99999999999999999999], "ok": true,
	"no": false, "none": null, "rest": {"a": [NaN, {}, []], "b": -Infinity}, "last": [ ] } `

// walk reads header the way a format reads its own, and returns the sum of size.
func walk(s *Scanner) (sum int64, err error) {
	if err := s.EnterObject(); err != nil {
		return 0, err
	}
	for first := true; ; first = false {
		key, plain, more, err := s.NextKey(first)
		if err != nil {
			return 0, err
		}
		if !more {
			return sum, s.End()
		}
		switch string(key) {
		case "name":
			var name []byte
			if name, plain, err = s.RawString(); string(name) != "temp" || !plain {
				return 0, errors.New("wrong name")
			}
		case `esc\u0061pe`:
			if plain {
				return 0, errors.New("the key is not plain")
			}
			_, plain, err = s.RawString()
			if plain {
				return 0, errors.New("the string is not plain")
			}
		case "size":
			err = s.EnterArray()
			for first := true; err == nil; first = false {
				if more, err = s.NextItem(first); err != nil || !more {
					break
				}
				var n int64
				if n, _, err = s.Int64(); err == nil {
					sum += n
				}
			}
		case "ok", "no":
			var b bool
			if b, err = s.Bool(); b != (string(key) == "ok") {
				return 0, errors.New("wrong bool")
			}
		case "none":
			if c, err := s.Peek(); c != 'n' || err != nil {
				return 0, errors.New("wrong peek")
			}
			err = s.Null()
		default:
			_, err = s.Skip()
		}
		if err != nil {
			return 0, err
		}
	}
}

func TestScanner(t *testing.T) {
	if sum, err := walk(&Scanner{Data: []byte(header)}); sum != -10 || err != nil {
		t.Errorf("sum %d, %v", sum, err)
	}
	end := strings.LastIndexByte(header, '}')
	for n := range end + 1 { // cut anywhere
		if _, err := walk(&Scanner{Data: []byte(header[:n])}); err == nil {
			t.Errorf("accepts the first %d bytes", n)
		}
	}
}

func TestScannerAllocs(t *testing.T) {
	data := []byte(header)
	allocs := testing.AllocsPerRun(100, func() {
		s := Scanner{Data: data}
		if _, err := walk(&s); err != nil {
			t.Fatal(err)
		}
		s = Scanner{Data: data}
		if _, err := s.Skip(); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// What a Scanner returns is cut from Data, and cannot grow into the rest of it.
func TestScannerAliases(t *testing.T) {
	s := Scanner{Data: []byte(`["ab", [1 ] ]`)}
	var got []string
	var alias []byte
	err := s.EnterArray()
	for first := true; err == nil; first = false {
		more, _ := s.NextItem(first)
		if !more {
			break
		}
		alias, err = s.Skip()
		got = append(got, fmt.Sprint(string(alias), len(alias) == cap(alias)))
	}
	if fmt.Sprint(got) != `["ab"true [1 ]true]` || err != nil {
		t.Error(got, err)
	}
	if alias[0] = 'x'; s.Data[7] != 'x' {
		t.Error("not part of Data")
	}
}

func TestScannerRefuses(t *testing.T) {
	calls := map[string]func(*Scanner) error{
		"EnterObject": func(s *Scanner) error { return s.EnterObject() },
		"EnterArray":  func(s *Scanner) error { return s.EnterArray() },
		"RawString":   func(s *Scanner) error { _, _, err := s.RawString(); return err },
		"Int64":       func(s *Scanner) error { _, _, err := s.Int64(); return err },
		"Bool":        func(s *Scanner) error { _, err := s.Bool(); return err },
		"Null":        func(s *Scanner) error { return s.Null() },
		"End":         func(s *Scanner) error { return s.End() },
	}
	own := map[string]string{"EnterObject": "{", "EnterArray": "[", "RawString": `"a"`, "Int64": "-1", "Bool": "true",
		"Null": "null", "End": "  "}
	for name, call := range calls {
		for kind, text := range own {
			s := Scanner{Data: []byte(text)}
			err := call(&s)
			var syntax *SyntaxError
			if kind == name && err != nil || kind != name && !errors.As(err, &syntax) {
				t.Errorf("%s on %q: %v", name, text, err)
			}
		}
	}
}

// The depth that EnterArray and EnterObject reached counts for Skip and Value.
func TestScannerDepth(t *testing.T) {
	read := map[string]func(*Scanner) error{
		"Skip":  func(s *Scanner) error { _, err := s.Skip(); return err },
		"Value": func(s *Scanner) error { _, err := s.Value(Limits{}); return err },
		"Value with its own limit": func(s *Scanner) error {
			s.MaxDepth = 100
			_, err := s.Value(Limits{MaxDepth: 2})
			if s.MaxDepth != 100 {
				return errors.New("MaxDepth changed")
			}
			return err
		},
	}
	for name, call := range read {
		for text, deep := range map[string]bool{"[[],[],[[]]]": false, "[[],[],[[[]]]]": true} {
			s := Scanner{Data: []byte(text), MaxDepth: 3}
			err := s.EnterArray()
			for first := true; err == nil; first = false {
				if more, _ := s.NextItem(first); !more {
					break
				}
				err = call(&s)
			}
			var limit *LimitError
			if errors.As(err, &limit) != deep || !deep && err != nil {
				t.Errorf("%s of the items of %s: %v", name, text, err)
			}
		}
	}
}

func TestScannerValue(t *testing.T) {
	s := Scanner{Data: []byte(`{"skip": [1], "take": {"a": ["\n", 1.50]}, "twice": {"b": 1, "b": 2}}`)}
	err := s.EnterObject()
	for first := true; err == nil; first = false {
		key, _, more, e := s.NextKey(first)
		if err = e; err != nil || !more {
			break
		}
		switch string(key) {
		case "take":
			v, e := s.Value(Limits{MaxBytes: 19, MaxValues: 4})
			if got := string(Append(nil, v)); got != `{"a": ["\n", 1.5]}` {
				t.Errorf("got %s", got)
			}
			err = e
		case "twice":
			var syntax *SyntaxError
			again := s
			if _, err := again.Value(Limits{UniqueKeys: true}); !errors.As(err, &syntax) || syntax.Offset != 61 {
				t.Errorf("unique keys: %v", err)
			}
			var limit *LimitError
			again = s
			if _, err := again.Value(Limits{MaxBytes: 15}); !errors.As(err, &limit) || limit.Offset != 67 {
				t.Errorf("bytes: %v", err)
			}
			again = s
			if _, err := again.Value(Limits{MaxValues: 2}); !errors.As(err, &limit) || limit.Offset != 66 {
				t.Errorf("values: %v", err)
			}
			_, err = s.Skip()
		default:
			_, err = s.Skip()
		}
	}
	if err == nil {
		err = s.End()
	}
	if err != nil {
		t.Error(err)
	}
}
