//! Resource limits of the program.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Failure, Step};
use crate::Limits;

/// Sets the limits of this process and of everything that it executes.
pub(super) fn apply(limits: &Limits) -> Result<(), Failure> {
    let bounds = [
        (Resource::Core, 0),
        (Resource::Cpu, limits.cpu_seconds),
        // Address space would be wrong: runtimes reserve much more than they use.
        (Resource::Data, limits.memory_mib << 20),
        (Resource::Fsize, limits.file_mib << 20),
        (Resource::Nofile, limits.files),
        (Resource::Nproc, limits.processes),
    ];
    for (resource, most) in bounds {
        let now = getrlimit(resource);
        let most = now.maximum.map_or(most, |maximum| maximum.min(most));
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).step(format!("cannot limit {resource:?}"))?;
    }
    Ok(())
}
