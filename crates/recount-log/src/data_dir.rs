//! The data directory.

use std::io;
use std::path::Path;

/// Creates a directory with its parents, accessible to its owner only, because conversations are private. An existing
/// directory is not changed.
///
/// [`Log::open`](crate::Log::open) creates its data directory. Programs that store other files there first use this function.
///
/// ```
/// # let parent = tempfile::tempdir()?;
/// let data = parent.path().join("data");
/// recount_log::make_private_directory(&data)?;
/// recount_log::make_private_directory(&data)?;
/// assert!(data.is_dir());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// If the directory cannot be created, or the path is not a directory.
pub fn make_private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}

/// Creates an empty file that only its owner can read, if it does not exist, because an existing directory may be readable by
/// others. Errors are ignored: opening the file reports them.
pub(crate) fn make_private_file(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}
