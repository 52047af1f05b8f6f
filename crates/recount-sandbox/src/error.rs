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
        /// The error of the system.
        source: io::Error,
    },
    /// A path of the profile would expose what the sandbox provides itself.
    #[error("cannot grant access to `{}`: it is too broad", .0.display())]
    TooBroad(PathBuf),
    /// A path of the access lies in one that is hidden.
    #[error("cannot grant access to `{}`: it lies in a hidden directory", .0.display())]
    Hidden(PathBuf),
    /// A path of the profile is a symbolic link that a program may have put into a working directory.
    #[error(
        "cannot grant access to `{}`: a symbolic link in a working directory leads out of it; hint: name the path that it leads to",
        .0.display()
    )]
    Redirected(PathBuf),
    /// A path of the profile is not valid Unicode.
    #[error("cannot use `{}` in a sandbox: its name is not valid UTF-8", .0.display())]
    NotUnicode(PathBuf),
    /// The session's namespaces could not be created.
    #[error("cannot create the sandbox of the session: {0}")]
    Session(String),
    /// The system reported an error.
    #[error(transparent)]
    Io(#[from] io::Error),
}
