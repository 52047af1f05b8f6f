//! Reads and writes checkpoint files.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use recount_message::wire::{Fields, Raw, write_key};
use recount_message::{Checkpoint, Object};

/// A file that a checkpoint will be written to.
pub(crate) struct CheckpointFile {
    /// The path as the user gave it.
    path: PathBuf,
    /// The resolved path. If the path is a symbolic link, its target is replaced and the link is kept.
    target: PathBuf,
}

/// The key of the dialect reader's state, beside the state of the fold.
const READER_KEY: &str = "reader";

/// Reads a checkpoint and the state of the dialect reader. The state is empty if the file has none.
pub(crate) fn read(path: &Path) -> Result<(Checkpoint, Object)> {
    let text = fs::read_to_string(path).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "\nhint: leave out `--resume` for the first piece of a stream",
            _ => "",
        };
        anyhow::anyhow!("cannot read the checkpoint {}: {error}{hint}", path.display())
    })?;
    let checkpoint = Checkpoint::from_json(&text).with_context(|| format!("{} is not a checkpoint", path.display()))?;
    let mut fields = Fields::document(&text)?;
    let reader = fields.take(READER_KEY).map(Raw::to_value).transpose()?;
    Ok((checkpoint, reader.and_then(|reader| reader.to_object()).unwrap_or_default()))
}

impl CheckpointFile {
    /// Validates the path before the input is read, so that no work is lost.
    ///
    /// # Errors
    ///
    /// Fails if the path is not a regular file, or if its directory does not exist.
    pub(crate) fn at(path: &Path) -> Result<Self> {
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if target.exists() && !target.is_file() {
            bail!("the checkpoint {} is not a regular file", path.display());
        }
        let file = Self { path: path.to_owned(), target };
        if !file.directory().is_dir() {
            bail!("there is no directory {} for the checkpoint", file.directory().display());
        }
        Ok(file)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a checkpoint atomically: after a failure, the file still holds the previous checkpoint.
    pub(crate) fn write(&self, checkpoint: &Checkpoint, reader: &Object) -> Result<()> {
        let temporary = self.temporary_path();
        let mut text = checkpoint.to_json();
        if !reader.is_empty() {
            text.pop();
            write_key(&mut text, READER_KEY);
            text.push_str(&reader.to_json());
            text.push('}');
        }
        let written = write_synced(&temporary, &text).and_then(|()| fs::rename(&temporary, &self.target));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written.with_context(|| format!("cannot write the checkpoint {}", self.path.display()))
    }

    fn directory(&self) -> &Path {
        match self.target.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        }
    }

    /// Returns a temporary path in the same directory: a rename is atomic only within one file system.
    fn temporary_path(&self) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(self.target.file_name().unwrap_or_default());
        name.push(format!(".{}.tmp", std::process::id()));
        self.directory().join(name)
    }
}

fn write_synced(path: &Path, json: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(json.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}
