//! The sandbox for tests, whose executables cannot be its helper themselves.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use recount_sandbox::{Confinement, Policy, Sandbox};

/// Returns a confinement that is required, with the helper `recount-sandbox` of this build.
///
/// # Panics
///
/// The helper cannot be built.
pub fn confinement() -> Confinement {
    Confinement::new(Policy::Required, Sandbox::with_helper(helper()))
}

/// Returns the path of the helper, which is built if it does not exist.
///
/// # Panics
///
/// The helper cannot be built.
#[allow(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]
pub fn helper() -> &'static Path {
    static HELPER: OnceLock<PathBuf> = OnceLock::new();
    HELPER.get_or_init(|| {
        let test = std::env::current_exe().expect("a test is an executable");
        // Tests lie in `target/PROFILE/deps`, programs in `target/PROFILE`.
        let directory = test.ancestors().nth(2).expect("a test lies in a directory of the build");
        let helper = directory.join("recount-sandbox");
        if !helper.exists() {
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let mut build = Command::new(cargo);
            build.args(["build", "--quiet", "--package", "recount-sandbox", "--bin", "recount-sandbox"]);
            build.args(if directory.ends_with("release") { &["--release"][..] } else { &[] });
            let status = build.status().expect("cargo can be run");
            assert!(status.success() && helper.exists(), "cannot build the helper `{}`", helper.display());
        }
        helper
    })
}
