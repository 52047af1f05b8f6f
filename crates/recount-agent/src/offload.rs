//! Writing long results, images and old messages to files.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use recount_message::wire::Fnv1a;

/// A directory for content that requests leave out: the rest of long tool results, images beyond the limit, and
/// summarised messages. The model receives the paths, and can read the files with the tool `read` if its workspace
/// [allows it](crate::builtin::Workspace::offload_to).
///
/// File names depend on the ids of the content, so that a resumed agent writes the same files.
///
/// ```
/// use recount_agent::Offload;
///
/// let offload = Offload::to("/var/lib/friday/offload");
/// assert_eq!(offload.directory(), std::path::Path::new("/var/lib/friday/offload"));
/// ```
#[cfg_attr(not(all(feature = "builtin", unix)), allow(rustdoc::broken_intra_doc_links))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offload {
    directory: PathBuf,
}

impl Offload {
    /// Creates the options for a directory. The directory is created when the first file is written.
    pub fn to(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Returns the directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes a file and returns its path.
    pub(crate) async fn write(&self, name: String, content: Vec<u8>) -> io::Result<String> {
        let directory = self.directory.clone();
        tokio::task::spawn_blocking(move || write_file(&directory, &name, &content)).await.map_err(io::Error::other)?
    }
}

fn write_file(directory: &Path, name: &str, content: &[u8]) -> io::Result<String> {
    create_directory(directory)?;
    // Resolve links, so that the model receives the path that tools see.
    let path = fs::canonicalize(directory)?.join(name);
    // Replace a file that a dead process has left incomplete, and do not follow a link in its place.
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path)?.write_all(content)?;
    path.into_os_string().into_string().map_err(|_| io::Error::other("the path of the directory is not valid UTF-8"))
}

fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Returns a unique, readable file name for a part of a message.
pub(crate) fn file_name(kind: &str, ids: &[&str], extension: &str) -> String {
    // The separator does not occur in ids.
    let hash = Fnv1a::of(&ids.join("\0")).value();
    let kind: String =
        kind.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').take(40).collect();
    format!("{kind}-{hash:016x}.{extension}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_sanitized_and_unique() {
        let name = file_name("../../etc/passwd", &["a", "b"], "txt");
        assert!(name.starts_with("etcpasswd-") && !name.contains('/'));
        assert_ne!(name, file_name("../../etc/passwd", &["ab", ""], "txt"));
    }

    #[cfg(unix)]
    #[test]
    fn write_replaces_a_symbolic_link() {
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        fs::write(&victim, "untouched").unwrap();
        let offload = directory.path().join("offload");
        fs::create_dir(&offload).unwrap();
        std::os::unix::fs::symlink(&victim, offload.join("result.txt")).unwrap();
        let path = write_file(&offload, "result.txt", b"mine").unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "mine");
        assert_eq!(fs::read_to_string(victim).unwrap(), "untouched");
    }
}
