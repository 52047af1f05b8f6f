//! Why a program could not be confined.

use std::io;
use std::path::PathBuf;

/// Why a program could not be started in a profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// This machine cannot enforce the profile.
    #[error("{0}")]
    Unsupported(String),
    /// A path of the profile cannot be resolved.
    #[error("cannot grant access to `{}`: {source}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// What the system reported.
        source: io::Error,
    },
    /// A path of the profile would expose what the sandbox provides itself.
    #[error("cannot grant access to `{}`: it is too broad", .0.display())]
    TooBroad(PathBuf),
    /// A path of the access lies in one that is hidden.
    #[error("cannot grant access to `{}`: it lies in a hidden directory", .0.display())]
    Hidden(PathBuf),
    /// The session's namespaces could not be created.
    #[error("cannot create the sandbox of the session: {0}")]
    Session(String),
    /// The system reported an error.
    #[error(transparent)]
    Io(#[from] io::Error),
}
