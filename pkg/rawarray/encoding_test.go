package rawarray

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// TestEncodings writes random elements of every type in every encoding, whole and
// in boxes of strided memory, and reads them back in all ways.
func TestEncodings(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	tried := 0
	for _, e := range []string{"lz4", "leb128", "bits"} {
		for _, name := range []string{"|b1", "|i1", "<i2", ">i4", "<i8", "<i16", "|u1", "<u2", "<u4", ">u8", "<u16", "<f2", "<f4", ">f8", "bfloat16", "<c4", ">c8", "<c16", "|V5"} {
			d := ndarray.MustParse(name)
			for _, shape := range [][]int64{{}, {0}, {1}, {3, 5, 7}, {64}, {65, 1}, {700, 100}} {
				src := numbers(d, shape...)
				for i := range src.Data {
					if src.Data[i] = byte(rng.IntN(3)); d.Kind == ndarray.Bool {
						src.Data[i] &= 1
					} else if rng.IntN(9) == 0 {
						src.Data[i] = byte(rng.Uint32())
					}
				}
				if name == "<i16" && e == "leb128" {
					for i := 0; i < len(src.Data); i += 16 { // of 64 bits
						copy(src.Data[i+8:], slices.Repeat([]byte{byte(int8(src.Data[i+7]) >> 7)}, 8))
					}
				}
				extra, _ := ndfile.ParseJSON([]byte(`{"encoding": "` + e + `"}`))
				mem := ndfile.NewMem()
				err := Format.(ndfile.OneShot).Save(ctx, mem, "/x.ra", []ndfile.Item{{Data: src, Extra: extra}}, ndfile.SaveOptions{Trailing: []byte("behind")})
				if err != nil {
					if !errors.Is(err, ndfile.ErrDType) {
						t.Errorf("%s %s %v: %v", e, name, shape, err)
					}
					continue
				}
				tried++
				raw := content(t, mem)
				if again := created(t, ndfile.Spec{DType: d, Shape: shape, Extra: extra}, src, ndfile.CreateOptions{Trailing: []byte("behind")}); !bytes.Equal(again, raw) {
					t.Errorf("%s %s %v: Create and Save differ", e, name, shape)
				}
				if !agree(t, raw) {
					t.Errorf("%s %s %v: is not read", e, name, shape)
					continue
				}
				f, err := open(raw)
				if err != nil {
					t.Fatal(err)
				}
				a, _ := f.Array("")
				to := d
				if d.Kind == ndarray.Bool {
					to = ndarray.DType{Kind: a.Spec().DType.Kind, Size: 1}
				}
				if got := readAll(t, a, to); !bytes.Equal(got, src.Data) {
					t.Errorf("%s %s %v: other elements", e, name, shape)
				}
				if text, err := f.(ndfile.Trailer).Trailing(ctx); string(text) != "behind" || err != nil {
					t.Errorf("%s %s %v: trailing %q, %v", e, name, shape, text, err)
				}
				if _, _, err := a.(ndfile.Mapper).Map(ctx); !errors.Is(err, ndfile.ErrNotSupported) {
					t.Errorf("%s %s %v: mapped: %v", e, name, shape, err)
				}
				f.Abort()
			}
		}
	}
	if tried != 7*(19+11+1) {
		t.Errorf("%d files", tried)
	}
}

