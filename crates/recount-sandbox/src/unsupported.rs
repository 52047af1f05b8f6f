//! Systems without a sandbox: nothing can be confined, and no process is a helper.

use std::convert::Infallible;
use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan::View;
use crate::{Level, Limits};

pub(crate) const MARK: &str = "__recount-sandbox";
pub(crate) const SPEC: &str = "_RECOUNT_SANDBOX_";
pub(crate) const PROGRAM_VARIABLE: &str = "_RECOUNT_PROGRAM_";

/// The namespaces of a session, of which there are none.
#[derive(Debug)]
pub(crate) struct Session(Infallible);

impl Session {
    pub(crate) fn send(&self, _: BorrowedFd<'_>) -> rustix::io::Result<()> {
        match self.0 {}
    }

    pub(crate) fn receive(_: BorrowedFd<'_>) -> rustix::io::Result<Option<Self>> {
        Ok(None)
    }
}

/// The task of a helper.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) level: Level,
    pub(crate) system: Vec<(PathBuf, View)>,
    pub(crate) views: Vec<(PathBuf, View)>,
    pub(crate) directory: PathBuf,
    pub(crate) network: bool,
    pub(crate) limits: Limits,
    pub(crate) in_session: bool,
    pub(crate) tmp: Option<PathBuf>,
    pub(crate) lifeline: Option<Lifeline>,
}

/// A pipe of the process that has started the helper.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Lifeline {
    pub(crate) process: u32,
    pub(crate) descriptor: i32,
    pub(crate) inode: u64,
}

pub(crate) fn run(_: impl Iterator<Item = OsString>) -> Option<u8> {
    None
}
