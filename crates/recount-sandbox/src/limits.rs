//! Resource limits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The resources that a confined program may use.
///
/// Output and wall time are limited by the caller, who reads the output and waits for the end; the kernel enforces the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// CPU time of one process, in seconds.
    pub cpu_seconds: u64,
    /// Private memory of one process, in MiB.
    pub memory_mib: u64,
    /// Processes and threads of a session.
    pub processes: u64,
    /// Open files of one process.
    pub files: u64,
    /// Size of one file that is written, in MiB.
    pub file_mib: u64,
    /// Size of the private `/tmp` of a session, in MiB.
    pub tmp_mib: u64,
    /// Output of one command, in MiB. A command that writes more is ended.
    pub output_mib: u64,
    /// Wall time of one command, in seconds, that a call may ask for at most.
    pub wall_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cpu_seconds: 3_600,
            memory_mib: 8 << 10,
            processes: 512,
            files: 8_192,
            file_mib: 4 << 10,
            tmp_mib: 512,
            output_mib: 64,
            wall_seconds: 3_600,
        }
    }
}

impl Limits {
    /// The largest wall time that a call may ask for.
    pub fn wall(&self) -> Duration {
        Duration::from_secs(self.wall_seconds)
    }

    /// The largest output, in bytes.
    pub fn output_bytes(&self) -> u64 {
        self.output_mib << 20
    }
}
