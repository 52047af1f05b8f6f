//! Has the service built again when the page has changed that is a part of it.

#![allow(clippy::print_stdout, reason = "a build script speaks to cargo so")]

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
}
