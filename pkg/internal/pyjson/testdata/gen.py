#!/usr/bin/env python3
"""Write the golden files of package pyjson: what CPython's json makes of texts.

Run it in this folder with CPython 3.11 or newer. It uses fixed seeds, so the
files change only with Python or with this script.

Columns are separated by one tab. A text is quoted, with \\xNN for a byte that is
not printable ASCII (Go's strconv.Unquote reads it).

accept.golden   text, json.dumps(json.loads(text))
indent.golden   text, json.dumps with indent=4, sort_keys=True, and with indent=2;
                quoted as the text is
refuse.golden   text json.loads refuses
strings.golden  text of one string, its value in UTF-8 with surrogatepass, json.dumps
numbers.golden  text of one number, "int" or "float", bits of float() in hex or
                "overflow", json.dumps
floats.golden   bits in hex, json.dumps
"""
import itertools
import json
import random
import struct

rng = random.Random(20)


def quote(data):
    return '"%s"' % "".join(
        chr(b) if 32 <= b < 127 and b not in b'"\\' else "\\x%02x" % b for b in data)


def loads(data):
    return json.loads(data.decode("utf-8"))


def write(name, rows):
    with open(name, "w", newline="\n") as f:
        seen = set()
        for row in rows:
            line = "\t".join(row)
            if line not in seen:
                seen.add(line)
                f.write(line + "\n")


def bits(x):
    return "%016x" % struct.unpack("<Q", struct.pack("<d", x))[0]


# --- floats: edges of the repr, subnormals, 17 digits, random bits
floats = [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 5e-324, 2.2250738585072014e-308,
          2.225073858507201e-308, 1.7976931348623157e308, 9007199254740993.0,
          9999999999999998.0, 1e16, 1.0000000000000002e16, 123456789012345680.0, 1e-4,
          9.999999999999999e-05, 1e-5, 1e22, 1e23, 5e-05, 0.00012345678901234567,
          float("nan"), float("inf"), float("-inf")]
floats += [s * 10.0 ** e for e in range(-30, 31) for s in (1, -1.5)]
floats += [5e-324 * rng.getrandbits(rng.randrange(1, 53)) for _ in range(60)]
floats += [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(300)]
floats += [float(rng.randrange(10 ** 17)) for _ in range(60)]
floats += [round(rng.uniform(-1000, 1000), rng.randrange(6)) for _ in range(60)]
floats = [x if x == x else float("nan") for x in floats]
write("floats.golden", ([bits(x), json.dumps(x)] for x in floats))

# --- numbers
texts = ["0", "-0", "-0.0", "0.0", "-0e0", "0e-999", "1E5", "1e5", "1e+5", "1.10", "1e400",
         "-1e400", "1e-400", "1e16", "1e-7", "0.1e1", "NaN", "Infinity", "-Infinity",
         "9223372036854775807", "9223372036854775808", "-9223372036854775808",
         "-9223372036854775809", "18446744073709551615", "18446744073709551616",
         "18446744073709551617", "36893488147419103232",
         "9007199254740993", "9" * 19, "9" * 20, "9" * 40, "1" + "0" * 308, "1" + "0" * 309,
         "-1" + "0" * 400, "0." + "0" * 330 + "1", "1e99999999", "1e-99999999",
         "1e00000000000000000001", "179769313486231580793728971405301e276",
         "2.4703282292062327e-324", "2.4703282292062328e-324", "0." + "3" * 900]
for _ in range(300):
    t = rng.choice(["", "-"]) + rng.choice(["0", str(rng.randrange(1, 10 ** rng.randrange(1, 30)))])
    if rng.random() < 0.6:
        t += "." + "".join(rng.choices("0123456789", k=rng.randrange(1, 25)))
    if rng.random() < 0.6:
        t += rng.choice("eE") + rng.choice(["", "+", "-"]) + str(rng.randrange(10 ** rng.randrange(1, 4)))
    texts.append(t)


def number(t):
    v = json.loads(t)
    try:
        b = bits(float(v) if v == v else float("nan"))
    except OverflowError:
        b = "overflow"
    return [quote(t.encode()), type(v).__name__, b, json.dumps(v)]


write("numbers.golden", map(number, texts))

# --- strings: every byte, escapes in every form, surrogates, astral
bodies = [bytes([c]) for c in range(0x20, 0x80) if c not in b'"\\']
bodies += [b"\\" + bytes([c]) for c in b'"\\/bfnrt']
bodies += [b"\\u%04x" % c for c in range(0x100)]
edges = [0x7f, 0x80, 0xff, 0x7ff, 0x800, 0x2028, 0x20ac, 0xd7ff, 0xe000, 0xfdd0, 0xfffd, 0xfffe,
         0xffff, 0x10000, 0x1f600, 0x10fffe, 0x10ffff]
bodies += [chr(c).encode() for c in edges]
bodies += [json.dumps(chr(c))[1:-1].encode() for c in edges]
units = [rb"\ud800", rb"\uDBFF", rb"\udc00", rb"\uDFFF", rb"\ud83D", rb"\uDe00", b"x", rb"\n",
         rb"\\", "\u00e9".encode(), rb"\u0041", "\U0001f600".encode()]
