package ndfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// moment is what an element or a constant stands for in a naive comparison.
type moment struct {
	rat *big.Rat // a finite number
	inf int
	// none: NaN or NaT.
	none bool
	text []uint32 // of strings
}

func (m moment) compare(o moment) int {
	switch {
	case m.rat != nil && o.rat != nil:
		return m.rat.Cmp(o.rat)
	case m.rat != nil || o.rat != nil || m.inf != 0 || o.inf != 0:
		return cmp.Compare(m.inf, o.inf)
	}
	return slices.Compare(m.text, o.text)
}

func (m moment) holds(op Op, o moment) bool {
	if m.none || o.none {
		return op == NotEqual
	}
	c := m.compare(o)
	return map[Op]bool{Equal: c == 0, NotEqual: c != 0, Less: c < 0, LessEqual: c <= 0, Greater: c > 0, GreaterEqual: c >= 0}[op]
}

func floatMoment(f float64) moment {
	switch {
	case f != f:
		return moment{none: true}
	case math.IsInf(f, 0):
		return moment{inf: cmp.Compare(f, 0)}
	}
	return moment{rat: new(big.Rat).SetFloat64(f)}
}

// element gives the meaning of element i of an array, by bytes.
func element(t *testing.T, a *toyArray, i int) moment {
	t.Helper()
	d := a.spec.DType
	e := slices.Clone(a.data[i*d.Size : (i+1)*d.Size])
	if d.Kind == ndarray.Bytes {
		var text []uint32
		for _, c := range bytes.TrimRight(e, "\x00") {
			text = append(text, uint32(c))
		}
		return moment{text: text}
	}
	if d.Swapped() { // to little endian, this machine's
		ndarray.SwapBytes(e, d)
	}
	switch d.Kind {
	case ndarray.Unicode:
		var text []uint32
		for ; len(e) > 0; e = e[4:] {
			text = append(text, binary.LittleEndian.Uint32(e))
		}
		for len(text) > 0 && text[len(text)-1] == 0 {
			text = text[:len(text)-1]
		}
		return moment{text: text}
	case ndarray.Float, ndarray.BFloat:
		var wide [8]byte
		from := d
		if err := ndarray.CopyRun(wide[:], 8, ndarray.MustParse("<f8"), a.data[i*d.Size:(i+1)*d.Size], int64(d.Size), from, 1); err != nil {
			t.Fatal(err)
		}
		return floatMoment(math.Float64frombits(binary.LittleEndian.Uint64(wide[:])))
	}
	slices.Reverse(e)
	n := new(big.Int).SetBytes(e)
	if d.Kind == ndarray.Bool && n.Sign() != 0 {
		n.SetInt64(1)
	}
	if d.Kind == ndarray.Int || d.Kind == ndarray.Datetime || d.Kind == ndarray.Timedelta {
		if e[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*d.Size)))
		}
		if d.Kind != ndarray.Int && n.IsInt64() && n.Int64() == math.MinInt64 {
			return moment{none: true}
		}
	}
	return moment{rat: new(big.Rat).SetInt(n)}
}

// constantMoment gives the meaning of a JSON number or bool.
func constantMoment(t *testing.T, text string) moment {
	t.Helper()
	switch text {
	case "true":
		return moment{rat: big.NewRat(1, 1)}
	case "false":
		return moment{rat: new(big.Rat)}
	case "NaN":
		return moment{none: true}
	case "Infinity", "-Infinity":
		return moment{inf: map[bool]int{true: 1, false: -1}[text[0] == 'I']}
	}
	if n, ok := new(big.Int).SetString(text, 10); ok {
		return moment{rat: new(big.Rat).SetInt(n)}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		t.Fatal(err)
	}
	return floatMoment(f)
}

