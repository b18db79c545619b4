package ndfile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// conditionTable has numbers, texts, times and a column with missing elements.
func conditionTable(n int) (f File, x []float64, k []int64) {
	rng := rand.New(rand.NewPCG(3, 9))
	numbers := newToyArray("x", Spec{DType: ndarray.MustParse("<f8"), Shape: []int64{int64(n)}, Chunks: []int64{16}})
	integers := newToyArray("k", Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{int64(n)}})
	same := newToyArray("same", Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{int64(n)}})
	flags := newToyArray("on", Spec{DType: ndarray.MustParse("|b1"), Shape: []int64{int64(n)}})
	texts := newToyArray("net tag", Spec{DType: ndarray.MustParse("S2"), Shape: []int64{int64(n)}})
	days := newToyArray("day", Spec{DType: ndarray.MustParse("<M8[D]"), Shape: []int64{int64(n)}})
	x, k = make([]float64, n), make([]int64, n)
	for i := range n {
		x[i], k[i] = float64(rng.IntN(9))/2, int64(rng.IntN(9)-4)
		if i%17 == 3 {
			x[i] = math.NaN()
		}
		setFloat(numbers.data[8*i:], ndarray.MustParse("<f8"), x[i])
		for _, a := range []*toyArray{integers, same} {
			a.data[4*i], a.data[4*i+1], a.data[4*i+2], a.data[4*i+3] = byte(k[i]), byte(k[i]>>8), byte(k[i]>>16), byte(k[i]>>24)
		}
		flags.data[i] = byte(i % 2)
		copy(texts.data[2*i:], []string{"a", "bb", ""}[i%3])
		days.data[8*i] = byte(i % 100)
	}
	return toyTable(numbers, integers, same, flags, texts, days), x, k
}

// Conditions in words mean what Python and NumPy mean by them.
func TestConditions(t *testing.T) {
	const n = 100
	f, x, k := conditionTable(n)
	tag := func(i int) string { return []string{"a", "bb", ""}[i%3] }
	on := func(i int) bool { return i%2 == 1 }
	for text, holds := range map[string]func(i int) bool{
		"x < 2":                              func(i int) bool { return x[i] < 2 },
		"~(x < 2)":                           func(i int) bool { return !(x[i] < 2) }, // NaN too
		"2 > x":                              func(i int) bool { return x[i] < 2 },
		"1 <= x < 3":                         func(i int) bool { return 1 <= x[i] && x[i] < 3 },
		"not 1 <= x < 3":                     func(i int) bool { return !(1 <= x[i] && x[i] < 3) },
		"x > 1 & k == 3 | k == -1":           func(i int) bool { return x[i] > 1 && k[i] == 3 || k[i] == -1 },
		"(x > 1) and (k == 3 or k == -1)":    func(i int) bool { return x[i] > 1 && (k[i] == 3 || k[i] == -1) },
		"~((x > 1) & ~(k > 0)) & on":         func(i int) bool { return !(x[i] > 1 && !(k[i] > 0)) && on(i) },
		"~on | !on & `net tag` == 'bb'":      func(i int) bool { return !on(i) },
		"`net tag` in ('a', \"b\\x62\")":     func(i int) bool { return tag(i) != "" },
		"`net tag` not in ['a', '', b'q']":   func(i int) bool { return tag(i) == "bb" },
		"k in (1, 2, 2.5, 1e300)":            func(i int) bool { return k[i] == 1 || k[i] == 2 },
		"~k.isin([1, -3])":                   func(i int) bool { return k[i] != 1 && k[i] != -3 },
		"isin(x, [.5, 1.,])":                 func(i int) bool { return x[i] == .5 || x[i] == 1 },
		"x in (0.5)":                         func(i int) bool { return x[i] == .5 },
		"k in ()":                            func(i int) bool { return false },
		"x * 2 - k > 3":                      func(i int) bool { return x[i]*2-float64(k[i]) > 3 },
		"k ** 2 == 4":                        func(i int) bool { return k[i]*k[i] == 4 },
		"-k // 2 == -2":                      func(i int) bool { return math.Floor(float64(-k[i])/2) == -2 },
		"k % 3 == 2":                         func(i int) bool { return ((k[i]%3)+3)%3 == 2 },
		"k / 2 >= 1.5":                       func(i int) bool { return float64(k[i])/2 >= 1.5 },
		"x == k":                             func(i int) bool { return x[i] == float64(k[i]) },
		"~(x == k)":                          func(i int) bool { return x[i] != float64(k[i]) },
		"same == k and day == day":           func(i int) bool { return true },
		"same != k":                          func(i int) bool { return false },
		"x != x":                             func(i int) bool { return x[i] != x[i] },
		"day >= '1970-02-01'":                func(i int) bool { return i >= 31 },
		"day < 3 * 2":                        func(i int) bool { return i < 6 },
		"(k != 0) & (12 // k == 4)":          func(i int) bool { return k[i] == 3 },
		"on == True":                         on,
		"k == 1_0 - 7 + 0":                   func(i int) bool { return k[i] == 3 },
		"-x ** 2 < -15":                      func(i int) bool { return -(x[i] * x[i]) < -15 },
		"(x < 1) | (x > 3) | (k > 9) | (on)": func(i int) bool { return x[i] < 1 || x[i] > 3 || on(i) },
	} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var want []int64
		for i := range n {
			if holds(i) {
				want = append(want, int64(i))
			}
		}
		if got := where(t, f, Query{Condition: c}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if got := where(t, f, Query{Condition: c, Terms: []Term{{"k", Less, IntValue(3)}}}); !slices.Equal(got, slices.DeleteFunc(want, func(i int64) bool { return k[i] >= 3 })) {
			t.Errorf("%s and k < 3: %v", text, got)
		}
	}
}

