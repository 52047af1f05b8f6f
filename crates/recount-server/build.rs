//! Rebuilds the crate when the web page has changed, which is embedded in it.

#![allow(clippy::print_stdout, reason = "cargo reads the standard output of build scripts")]

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
}
