// The other side of crosstest_test.go: the crate rawarray.
//
//   rawarray-crosstest write DIR   writes DIR/TYPE.ra for every element type, 24 elements each
//   rawarray-crosstest read DIR    reads DIR/TYPE-*.ra, checks the elements, prints file name and dims
//
// Element i of every file is nth(i), which the Go test computes in its own way.

use half::{bf16, f16};
use num_complex::Complex;
use rawarray::{RawArray, RawArrayType};
use std::{env, fmt, fs, process};

trait Sample: RawArrayType + PartialEq {
    fn nth(i: usize) -> Self;
}

macro_rules! integers {
    ($($t:ty),*) => { $(impl Sample for $t {
        fn nth(i: usize) -> Self { (i as i64 * 37 - 100) as $t }
    })* };
}
integers!(i8, i16, i32, i64, i128, u8, u16, u32, u64, u128);

fn number(i: usize) -> f64 {
    i as f64 * 0.5 - 3.0
}

impl Sample for f16 {
    fn nth(i: usize) -> Self {
        f16::from_f64(number(i))
    }
}
impl Sample for bf16 {
    fn nth(i: usize) -> Self {
        bf16::from_f64(number(i))
    }
}
impl Sample for f32 {
    fn nth(i: usize) -> Self {
        number(i) as f32
    }
}
impl Sample for f64 {
    fn nth(i: usize) -> Self {
        number(i)
    }
}
impl Sample for Complex<f32> {
    fn nth(i: usize) -> Self {
        Complex::new(f32::nth(i), -f32::nth(i))
    }
}
impl Sample for Complex<f64> {
    fn nth(i: usize) -> Self {
        Complex::new(f64::nth(i), -f64::nth(i))
    }
}

// The composite type of the format's description.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Foo {
    info: [u8; 12],
    index: u32,
    v: [f64; 8],
}
impl RawArrayType for Foo {}
impl fmt::Display for Foo {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:?}", self)
    }
}
impl Sample for Foo {
    fn nth(i: usize) -> Self {
        let mut foo = Foo {
            info: *b"item........",
            index: i as u32 * 1000,
            v: [0.0; 8],
        };
        foo.info[11] = b'a' + i as u8;
        for (j, x) in foo.v.iter_mut().enumerate() {
            *x = number(i) + j as f64;
        }
        foo
    }
}

fn write<T: Sample>(dir: &str, name: &str) {
    let data: Vec<T> = (0..24).map(T::nth).collect();
    let ra: RawArray<T> = data.into();
    ra.write(format!("{dir}/{name}.ra")).unwrap();
}

fn read<T: Sample>(dir: &str, name: &str) {
    for entry in fs::read_dir(dir).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if !file.starts_with(&format!("{name}-")) {
            continue;
        }
        let ra = RawArray::<T>::read(format!("{dir}/{file}")).unwrap();
        for (i, x) in ra.data_as_ref().iter().enumerate() {
            assert!(
                *x == T::nth(i),
                "{file}: element {i} is {x}, expected {}",
                T::nth(i)
            );
        }
        println!("{file} {:?} {}", ra.dims(), ra.data_as_ref().len());
    }
}

macro_rules! each_type {
    ($f:ident, $dir:expr, $($name:literal: $t:ty),*) => {{ $($f::<$t>($dir, $name);)* }};
}

macro_rules! every {
    ($f:ident, $dir:expr) => {
        each_type!($f, $dir, "i8": i8, "i16": i16, "i32": i32, "i64": i64, "i128": i128,
            "u8": u8, "u16": u16, "u32": u32, "u64": u64, "u128": u128,
            "f16": f16, "bf16": bf16, "f32": f32, "f64": f64,
            "c64": Complex<f32>, "c128": Complex<f64>, "foo": Foo)
    };
}

fn main() {
    let args: Vec<String> = env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [_, "write", dir] => every!(write, dir),
        [_, "read", dir] => every!(read, dir),
        _ => {
            eprintln!("usage: rawarray-crosstest write|read DIR");
            process::exit(2)
        }
    }
}
