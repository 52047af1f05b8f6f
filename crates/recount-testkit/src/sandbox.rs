//! The sandbox for tests. It uses the helper executable `recount-sandbox`, because test executables cannot be their own helper.

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
        // Test executables are in `target/PROFILE/deps`, binaries in `target/PROFILE`.
        let directory = test.ancestors().nth(2).expect("a test lies in a directory of the build");
        let helper = directory.join("recount-sandbox");
        if is_older(&helper, &sources()) {
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

/// The directory of the helper's sources.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../recount-sandbox/src")
}

/// Whether a file does not exist or is older than a file below a directory.
fn is_older(file: &Path, directory: &Path) -> bool {
    let Ok(built) = file.metadata().and_then(|metadata| metadata.modified()) else { return true };
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        let changed = path.metadata().and_then(|metadata| metadata.modified());
        if path.is_dir() { is_older(file, &path) } else { changed.is_ok_and(|changed| changed > built) }
    })
}
