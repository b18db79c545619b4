// Rust sees ndfile.h as bindgen translates it. NDFILE_PREFIX is where `make install` has put the library.
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=NDFILE_PREFIX");
    let prefix = PathBuf::from(std::env::var("NDFILE_PREFIX").unwrap_or("/usr/local".into()));
    let library = prefix.join("lib");
    println!("cargo:rustc-link-search=native={}", library.display());
    println!("cargo:rustc-link-lib=dylib=ndfile");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", library.display());
    bindgen::Builder::default()
        .header(prefix.join("include/ndfile.h").to_string_lossy())
        .allowlist_item("(ndf|NDF)_.*")
        .prepend_enum_name(false)
        .derive_default(true)
        .generate()
        .expect("ndfile.h was not found: set NDFILE_PREFIX")
        .write_to_file(PathBuf::from(std::env::var("OUT_DIR").unwrap()).join("ndfile.rs"))
        .unwrap();
}
