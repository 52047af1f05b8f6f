//! What is too long to be shown.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use recount_message::{IdSource, RandomIds};

use super::workspace::Workspace;
use crate::tool::ToolError;

/// A directory for what is too long to be shown.
#[derive(Debug)]
pub(super) struct Aside {
    path: OnceLock<PathBuf>,
    /// It goes with the workspace.
    temporary: bool,
}

impl Aside {
    /// One that is made when it is needed.
    pub(super) fn temporary() -> Self {
        Self { path: OnceLock::new(), temporary: true }
    }

    /// One that stays. It is made when it is needed, too.
    pub(super) fn lasting(path: PathBuf) -> Self {
        Self { path: OnceLock::from(path), temporary: false }
    }

    pub(super) fn holds(&self, target: &Path) -> bool {
        self.path.get().is_some_and(|path| target.starts_with(path))
    }

    /// The directory, if anything was put there.
    pub(super) fn existing(&self) -> Option<&Path> {
        self.path.get().map(PathBuf::as_path).filter(|path| path.is_dir())
    }

    /// A new file for what a tool has to say.
    pub(super) fn file(&self, tool: &str) -> io::Result<(fs::File, PathBuf)> {
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
        // The name cannot be guessed, and a directory that is there already is an error.
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(self.path.get_or_init(|| path))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(path) = self.path.get().filter(|_| self.temporary) {
            // Nobody is left who could do something about it.
            let _ = fs::remove_dir_all(path);
        }
    }
}

impl Workspace {
    /// As much of a text as may be shown. The whole is kept aside if that is not all, and the model told how to go on.
    pub(super) fn shorten(&self, tool: &str, text: String) -> Result<String, ToolError> {
        let limit = self.shown_bytes();
        if text.len() <= limit {
            return Ok(text);
        }
        let (mut file, path) = self.aside().file(tool)?;
        file.write_all(text.as_bytes())?;
        let (shown, _) = text.split_at(text.floor_char_boundary(limit));
        Ok(format!("{shown}{}", rest_is_in(&path, text.len() as u64)))
    }
}

/// Says where the whole of an output is.
pub(super) fn rest_is_in(path: &Path, bytes: u64) -> String {
    let path = path.display();
    format!(
        "\n[cut: all {bytes} bytes are in `{path}`; use `read` with `offset` and `limit`, or `grep`, to see more of it]"
    )
}
