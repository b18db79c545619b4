// The Rust side of the benchmarks: the crate rawarray does what the driver asks for on stdin, as
// benchmarks/worker.go describes it.

use rawarray::{RawArray, RawArrayType};
use std::io::{self, BufRead, Write};
use std::panic;

enum Refusal {
    Skip(String),
    Error(String),
}
use Refusal::{Error, Skip};

impl From<io::Error> for Refusal {
    fn from(e: io::Error) -> Self {
        Error(e.to_string())
    }
}

struct Task<'a> {
    operation: &'a str,
    elements: usize,
    paths: Vec<String>,
}

/// Elements: integers are 0, 1, 2 and so on, floats are ones.
trait Element: RawArrayType + PartialEq {
    fn nth(i: usize) -> Self;
    fn sum(values: &[Self]) -> f64;
}

macro_rules! element {
    ($type:ty, $wide:ty, $nth:expr) => {
        impl Element for $type {
            fn nth(i: usize) -> Self {
                let nth: fn(usize) -> $type = $nth;
                nth(i)
            }
            fn sum(values: &[Self]) -> f64 {
                let mut sums: [$wide; 4] = [0 as $wide; 4];
                let fours = values.chunks_exact(4);
                for x in fours.remainder() {
                    sums[0] += *x as $wide;
                }
                for four in fours {
                    for (sum, x) in sums.iter_mut().zip(four) {
                        *sum += *x as $wide;
                    }
                }
                sums.iter().sum::<$wide>() as f64
            }
        }
    };
}
element!(i32, i64, |i| i as i32);
element!(u32, i64, |i| i as u32);
element!(i64, i64, |i| i as i64);
element!(f32, f64, |_| 1.0);
element!(f64, f64, |_| 1.0);

fn clock(id: libc::clockid_t) -> i64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: t is a timespec of ours.
    unsafe { libc::clock_gettime(id, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

/// Wall and CPU time of the work for all paths, in ns, and what it gave for the last.
fn timed<R>(
    paths: &[String],
    work: impl Fn(&String) -> io::Result<R>,
) -> Result<(i64, i64, R), Refusal> {
    let wall = clock(libc::CLOCK_MONOTONIC);
    let cpu = clock(libc::CLOCK_PROCESS_CPUTIME_ID);
    let mut last = None;
    for path in paths {
        drop(last.take()); // so that memory is given back before the next file, as users do
        last = Some(work(path)?);
    }
    let cpu = clock(libc::CLOCK_PROCESS_CPUTIME_ID) - cpu;
    let wall = clock(libc::CLOCK_MONOTONIC) - wall;
    Ok((wall, cpu, last.ok_or(Error("no files".into()))?))
}

fn run<T: Element>(task: &Task) -> Result<(i64, i64), Refusal> {
    let expected: Vec<T> = (0..task.elements).map(T::nth).collect();
    match task.operation {
        "write" => {
            // One axis, whatever the shape: after reshape the crate would write a file that it cannot read, since its
            // number of axes stays 1.
            let ra: RawArray<T> = expected.into();
            let (wall, cpu, ()) = timed(&task.paths, |path| ra.write(path))?;
            Ok((wall, cpu))
        }
        "read" => {
            let (wall, cpu, ra) = timed(&task.paths, |path| RawArray::<T>::read(path))?;
            if *ra.data_as_ref() != expected {
                return Err(Error("not what was written".into()));
            }
            Ok((wall, cpu))
        }
        "read-sum" => {
            let (wall, cpu, sum) = timed(&task.paths, |path| {
                Ok(T::sum(RawArray::<T>::read(path)?.data_as_ref()))
            })?;
            if sum != T::sum(&expected) {
                return Err(Error(format!("the elements have the sum {sum}")));
            }
            Ok((wall, cpu))
        }
        other => Err(Skip(format!("the crate has no {other}"))),
    }
}

/// Does CONTENDER OPERATION CASE FOLDER COUNT.
fn serve(request: &str) -> Result<(i64, i64), Refusal> {
    let fields: Vec<&str> = request.split(' ').collect();
    let [contender, operation, case, folder, count] = fields[..] else {
        return Err(Error("expected 5 fields".into()));
    };
    if contender != "crate" {
        return Err(Skip(format!("no contender {contender} here")));
    }
    if case.contains(['*', '/']) {
        return Err(Skip(
            "a RawArray file holds one array, without chunks".into(),
        ));
    }
    let bad = |_| Error(format!("bad case or count: {request}"));
    let (dtype, shape) = case
        .split_once(':')
        .ok_or(Error("a case begins with a dtype and a colon".into()))?;
    let count: usize = count.parse().map_err(bad)?;
    let task = Task {
        operation,
        elements: shape
            .split('x')
            .map(str::parse::<usize>)
            .product::<Result<_, _>>()
            .map_err(bad)?,
        paths: (0..count).map(|i| format!("{folder}/{i:06}.ra")).collect(),
    };
    match dtype {
        "int32" => run::<i32>(&task),
        "uint32" => run::<u32>(&task),
        "int64" => run::<i64>(&task),
        "float32" => run::<f32>(&task),
        "float64" => run::<f64>(&task),
        _ => Err(Skip(format!("no elements of type {dtype} here"))),
    }
}

fn main() -> io::Result<()> {
    println!("ready rawarray=0.1.4");
    for line in io::stdin().lock().lines() {
        let line = line?;
        // The crate panics at a file that it cannot read.
        match panic::catch_unwind(|| serve(&line)) {
            Ok(Ok((wall, cpu))) => println!("ok {wall} {cpu}"),
            Ok(Err(Skip(why))) => println!("skip {why}"),
            Ok(Err(Error(why))) => println!("error {why}"),
            Err(_) => println!("error the crate has panicked"),
        }
        io::stdout().flush()?;
    }
    Ok(())
}
