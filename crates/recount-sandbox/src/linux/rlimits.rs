//! Resource limits of the program.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Failure, Step};
use crate::Limits;

/// Lets the kernel end the program first when memory runs out: limits hold for one process, and not for shared memory.
///
/// This needs the list of processes of the machine.
pub(super) fn offer_to_memory_killer() {
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
}

/// Sets the limits of this process and of everything that it executes. `others` are the processes and threads that are
/// counted although they are not part of the sandbox.
pub(super) fn apply(limits: &Limits, others: u64) -> Result<(), Failure> {
    let bounds = [
        (Resource::Core, 0),
        (Resource::Cpu, limits.cpu_seconds),
        // Address space would be wrong: runtimes reserve much more than they use.
        (Resource::Data, limits.memory_mib << 20),
        (Resource::Fsize, limits.file_mib << 20),
        (Resource::Nofile, limits.files),
        (Resource::Nproc, limits.processes.saturating_add(others)),
    ];
    for (resource, most) in bounds {
        let now = getrlimit(resource);
        let most = now.maximum.map_or(most, |maximum| maximum.min(most));
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(resource, limit).step(format!("cannot limit {resource:?}"))?;
    }
    Ok(())
}

/// The processes and threads of this user. Without a user namespace the kernel counts all of them.
pub(super) fn processes_of_user() -> u64 {
    let user = rustix::process::getuid().as_raw();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let own = entries.filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == user));
    let threads = |stat: String| {
        // The name, in parentheses, may hold anything; the number of threads is the eighteenth field after it.
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(17)?.parse::<u64>().ok())
    };
    own.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok().and_then(threads)).sum()
}
