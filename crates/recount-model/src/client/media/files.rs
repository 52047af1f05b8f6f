//! Files in allowed directories.

use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio::fs;
use tokio::io::AsyncReadExt;

use super::{Failure, MediaErrorKind};

/// Reads a file that is located in one of the directories after resolving links.
pub(super) async fn read(path: &Path, directories: &[PathBuf], max_bytes: usize) -> Result<Bytes, Failure> {
    // The error is the same for a missing and for a forbidden file, so that it does not reveal which files exist.
    let forbidden = || Failure::forbidden("not a file in an allowed directory");
    let real = fs::canonicalize(path).await.map_err(|_| forbidden())?;
    if !is_in_any(&real, directories).await {
        return Err(forbidden());
    }
    // Opening a pipe or a device can block forever.
    if !fs::metadata(&real).await.map_err(|error| unreadable(&error))?.is_file() {
        return Err(forbidden());
    }
    let file = fs::File::open(&real).await.map_err(|error| unreadable(&error))?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).await.map_err(|error| unreadable(&error))?;
    if bytes.len() > max_bytes { Err(Failure::too_large(max_bytes)) } else { Ok(bytes.into()) }
}

async fn is_in_any(real: &Path, directories: &[PathBuf]) -> bool {
    for directory in directories {
        // The allowed directory may itself be a link.
        if let Ok(directory) = fs::canonicalize(directory).await
            && real.starts_with(&directory)
        {
            return true;
        }
    }
    false
}

fn unreadable(error: &io::Error) -> Failure {
    let kind =
        if error.kind() == io::ErrorKind::NotFound { MediaErrorKind::NotFound } else { MediaErrorKind::Unreachable };
    Failure::new(kind, error.to_string())
}
