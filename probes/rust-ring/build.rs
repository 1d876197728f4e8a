//! Tells the program what it is built from: the library's version in
//! Cargo.lock, the compiler's, and the flags that change its speed.

use std::env;
use std::fs;
use std::process::Command;

const LIBRARY: &str = "ring";

fn main() {
    let lock = fs::read_to_string("Cargo.lock").expect("Cargo.lock");
    let entry = format!("name = \"{LIBRARY}\"\nversion = \"");
    let (_, rest) = lock
        .split_once(&entry)
        .expect("the library is in Cargo.lock");
    let (version, _) = rest.split_once('"').expect("a version");
    println!("cargo::rustc-env=PROBE_VERSION={version}");

    let rustc = Command::new(env::var("RUSTC").unwrap())
        .arg("--version")
        .output()
        .unwrap();
    let said = String::from_utf8(rustc.stdout).unwrap(); // rustc 1.95.0 (59807616e 2026-04-14)
    let number = said.split(' ').nth(1).expect("a version");
    println!("cargo::rustc-env=PROBE_TOOLCHAIN=rustc-{}", number.trim());

    let mut mode = format!(
        "{},opt-level={}",
        env::var("PROFILE").unwrap(),
        env::var("OPT_LEVEL").unwrap()
    );
    for flag in env::var("CARGO_ENCODED_RUSTFLAGS")
        .unwrap_or_default()
        .split('\x1f')
        .filter(|f| !f.is_empty())
    {
        mode.push(',');
        mode.push_str(&flag.replace(' ', "_"));
    }
    println!("cargo::rustc-env=PROBE_MODE={mode}");

    println!("cargo::rerun-if-changed=Cargo.lock");
}