func parseValue(t *testing.T, text string) Value {
	t.Helper()
	v, err := ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// where collects the rows that fulfil a query.
func where(t *testing.T, f File, q Query) []int64 {
	t.Helper()
	var got []int64
	err := Where(t.Context(), f, q, func(rows []int64) (bool, error) {
		got = append(got, rows...)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var numberConstants = []string{
	"0", "1", "-1", "true", "false", "7", "127", "128", "-128", "-129", "255", "256", "-0.0", "0.5", "-0.5", "0.1", "1e-320", "-1e-320", "5e-324",
	"32767.5", "65504", "65504.0", "65505", "2147483647", "2147483648", "-2147483648.5", "16777217", "16777217.0", "16777216",
	"9007199254740992", "9007199254740993", "9007199254740992.0", "9223372036854775807", "9223372036854775808", "9223372036854775807.0",
	"-9223372036854775808", "-9223372036854775809", "-9223372036854775808.0", "18446744073709551615", "18446744073709551616", "1.8446744073709552e19",
	"340282346638528859811704183484516925440", "3.4028234663852886e38", "3.4028234663852889e38", "1e39", "-1e39", "1.7976931348623157e308",
	"-1.7976931348623157e308", "1e309", "-1e309", "NaN", "Infinity", "-Infinity", "1" + strings.Repeat("0", 400), "-1" + strings.Repeat("0", 400), "3.5", "0.30000001192092896", "0.3",
}

// numberColumn is a column of random elements, of which many are near the ends of
// their range or the constants.
func numberColumn(t *testing.T, rng *rand.Rand, name string, n int) *toyArray {
	t.Helper()
	d := ndarray.MustParse(name)
	a := newToyArray("x", Spec{DType: d, Shape: []int64{int64(n)}})
	for i := range n {
		e := a.data[i*d.Size : (i+1)*d.Size]
		for k := range e {
			e[k] = [...]byte{0, 0xff, 0x7f, 0x80, 1, byte(rng.Uint32())}[rng.IntN(6)]
		}
		if rng.IntN(2) == 0 {
			f, err := strconv.ParseFloat(numberConstants[rng.IntN(len(numberConstants))], 64)
			if err != nil {
				continue
			}
			setFloat(e, d, f)
		}
	}
	return a
}

// setFloat sets an element to about f, as a Go conversion has it.
func setFloat(e []byte, d ndarray.DType, f float64) {
	var x uint64
	switch {
	case d.Kind == ndarray.Float && d.Size == 8:
		x = math.Float64bits(f)
	case d.Kind == ndarray.Float && d.Size == 4:
		x = uint64(math.Float32bits(float32(f)))
	case d.Kind == ndarray.BFloat:
		x = uint64(math.Float32bits(float32(f)) >> 16)
	case d.Kind == ndarray.Int:
		x = uint64(int64(f))
	case d.Kind == ndarray.Uint:
		x = uint64(f)
	default:
		return
	}
	var le [8]byte
	binary.LittleEndian.PutUint64(le[:], x)
	copy(e, le[:d.Size])
	if d.Order == ndarray.Big {
		slices.Reverse(e)
	}
}

func TestWhereNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"|b1", "|i1", "|u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8",
		"<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "bfloat16", ">bfloat16", "<m8[s]", ">M8[us]"} {
		a := numberColumn(t, rng, name, 100)
		f := toyTable(a)
		elements := make([]moment, 100)
		for i := range elements {
			elements[i] = element(t, a, i)
		}
		constants := slices.Clone(numberConstants)
		for _, e := range elements[:20] { // what is there, as exact as a JSON integer can be
			if e.rat != nil && e.rat.IsInt() {
				constants = append(constants, e.rat.Num().String())
			}
		}
		if strings.ContainsAny(name, "mM") {
			constants = slices.DeleteFunc(constants, func(s string) bool { return s == "true" || s == "false" })
		}
		for _, text := range constants {
			k := constantMoment(t, text)
			if strings.ContainsAny(name, "mM") && k.rat != nil && k.rat.Cmp(new(big.Rat).SetInt64(math.MinInt64)) == 0 {
				k = moment{none: true} // that count is NaT
			}
			for op := Equal; op <= GreaterEqual; op++ {
				var want []int64
				for i, e := range elements {
					if e.holds(op, k) {
						want = append(want, int64(i))
					}
				}
				if got := where(t, f, Query{Terms: []Term{{"x", op, parseValue(t, text)}}}); !slices.Equal(got, want) {
					t.Fatalf("%s %v %.40s: %d rows, expected %d", name, op, text, len(got), len(want))
				}
			}
		}
	}
}

func TestWhereTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	letters := []uint32{'a', 'b', 0, 0, 0xff, 0x80}
	for _, name := range []string{"S1", "S3", "S5", "<U1", ">U2", "<U4"} {
		d := ndarray.MustParse(name)
		a := newToyArray("x", Spec{DType: d, Shape: []int64{200}})
		size := 1
		if d.Kind == ndarray.Unicode {
			size = 4
			letters = []uint32{'a', 'b', 0, 0, 0xff, 0xd800, 0x1f600, 0xffff}
		}
		for i := 0; i < len(a.data); i += size {
			c := letters[rng.IntN(len(letters))]
			switch {
			case size == 1:
				a.data[i] = byte(c)
			case d.Order == ndarray.Big:
				binary.BigEndian.PutUint32(a.data[i:], c)
			default:
				binary.LittleEndian.PutUint32(a.data[i:], c)
			}
		}
		for range 60 {
			var text []uint32
			quoted := []byte{'"'}
			for range rng.IntN(7) {
				c := letters[rng.IntN(len(letters))]
				text = append(text, c)
				switch {
				case size == 1 && c >= 0x80:
					quoted = append(quoted, `\udc`+strconv.FormatUint(uint64(c), 16)...)
				case c == 0:
					quoted = append(quoted, `\u0000`...)
				case c >= 0xd800 && c < 0xe000:
					quoted = append(quoted, `\ud800`...)
				default:
					quoted = append(quoted, string(rune(c))...)
				}
			}
			for len(text) > 0 && text[len(text)-1] == 0 {
				text = text[:len(text)-1]
			}
			quoted = append(quoted, '"')
			for op := Equal; op <= GreaterEqual; op++ {
				var want []int64
				for i := range 200 {
					if element(t, a, i).holds(op, moment{text: text}) {
						want = append(want, int64(i))
					}
				}
				if got := where(t, toyTable(a), Query{Terms: []Term{{"x", op, parseValue(t, string(quoted))}}}); !slices.Equal(got, want) {
					t.Fatalf("%s %v %s: %d rows, expected %d", name, op, quoted, len(got), len(want))
				}
			}
		}
	}
	// A text that is UTF-8 is compared with its bytes.
	a := newToyArray("x", Spec{DType: ndarray.MustParse("S2"), Shape: []int64{1}})
	copy(a.data, "é")
	if got := where(t, toyTable(a), Query{Terms: []Term{{"x", Equal, StringValue("é")}}}); len(got) != 1 {
		t.Error("é is not found")
	}
}

// Datetimes compared with ISO 8601 strings, checked by package time.
func TestWhereISO(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	seconds := func(t time.Time) *big.Rat {
		r := new(big.Rat).SetInt64(t.Unix())
		return r.Add(r, big.NewRat(int64(t.Nanosecond()), 1e9))
	}
	constants := map[string]string{ // and a layout
		"1970": "2006", "1969": "2006", "2000-03": "2006-01", "2000-02-29": time.DateOnly, "1970-01-01T00:00": "2006-01-02T15:04",
		"1969-12-31 23:59:59.999": time.DateTime, "2100-12-31T23": "2006-01-02T15", "0001-01-01": time.DateOnly, "1970-01-01T00:00:00.000000001Z": time.RFC3339Nano,
		"2024-05-17T12:30:15.25": "2006-01-02T15:04:05", "9999-12-31T23:59:59.999999999": "2006-01-02T15:04:05", "1972-02-29T06": "2006-01-02T15", "0000-02-29": time.DateOnly,
	}
	lengths := map[string]float64{"W": 604800, "D": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
	for _, unit := range []string{"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "7D", "25s", "3M", "10Y", "100ns"} {
		a := newToyArray("x", Spec{DType: ndarray.MustParse("<M8[" + unit + "]"), Shape: []int64{400}})
		base := strings.TrimLeft(unit, "0123456789")
		count := int64(1)
		if base != unit {
			count, _ = strconv.ParseInt(unit[:len(unit)-len(base)], 10, 64)
		}
		for i := range 400 {
			var n int64
			switch at := rng.Int64N(40) - 20; {
			case base == "Y":
				n = 400*at + rng.Int64N(3)
				if i%2 == 0 {
					n = at
				}
			case base == "M":
				n = 3*at + rng.Int64N(3)
				if i%4 == 0 {
					n = 12*30 + at
				}
			default: // near one of the constants
				var day time.Time
				for text, layout := range constants {
					day, _ = time.Parse(layout, text)
					if rng.IntN(4) == 0 {
						break
					}
				}
				per := new(big.Rat).SetFloat64(math.Round(lengths[base] * 1e9))
				v := new(big.Rat).Quo(new(big.Rat).Mul(seconds(day), big.NewRat(1e9, 1)), per)
				v.Quo(v, big.NewRat(count, 1))
				q := new(big.Int).Div(v.Num(), v.Denom())
				if !q.IsInt64() {
					continue
				}
				n = q.Int64() + at/5
			}
			if i == 0 {
				n = math.MinInt64
			}
			binary.LittleEndian.PutUint64(a.data[8*i:], uint64(n))
		}
		for text, layout := range constants {
			at, err := time.Parse(layout, text)
			if err != nil {
				t.Fatal(err)
			}
			k := moment{rat: seconds(at)}
			for op := Equal; op <= GreaterEqual; op++ {
				var want []int64
				for i := range 400 {
					n := int64(binary.LittleEndian.Uint64(a.data[8*i:]))
					e := moment{none: n == math.MinInt64}
					switch {
					case e.none:
					case base == "Y":
						e.rat = seconds(time.Date(int(1970+n*count), 1, 1, 0, 0, 0, 0, time.UTC))
					case base == "M":
						e.rat = seconds(time.Date(1970, time.Month(1+n*count), 1, 0, 0, 0, 0, time.UTC))
					default:
						e.rat = new(big.Rat).SetInt64(n)
						e.rat.Mul(e.rat, big.NewRat(count, 1))
						e.rat.Mul(e.rat, new(big.Rat).SetFrac64(int64(math.Round(lengths[base]*1e9)), 1e9))
					}
					if e.holds(op, k) {
						want = append(want, int64(i))
					}
				}
				if got := where(t, toyTable(a), Query{Terms: []Term{{"x", op, StringValue(text)}}}); !slices.Equal(got, want) {
					t.Fatalf("M8[%s] %v %s: %v, expected %v", unit, op, text, got, want)
				}
			}
		}
	}
	a := newToyArray("x", Spec{DType: ndarray.MustParse("<M8[s]"), Shape: []int64{1}})
	for _, text := range []string{"", "1970-13", "1970-02-29", "1970-01-01T24", "now"} {
		err := Where(t.Context(), toyTable(a), Query{Terms: []Term{{"x", Equal, StringValue(text)}}}, func([]int64) (bool, error) { return true, nil })
		if KindOf(err) != ErrArgument {
			t.Errorf("%q is compared with times: %v", text, err)
		}
	}
}

// Random tables and queries against a walk over all rows. Rows are found in order,
// each once, also in pieces.
func TestWhereQueries(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 400 {
		n := rng.Int64N(200)
		var cols []*toyArray
		for range 1 + rng.IntN(3) {
			s := Spec{DType: ndarray.MustParse([]string{"<i4", "|u1", ">f8"}[rng.IntN(3)]), Shape: []int64{n}, Masked: rng.IntN(3) == 0}
			if rng.IntN(2) == 0 {
				s.Chunks = []int64{1 + rng.Int64N(30)}
			}
			a := newToyArray("", s)
			for i := range n {
				setFloat(a.data[i*int64(s.DType.Size):(i+1)*int64(s.DType.Size)], s.DType, float64(rng.IntN(5)))
				if s.Masked && rng.IntN(4) == 0 {
					a.mask[i] = 1
				}
			}
			cols = append(cols, a)
		}
		f := toyTable(cols...)
		q := Query{Skip: rng.Int64N(4) * rng.Int64N(20), Limit: rng.Int64N(3) * rng.Int64N(40)}
		if n > 0 && rng.IntN(2) == 0 {
			q.Start = rng.Int64N(n)
			q.Stop = q.Start + rng.Int64N(n-q.Start+1)
		}
		for range rng.IntN(4) {
			q.Terms = append(q.Terms, Term{f.arrays[rng.IntN(len(cols))].name, Op(1 + rng.IntN(6)), IntValue(rng.Int64N(6))})
		}
		stop := q.Stop
		if stop == 0 {
			stop = n
		}
		var want []int64
		for i := q.Start; i < stop; i++ {
			all := true
			for _, term := range q.Terms {
				c, _ := f.Array(term.Column)
				a := c.(*toyArray)
				k, _ := term.Value.Int64()
				all = all && a.mask[i] == 0 && element(t, a, int(i)).holds(term.Op, moment{rat: new(big.Rat).SetInt64(k)})
			}
			if all {
				want = append(want, i)
			}
		}
		want = want[min(q.Skip, int64(len(want))):]
		if q.Limit > 0 {
			want = want[:min(q.Limit, int64(len(want)))]
		}
		if got := where(t, f, q); !slices.Equal(got, want) {
			t.Fatalf("%+v: %v, expected %v", q, got, want)
		}
		for _, a := range cols {
			clear(a.mask)
		}
		// Without missing elements Select gives the values of the same rows.
		var names []string
		for _, a := range cols {
			names = append(names, a.name)
		}
		slices.Reverse(names)
		want = where(t, f, q)
		var got []int64
		err := Select(t.Context(), f, q, names, func(rows []int64, bufs []ndarray.Buffer) (bool, error) {
			got = append(got, rows...)
			for k, b := range bufs {
				c, _ := f.Array(names[k])
				a := c.(*toyArray)
				if !b.IsContiguous() || b.DType.Swapped() || !slices.Equal(b.Shape, []int64{int64(len(rows))}) {
					t.Fatalf("%v %v", b.DType, b.Shape)
				}
				copied := newToyArray("", Spec{DType: b.DType, Shape: b.Shape})
				copy(copied.data, b.Bytes())
				for i, row := range rows {
					if element(t, copied, i).compare(element(t, a, int(row))) != 0 {
						t.Fatalf("column %s, row %d", names[k], row)
					}
				}
			}
			return true, nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%+v: %v, %v, expected %v", q, err, got, want)
		}
	}
}

// Work is bounded and stops early: blocks follow the chunks, later terms are read
// only where earlier ones hold, and nothing is read behind a limit.
func TestWhereReadsLittle(t *testing.T) {
	const chunk = 700_000 // of i4: 1.5 chunks would fill a block
	const n = 5 * chunk
	a := newToyArray("a", Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{n}, Chunks: []int64{chunk}})
	b := newToyArray("b", Spec{DType: ndarray.MustParse("|u1"), Shape: []int64{n}, Chunks: []int64{1000}})
	f := toyTable(a, b)
	for _, row := range []int{3 * chunk, 3*chunk + 1, 3*chunk + 599_999} {
		a.data[4*row] = 1
	}
	got := where(t, f, Query{Terms: []Term{{"a", Equal, IntValue(1)}, {"b", Equal, IntValue(0)}}})
	if !slices.Equal(got, []int64{3 * chunk, 3*chunk + 1, 3*chunk + 599_999}) {
		t.Fatal(got)
	}
	for i, box := range a.reads {
		if box.Start[0] != int64(i)*chunk || box.Count[0] != chunk {
			t.Errorf("read %d of a: %v", i, box)
		}
	}
	if len(a.reads) != 5 || len(b.reads) != 2 {
		t.Errorf("%d reads of a, %v of b", len(a.reads), b.reads)
	}
	a.reads = nil
	calls := 0
	err := Where(t.Context(), f, Query{Terms: []Term{{"a", Equal, IntValue(0)}}, Start: 10, Limit: 5}, func(rows []int64) (bool, error) {
		calls++
		return true, nil
	})
	if err != nil || calls != 1 || len(a.reads) != 1 || a.reads[0].Start[0] != 10 || a.reads[0].Count[0] != chunk-10 {
		t.Errorf("limit: %v, %d calls, %v", err, calls, a.reads)
	}
	if got := where(t, f, Query{Terms: []Term{{"a", Equal, IntValue(0)}}, Start: 10, Skip: 2*chunk + 5, Limit: 3}); !slices.Equal(got, []int64{2*chunk + 15, 2*chunk + 16, 2*chunk + 17}) {
		t.Errorf("skip: %v", got)
	}
	a.reads = nil
	if err := Where(t.Context(), f, Query{Skip: n - 1}, func(rows []int64) (bool, error) {
		if !slices.Equal(rows, []int64{n - 1}) {
			t.Errorf("the last row: %v", rows)
		}
		return true, nil
	}); err != nil || len(a.reads) > 0 {
		t.Errorf("without terms: %v, %v", err, a.reads)
	}
	for _, more := range []bool{false, true} {
		calls = 0
		err := Where(t.Context(), f, Query{}, func(rows []int64) (bool, error) {
			calls++
			if more {
				return true, errToy
			}
			return false, nil
		})
		if calls != 1 || (err == errToy) != more {
			t.Errorf("%d calls, %v", calls, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Where(ctx, f, Query{}, nil); KindOf(err) != ErrCanceled {
		t.Error(err)
	}
}

func TestWhereErrors(t *testing.T) {
	col := func(name, dtype string, shape ...int64) *toyArray {
		return newToyArray(name, Spec{DType: ndarray.MustParse(dtype), Shape: shape})
	}
	f := toyTable(col("i", "<i4", 5), col("f", "<f8", 5), col("s", "S3", 5), col("u", "<U3", 5), col("t", "<M8[s]", 5), col("g", "<M8", 5), col("d", "<m8[s]", 5),
		col("nd", "<i4", 5, 2), col("c", "<c8", 5), col("i16", "<i16", 5), col("f16", "<f16", 5), col("v", "|V3", 5), col("r", `[["a","<i4"]]`, 5), col("str", "str", 5), col("short", "<i4", 4))
	one := IntValue(1)
	for _, test := range []struct {
		q      Query
		cols   []string
		kind   *ErrorKind
		column string
	}{
		{Query{Terms: []Term{{"nd", Equal, one}}}, nil, ErrNotSupported, "nd"},
		{Query{Terms: []Term{{"c", Equal, one}}}, nil, ErrNotSupported, "c"},
		{Query{Terms: []Term{{"i16", Equal, one}}}, nil, ErrNotSupported, "i16"},
		{Query{Terms: []Term{{"f16", Equal, one}}}, nil, ErrNotSupported, "f16"},
		{Query{Terms: []Term{{"v", Equal, one}}}, nil, ErrNotSupported, "v"},
		{Query{Terms: []Term{{"r", Equal, one}}}, nil, ErrNotSupported, "r"},
		{Query{Terms: []Term{{"str", Equal, StringValue("")}}}, nil, ErrNotSupported, "str"},
		{Query{}, []string{"str"}, ErrNotSupported, "str"},
		{Query{Terms: []Term{{"none", Equal, one}}}, nil, ErrName, "none"},
		{Query{}, []string{"i", "none"}, ErrName, "none"},
		{Query{Terms: []Term{{"i", Equal, StringValue("1")}}}, nil, ErrArgument, "i"},
		{Query{Terms: []Term{{"i", Equal, Value{}}}}, nil, ErrArgument, "i"},
		{Query{Terms: []Term{{"f", Equal, pyjson.List()}}}, nil, ErrArgument, "f"},
		{Query{Terms: []Term{{"s", Equal, one}}}, nil, ErrArgument, "s"},
		{Query{Terms: []Term{{"u", Equal, one}}}, nil, ErrArgument, "u"},
		{Query{Terms: []Term{{"t", Equal, pyjson.Bool(true)}}}, nil, ErrArgument, "t"},
		{Query{Terms: []Term{{"t", Equal, StringValue("yesterday")}}}, nil, ErrArgument, "t"},
		{Query{Terms: []Term{{"g", Equal, StringValue("1970")}}}, nil, ErrArgument, "g"},
		{Query{Terms: []Term{{"d", Equal, StringValue("1970")}}}, nil, ErrArgument, "d"},
		{Query{Terms: []Term{{"i", 0, one}}}, nil, ErrArgument, "i"},
		{Query{Terms: []Term{{"i", GreaterEqual + 1, one}}}, nil, ErrArgument, "i"},
		{Query{Terms: []Term{{"short", Equal, one}}}, nil, ErrCorrupt, "short"},
		{Query{Start: 6}, nil, ErrBounds, ""},
		{Query{Start: -1}, nil, ErrBounds, ""},
		{Query{Start: 3, Stop: 2}, nil, ErrBounds, ""},
		{Query{Stop: 6}, nil, ErrBounds, ""},
		{Query{Stop: -1}, nil, ErrBounds, ""},
		{Query{Skip: -1}, nil, ErrArgument, ""},
		{Query{Limit: -1}, nil, ErrArgument, ""},
	} {
		err := Select(t.Context(), f, test.q, test.cols, func([]int64, []ndarray.Buffer) (bool, error) {
			t.Errorf("%+v: rows", test.q)
			return false, nil
		})
		if KindOf(err) != test.kind || test.column != "" && !strings.Contains(err.Error(), strconv.Quote(test.column)) {
			t.Errorf("%+v, %v: %v, expected %s", test.q, test.cols, err, test.kind.C)
		}
	}
	if err := Where(t.Context(), &toyFile{toy: newToy("x", Dataset, 0)}, Query{}, nil); KindOf(err) != ErrArgument || !strings.Contains(err.Error(), "dataset") {
		t.Errorf("a dataset: %v", err)
	}
	if got := where(t, toyTable(), Query{}); got != nil {
		t.Errorf("a table without columns: %v", got)
	}
	// Generic datetimes can be compared with counts.
	if got := where(t, f, Query{Terms: []Term{{"g", Equal, IntValue(0)}}}); len(got) != 5 {
		t.Errorf("generic: %v", got)
	}
	i := f.arrays[0]
	i.readErr = func(ndarray.Box) error { return NewError(ErrCorrupt, "bad chunk") }
	if err := Where(t.Context(), f, Query{Terms: []Term{{"i", Equal, one}}}, nil); KindOf(err) != ErrCorrupt || !strings.Contains(err.Error(), `"i"`) {
		t.Errorf("a column that cannot be read: %v", err)
	}
}

func TestParseOp(t *testing.T) {
	for op := Equal; op <= GreaterEqual; op++ {
		if got, err := ParseOp(op.String()); err != nil || got != op {
			t.Errorf("%v: %v, %v", op, got, err)
		}
	}
	for _, s := range []string{"", "=", "<>", " <", "<=>"} {
		if op, err := ParseOp(s); KindOf(err) != ErrArgument {
			t.Errorf("%q: %v, %v", s, op, err)
		}
	}
}

// Whatever the constant is: each row is less, equal or greater, or, as NaN and NaT,
// none of them, and the other comparisons follow from these.
func FuzzWhere(f *testing.F) {
	for _, text := range numberConstants {
		f.Add(text)
	}
	for _, text := range []string{`"1970-01-01"`, `"2020-02-29T12:30:00.5Z"`, `"NaT"`, `"a"`, `"\udc80\u0000"`, `null`, `[1]`, `"-1970"`, `{"a": 1}`} {
		f.Add(text)
	}
	var columns []*toyArray
	for i, name := range []string{"|b1", "|i1", "<u2", ">i4", "<i8", "<u8", "<f2", "<f4", ">f8", "S3", "<U2", "<M8[D]", "<M8[Y]", "<M8[25s]", "<M8", "<m8[ns]"} {
		a := newToyArray(name, Spec{DType: ndarray.MustParse(name), Shape: []int64{30}})
		rng := rand.New(rand.NewPCG(17, uint64(i)))
		for k := range a.data {
			a.data[k] = [...]byte{0, 0xff, 0x7f, 0x80, 1, byte(rng.Uint32())}[rng.IntN(6)]
		}
		columns = append(columns, a)
	}
	table := toyTable(columns...)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseValue([]byte(text))
		if err != nil {
			return
		}
		for _, c := range columns {
			holds := map[Op][30]bool{}
			for op := Equal; op <= GreaterEqual; op++ {
				var rows [30]bool
				err := Where(t.Context(), table, Query{Terms: []Term{{c.name, op, v}}}, func(found []int64) (bool, error) {
					for _, row := range found {
						rows[row] = true
					}
					return true, nil
				})
				if err != nil && KindOf(err) != ErrArgument {
					t.Fatal(err)
				}
				if holds[op] = rows; err != nil {
					holds[op] = [30]bool{}
				}
			}
			if holds[Equal] == holds[NotEqual] {
				continue // not comparable
			}
			for row := range 30 {
				less, equal, greater := holds[Less][row], holds[Equal][row], holds[Greater][row]
				if less && equal || equal && greater || less && greater || holds[NotEqual][row] == equal ||
					holds[LessEqual][row] != (less || equal) || holds[GreaterEqual][row] != (greater || equal) {
					t.Fatalf("%s, row %d, %s: %v", c.name, row, text, holds)
				}
			}
		}
	})
}