// A row in which something is missing fulfils neither a comparison nor its negation.
func TestConditionsOnMissing(t *testing.T) {
	a := newToyArray("a", Spec{DType: ndarray.MustParse("|u1"), Shape: []int64{4}, Masked: true})
	b := newToyArray("b", Spec{DType: ndarray.MustParse("|u1"), Shape: []int64{4}})
	copy(a.data, []byte{1, 2, 3, 4})
	a.mask = []byte{0, 1, 0, 0}
	f := toyTable(a, b)
	for text, want := range map[string][]int64{"a > 2": {2, 3}, "~(a > 2)": {0}, "a + b > 2": {2, 3}, "~(a + b > 2)": {0},
		"~(a > 2) | (b == 0)": {0, 1, 2, 3}, "~((a > 2) | (b > 0))": {0}, "a != b": {0, 2, 3}} {
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := where(t, f, Query{Condition: c}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestConditionErrors(t *testing.T) {
	f, _, _ := conditionTable(20)
	for text, want := range map[string]string{
		"":                                  "character 1: expected a column or a constant, found the end",
		"x >":                               "character 4: expected a column",
		"x > 1)":                            `character 6: expected an operator or the end, found ")"`,
		"(x > 1":                            `character 7: expected ")"`,
		"x = 1":                             `character 3: expected an operator or the end, found "="`,
		"1 < 2":                             "a comparison without a column",
		"x + 1":                             "expected a comparison",
		"'a":                                "a text does not end",
		"`a":                                "does not end",
		"x > 1.2.3":                         "character 5: expected a number",
		"x is None":                         "found \"is\"",
		"(x > 1) > 2":                       "expected a column or a constant",
		"x in 3 + k":                        "expected a column in a list",
		"x in (k, 1)":                       "expected constants in a list",
		"k + 'a' > 1":                       "expected a number",
		"x.mean() > 1":                      "expected isin(...)",
		"x > 1 2":                           "expected an operator or the end",
		"k":                                 "no column of bools",
		"nope > 1":                          "no array of that name",
		"k == 'a'":                          "cannot be compared",
		"day + 1 > 3":                       "no arithmetic with elements of <M8[D]",
		"day == x":                          "cannot be compared with those of",
		"12 // (k - k) > 1":                 "a division of integers by zero",
		"k * 9000000000000000000 > 1":       "no int64",
		strings.Repeat("(", 300) + "x":      "nested deeper",
		strings.Repeat("~", 300) + "on":     "nested deeper",
		"x > 0" + strings.Repeat("+1", 300): "", // of constants
		"x > k" + strings.Repeat("+k", 300): "more than 200 operations",
	} {
		c, err := ParseCondition(text)
		if err == nil {
			err = Where(t.Context(), f, Query{Condition: c}, func([]int64) (bool, error) { return true, nil })
		}
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) && text != "x > 0"+strings.Repeat("+1", 300) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// Columns are read once a block, however often a condition has them, and later ones only
// at the rows that are left where these are few.
func TestConditionsReadLittle(t *testing.T) {
	const n = 10_000
	a := newToyArray("a", Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{n}})
	b := newToyArray("b", Spec{DType: ndarray.MustParse("|u1"), Shape: []int64{n}, Chunks: []int64{100}})
	a.data[4*70] = 9
	c, err := ParseCondition("(a < -1) | (a > 3) & (a != 5) & (b == 0)")
	if err != nil {
		t.Fatal(err)
	}
	if got := where(t, toyTable(a, b), Query{Condition: c}); !slices.Equal(got, []int64{70}) {
		t.Fatal(got)
	}
	if len(b.reads) != 1 || b.reads[0].Count[0] != 1 {
		t.Errorf("reads of b: %v", b.reads)
	}
	if len(a.reads) > n/100 {
		t.Errorf("%d reads of a", len(a.reads))
	}
}

// Whatever a text says, it is a condition or an error that tells why.
func FuzzParseCondition(f *testing.F) {
	for _, text := range []string{"(x > 1) & ~on", "k in (1, 2)", "`net tag` == b'\\xff'", "-x ** 2 // 3 < 1e5", "isin(k, [1])", "not x", "'\\u00df' == `a`", "((", "1_0.5e-3 > x"} {
		f.Add(text)
	}
	table, _, _ := conditionTable(30)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCondition(text)
		if err == nil {
			err = Where(t.Context(), table, Query{Condition: c}, func([]int64) (bool, error) { return true, nil })
		}
		if k := KindOf(err); err != nil && k != ErrArgument && k != ErrLimit && k != ErrName && k != ErrNotSupported {
			t.Fatal(fmt.Sprintf("%q: ", text), err)
		}
	})
}