for k in (1, 2, 3):
    bodies += [b"".join(p) for p in itertools.product(units, repeat=k)
               if k < 3 or rng.random() < 0.2]


def string(body):
    text = b'"' + body + b'"'
    v = loads(text)
    return [quote(text), quote(v.encode("utf-8", "surrogatepass")), json.dumps(v)]


write("strings.golden", map(string, bodies))


# --- whole texts: random structures in random layout
def space():
    return "".join(rng.choices(" \t\r\n", k=rng.choice([0, 0, 0, 1, 3])))


def text(depth):
    r = rng.random()
    if depth == 0 or r < 0.4:
        return rng.choice(["null", "true", "false", "0", "-1", "1.50", "1e3", "NaN", "-Infinity", "Infinity",
                           '""', '"a"', '"\\u00e9\\n"', '"\u20ac"', '"\\ud800"', "-0", "123456789012345678901"])
    if r < 0.7:
        return "[" + space() + (space() + "," + space()).join(
            text(depth - 1) for _ in range(rng.randrange(5))) + space() + "]"
    keys = ['"a"', '"b"', '"\\u0061"', '""', '"z"', '"\u00e9"', '"\\ud83d\\ude00"', '"\U0001f600"', '"\\udfff"']
    return "{" + space() + (space() + "," + space()).join(
        rng.choice(keys) + space() + ":" + space() + text(depth - 1)
        for _ in range(rng.randrange(7))) + space() + "}"


accept = [(space() + text(rng.randrange(1, 6)) + space()).encode() for _ in range(500)]
accept += [b"[" * 150 + b"]" * 150, b'{"a":' * 100 + b"1" + b"}" * 100, b'{"a":1,"b":2,"a":3}',
           b"{" + b",".join(b'"%d": %d' % (i % 37, i) for i in range(100)) + b"}"]
write("accept.golden", ([quote(t), json.dumps(loads(t))] for t in accept))
write("indent.golden", ([quote(t), quote(json.dumps(loads(t), indent=4, sort_keys=True).encode()),
                         quote(json.dumps(loads(t), indent=2).encode())] for t in accept if len(t) < 150))

# --- texts that are refused: by hand, and accepted ones with one byte changed
bad = [b"", b" ", b"nul", b"nulll", b"True", b"None", b"nan", b"-NaN", b"+1", b"+Infinity", b"-", b"--1", b"Inf",
       b"-Infinit", b"infinity", b"01", b"-01", b"00", b"1.", b".5", b"1.e5", b"1e", b"1e+", b"1E-", b"1e1.5",
       b"0x10", b"1_000", b"1 2", b"1,", b",1", b"[", b"]", b"[,]", b"[1,]", b"[,1]", b"[1 2]", b"[1,,2]", b"[1}",
       b"{", b"}", b"{]", b"{1:2}", b"{a:1}", b"{'a':1}", b'{"a"}', b'{"a":}', b'{"a" 1}', b'{"a":1,}',
       b'{"a":1 "b":2}', b'{,"a":1}', b'{"a":1,,"b":2}', b'{"a"::1}', b'{"a":1]', b'{null:1}', b'"', b'"a',
       b'"\\"', b"'a'", b'"\\x41"', b'"\\a"', b'"\\0"', b'"\\U0041"', b'"\\u"', b'"\\u004"', b'"\\u004g"',
       b'"\\u+041"', b'"\\u 041"', b'"\\u0x41"', b'"\\ud83d\\u"', b'"\\ud83d\\ude0"', b'"\\',
       b'"a" "b"', b'"a"b', b"[1]]", b"{}{}", b"null,", b"// c\n1", b"/* c */1", b"1 # c", b"\xef\xbb\xbf1",
       b"\x0b1", b"\x0c1", b"\x001", b"1\x00", b"\xc2\xa01", b"\xe2\x80\xa81", "\u0661".encode(), "1\u0662".encode(),
       b'"\xff"', b'"\xc0\x80"', b'"\xc3"', b'"\xe2\x82"', b'"\xed\xa0\x80"', b'"\xed\xb3\xbf"',
       b'"\xf4\x90\x80\x80"', b'"\xf8\x88\x80\x80\x80"', b'"\x80"', b'{"\xff":1}', b"\xff",
       b"9" * 4301, b"-" + b"9" * 4301]
bad += [b'"' + bytes([c]) + b'"' for c in range(0x20)]
bad += [b'{"' + bytes([c]) + b'":1}' for c in range(0x20)]
for t in accept * 4:
    t = bytearray(t)
    if len(t) < 200:
        i = rng.randrange(len(t))
        if rng.random() < 0.4:
            del t[i]
        else:
            t[i] = rng.choice(b'[]{},:"\\u0-.eE+tN \x00\x1f\x7f\x80\xed')
        bad.append(bytes(t))


def refused(t):
    try:
        loads(t)
    except ValueError:  # JSONDecodeError, UnicodeDecodeError, and the digits of an int
        return True
    return False


write("refuse.golden", ([quote(t)] for t in bad if refused(t)))