// TestLEB128Beyond64: RawArray.jl 0.1.1 encodes 128-bit integers n as the bits of
// n<<1 ^ n>>63. Those within 64 bits it reads back. All are read here as they were.
func TestLEB128Beyond64(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	for range 2000 {
		n := new(big.Int).SetBits([]big.Word{big.Word(rng.Uint64()), big.Word(rng.Uint64())})
		n.Rsh(n, uint(rng.IntN(128)))
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(rng.IntN(127))))
		if n.BitLen() > 127 {
			continue
		}
		y := new(big.Int).And(new(big.Int).Xor(new(big.Int).Lsh(n, 1), new(big.Int).Rsh(n, 63)), all) // of two's complement
		var payload []byte
		for x := new(big.Int).Set(y); ; x.Rsh(x, 7) {
			b := byte(x.Uint64() & 0x7f)
			if x.BitLen() <= 7 {
				payload = append(payload, b)
				break
			}
			payload = append(payload, b|0x80)
		}
		f, err := open(append(words(0, 2, eltInt, 16, 16, 0), payload...))
		if err != nil {
			t.Fatal(err)
		}
		a, _ := f.Array("")
		got := readAll(t, a, ndarray.MustParse("=i16"))
		if integer(got, true).Cmp(n) != 0 {
			t.Fatalf("%v is read as %v", n, integer(got, true))
		}
		f.Abort()
		extra, _ := ndfile.ParseJSON([]byte(`{"encoding": "leb128"}`))
		err = Format.(ndfile.OneShot).Save(ctx, ndfile.NewMem(), "/x.ra", []ndfile.Item{{Extra: extra, Data: ndarray.Buffer{DType: a.Spec().DType, Data: got}}}, ndfile.SaveOptions{})
		if fits := n.IsInt64(); fits != (err == nil) || !fits && !errors.Is(err, ndfile.ErrValue) {
			t.Fatalf("%v is written: %v", n, err)
		}
	}
}

// TestWhichEncoding: files whose flag has two meanings, and whose size does not
// tell which.
func TestWhichEncoding(t *testing.T) {
	// An LZ4 block of 13 bytes for 13 bytes: 5 literals, 4 of them again, 4 literals.
	block := []byte{0x50, 1, 2, 3, 4, 0x81, 5, 0, 0x40, 9, 9, 9, 9}
	decoded := []byte{1, 2, 3, 4, 0x81, 1, 2, 3, 4, 9, 9, 9, 9}
	if got := make([]byte, 13); !unpackLZ4(got, block) || !bytes.Equal(got, decoded) {
		t.Fatalf("%x", got)
	}
	plainFloats := numbers(ndarray.MustParse("<f8"), 9).Data
	asBytes := []byte{0x50, 1, 2, 3, 4, 1, 5, 0, 0x40, 9, 9, 9, 9} // 13 small numbers, too
	for _, c := range []struct {
		name string
		raw  []byte
		want []byte
		kind *ndfile.ErrorKind
	}{
		{"a block that is no number", append(words(0, 2, eltUint, 1, 13, 1, 13), block...), decoded, nil},
		{"floats of RawArray.jl", append(words(0, 2, eltFloat, 8, 72, 1, 9), plainFloats...), plainFloats, nil},
		{"floats of RawArray.jl, text behind", append(append(words(0, 2, eltFloat, 8, 72, 1, 9), plainFloats...), "text"...), plainFloats, nil},
		{"both", append(words(0, 2, eltUint, 1, 13, 1, 13), asBytes...), nil, ndfile.ErrNotSupported},
		{"neither", append(words(0, 2, eltUint, 1, 13, 1, 13), slices.Repeat([]byte{0xff}, 13)...), nil, ndfile.ErrCorrupt},
		{"numbers with an end behind the size", append(words(0, 2, eltUint, 1, 3, 1, 3), 0xff, 1, 2, 3), []byte{0xff, 2, 3}, nil},
	} {
		f, err := open(c.raw)
		if err != nil {
			t.Fatal(c.name, err)
		}
		a, _ := f.Array("")
		dst, _ := ndarray.NewBuffer(a.Spec().DType, a.Spec().Shape)
		err = a.ReadBox(ctx, ndarray.Full(dst.Shape), dst)
		if c.kind != nil && ndfile.KindOf(err) != c.kind || c.kind == nil && (err != nil || !bytes.Equal(dst.Data, c.want)) {
			t.Errorf("%s: %v, %x", c.name, err, dst.Data)
		}
		if _, trailingErr := f.(ndfile.Trailer).Trailing(ctx); (trailingErr == nil) != (c.kind == nil) {
			t.Errorf("%s: trailing bytes: %v", c.name, trailingErr)
		}
		f.Abort()
	}
	// What is written is never of the kind that cannot be told.
	extra, _ := ndfile.ParseJSON([]byte(`{"encoding": "lz4"}`))
	raw := saved(t, ndfile.Item{Extra: extra, Data: ndarray.Buffer{DType: ndarray.MustParse("|u1"), Shape: []int64{13}, Data: decoded}}, ndfile.SaveOptions{})
	if size := binary.LittleEndian.Uint64(raw[atSize:]); size == 13 {
		t.Errorf("%x", raw)
	}
}
