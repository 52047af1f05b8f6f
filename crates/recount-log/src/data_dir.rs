//! The data directory.

use std::io;
use std::path::Path;

/// Makes a directory that nobody else looks into, with those that it is in: conversations are private. One that exists stays
/// as it is.
///
/// A log makes its data directory by itself. This is for what stands beside it there and may come first.
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
/// When it cannot be made, or something else has that name.
pub fn make_private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)
}

/// Makes an empty file that only its owner can read, if there is none: a directory that somebody else has made may be open to
/// others. Where that cannot be done, whoever opens the file says why.
pub(crate) fn make_private_file(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}
