//! What is kept aside: long results, images and old messages that requests do not have whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use recount_message::wire::Fnv1a;

/// A directory for what is too long to be shown to the model: long results of tools, images beyond those that are sent, and
/// messages that were summarised. The model is told where it is and can read it with the tool `read`, if that
/// [may](crate::builtin::Workspace::offload_to) look there.
///
/// Files are named by what is in them, so that a process that goes on after another one died writes the same files.
///
/// ```
/// use recount_agent::Offload;
///
/// let offload = Offload::to("/var/lib/friday/aside");
/// assert_eq!(offload.directory(), std::path::Path::new("/var/lib/friday/aside"));
/// ```
#[cfg_attr(not(all(feature = "builtin", unix)), allow(rustdoc::broken_intra_doc_links))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offload {
    directory: PathBuf,
}

impl Offload {
    /// Keeps it in a directory, which is made when it is needed.
    pub fn to(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Keeps something, and says where.
    pub(crate) async fn keep(&self, name: String, content: Vec<u8>) -> io::Result<String> {
        let directory = self.directory.clone();
        tokio::task::spawn_blocking(move || write(&directory, &name, &content)).await.map_err(io::Error::other)?
    }
}

fn write(directory: &Path, name: &str, content: &[u8]) -> io::Result<String> {
    make(directory)?;
    // Where links lead is settled now, so that the path is the one that a reader comes to.
    let path = fs::canonicalize(directory)?.join(name);
    // A file that another process has begun is replaced, and a link that somebody put there is not followed.
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path)?.write_all(content)?;
    path.into_os_string().into_string().map_err(|_| io::Error::other("the directory's name is not UTF-8"))
}

fn make(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// A file name for something of a message: readable as far as possible, and another one for each.
pub(crate) fn file_name(kind: &str, ids: &[&str], extension: &str) -> String {
    // With something between the ids that none of them has.
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
    fn names_are_harmless_and_differ() {
        let name = file_name("../../etc/passwd", &["a", "b"], "txt");
        assert!(name.starts_with("etcpasswd-") && !name.contains('/'));
        assert_ne!(name, file_name("../../etc/passwd", &["ab", ""], "txt"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_way_is_replaced_and_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        fs::write(&victim, "untouched").unwrap();
        let aside = directory.path().join("aside");
        fs::create_dir(&aside).unwrap();
        std::os::unix::fs::symlink(&victim, aside.join("result.txt")).unwrap();
        let path = write(&aside, "result.txt", b"mine").unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "mine");
        assert_eq!(fs::read_to_string(victim).unwrap(), "untouched");
    }
}
