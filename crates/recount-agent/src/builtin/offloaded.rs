//! Output that is too long for the model, offloaded to files.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use recount_message::{IdSource, RandomIds};

use super::workspace::Workspace;
use crate::tool::ToolError;

/// The directory of offloaded output.
#[derive(Debug)]
pub(super) struct OffloadDirectory {
    path: OnceLock<PathBuf>,
    /// The directory is deleted with the workspace.
    temporary: bool,
}

impl OffloadDirectory {
    /// A temporary directory. It is created on first use.
    pub(super) fn temporary() -> Self {
        Self { path: OnceLock::new(), temporary: true }
    }

    /// A persistent directory. It is created on first use.
    pub(super) fn persistent(path: PathBuf) -> Self {
        Self { path: OnceLock::from(path), temporary: false }
    }

    /// Returns whether a path is inside of the directory.
    pub(super) fn contains(&self, target: &Path) -> bool {
        self.path.get().is_some_and(|path| target.starts_with(path))
    }

    /// Returns the directory if it exists.
    pub(super) fn existing(&self) -> Option<&Path> {
        self.path.get().map(PathBuf::as_path).filter(|path| path.is_dir())
    }

    /// Creates a file for the output of a tool.
    pub(super) fn create_file(&self, tool: &str) -> io::Result<(fs::File, PathBuf)> {
        let path = self.directory()?.join(format!("{tool}-{}.txt", RandomIds.next_id()));
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok((file, path))
    }

    fn directory(&self) -> io::Result<&Path> {
        if let Some(path) = self.path.get() {
            DirBuilder::new().recursive(true).mode(0o700).create(path)?;
            return Ok(path);
        }
        let path = fs::canonicalize(std::env::temp_dir())?.join(format!("recount-{}", RandomIds.next_id()));
        // The name is random, and an existing directory is an error.
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(self.path.get_or_init(|| path))
    }
}

impl Drop for OffloadDirectory {
    fn drop(&mut self) {
        if let Some(path) = self.path.get().filter(|_| self.temporary) {
            // An error cannot be reported from here.
            let _ = fs::remove_dir_all(path);
        }
    }
}

impl Workspace {
    /// Truncates a text to the output limit. A longer text is offloaded, and the result refers to the file.
    pub(super) fn truncate_output(&self, tool: &str, text: String) -> Result<String, ToolError> {
        let limit = self.output_limit();
        if text.len() <= limit {
            return Ok(text);
        }
        let (mut file, path) = self.offload_directory().create_file(tool)?;
        file.write_all(text.as_bytes())?;
        let (shown, _) = text.split_at(text.floor_char_boundary(limit));
        Ok(format!("{shown}{}", truncation_note(&path, text.len() as u64)))
    }
}

/// Describes where the complete output is.
pub(super) fn truncation_note(path: &Path, bytes: u64) -> String {
    let path = path.display();
    format!(
        "\n[truncated: the complete output, {bytes} bytes, is in `{path}`; use `read` with `offset` and `limit`, or `grep`]"
    )
}
