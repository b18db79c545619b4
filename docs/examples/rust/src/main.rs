//! Saves an array, and reads a part of it: ndfile's C functions, with errors as Rust has them.
mod ndf {
    #![allow(non_camel_case_types, non_upper_case_globals, dead_code)]
    include!(concat!(env!("OUT_DIR"), "/ndfile.rs"));
}
use std::ffi::{CStr, CString};
use std::ptr::null;

/// The message of an error: path, array, what was expected and what was found.
fn check(status: i32, err: &ndf::ndf_error) -> Result<(), String> {
    if status == ndf::NDF_OK as i32 {
        return Ok(());
    }
    // SAFETY: the library ends the message with a NUL.
    Err(unsafe { CStr::from_ptr(err.message.as_ptr()) }
        .to_string_lossy()
        .into_owned())
}

/// A struct of the library, all zero but its size.
fn zero<T: Default>(set: impl FnOnce(&mut T)) -> T {
    let mut s = T::default();
    set(&mut s);
    s
}

fn save(path: &CString, t: &[f64], shape: [i64; 2]) -> Result<(), String> {
    assert_eq!(t.len() as i64, shape[0] * shape[1]);
    let item = zero(|i: &mut ndf::ndf_item| {
        i.struct_size = size_of::<ndf::ndf_item>() as u32;
        i.name = c"t".as_ptr();
        i.dtype = c"f8".as_ptr();
        i.ndim = 2;
        i.shape = shape.as_ptr();
        i.data = t.as_ptr().cast();
        i.attrs_json = c"{\"units\": \"K\"}".as_ptr();
    });
    let mut err = ndf::ndf_error::default();
    // SAFETY: everything that the item points to lives until the call returns, and nothing is kept.
    let status =
        unsafe { ndf::ndf_save(path.as_ptr(), null(), &item, 1, null(), null(), &mut err) };
    check(status, &err)
}

/// An open file; closed when it goes out of scope.
struct File(ndf::ndf_file);

impl File {
    fn open(path: &CString) -> Result<File, String> {
        let (mut handle, mut err) = (0, ndf::ndf_error::default());
        // SAFETY: the library writes the handle and the error, and keeps nothing.
        check(
            unsafe { ndf::ndf_file_open(path.as_ptr(), null(), &mut handle, &mut err) },
            &err,
        )?;
        Ok(File(handle))
    }

    /// A part of an array: positions and counts along each axis, row-major.
    fn read(&self, name: &CStr, start: [i64; 2], count: [i64; 2]) -> Result<Vec<f64>, String> {
        let (mut array, mut err) = (0, ndf::ndf_error::default());
        let mut out = vec![0f64; (count[0] * count[1]) as usize];
        // SAFETY: out has the elements of the box, and the handle is closed before this returns.
        unsafe {
            check(
                ndf::ndf_file_array(self.0, name.as_ptr(), &mut array, &mut err),
                &err,
            )?;
            let (f8, data) = (c"f8".as_ptr(), out.as_mut_ptr().cast());
            let none = std::ptr::null_mut();
            let status = ndf::ndf_array_read(
                array,
                2,
                start.as_ptr(),
                count.as_ptr(),
                null(),
                f8,
                data,
                null(),
                none,
                &mut err,
            );
            ndf::ndf_array_close(array, std::ptr::null_mut());
            check(status, &err)?;
        }
        Ok(out)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the handle is this object's, and is closed once.
        unsafe { ndf::ndf_file_close(self.0, std::ptr::null_mut()) };
    }
}

fn main() -> Result<(), String> {
    let path = CString::new("weather.ds").unwrap();
    save(&path, &[271.25, 272.0, 272.5, 268.0, 269.75, 270.5], [2, 3])?;
    println!(
        "last day: {:?}",
        File::open(&path)?.read(c"t", [0, 2], [2, 1])?
    );
    let missing = CString::new("none.ds").unwrap();
    println!("{}", File::open(&missing).err().unwrap());
    Ok(())
}
