//! Files below allowed directories.

use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio::fs;
use tokio::io::AsyncReadExt;

use super::{Failure, MediaErrorKind};

/// Reads a file, if it really lies below one of the directories.
pub(super) async fn read(path: &Path, directories: &[PathBuf], max_bytes: usize) -> Result<Bytes, Failure> {
    // The same words for what is not there and for what must not be seen: otherwise they tell what there is.
    let outside = || Failure::forbidden("no file below an allowed directory");
    let real = fs::canonicalize(path).await.map_err(|_| outside())?;
    if !is_below_any(&real, directories).await {
        return Err(outside());
    }
    // A pipe or a device would be opened by looking at it, and might never end.
    if !fs::metadata(&real).await.map_err(|error| unreadable(&error))?.is_file() {
        return Err(outside());
    }
    let file = fs::File::open(&real).await.map_err(|error| unreadable(&error))?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).await.map_err(|error| unreadable(&error))?;
    if bytes.len() > max_bytes { Err(Failure::too_large(max_bytes)) } else { Ok(bytes.into()) }
}

async fn is_below_any(real: &Path, directories: &[PathBuf]) -> bool {
    for directory in directories {
        // An allowed directory may itself be a link.
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
