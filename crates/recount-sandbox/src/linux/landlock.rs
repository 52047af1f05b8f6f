//! Landlock: a second lock beside the mounts, and the only one without namespaces.

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope,
};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};

use super::{Failure, Spec, Step};
use crate::plan::View;

/// The oldest version that confines a program without the help of namespaces: it keeps signals and abstract sockets apart.
const NEEDED: ABI = ABI::V6;

/// Devices that every program may use.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Files of `/proc` that describe the machine and not its processes.
const MACHINE: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
];

/// Beside namespaces: denies writing outside of the writable paths. The view of the file system exists already.
pub(super) fn restrict_writing(spec: &Spec) -> Result<(), Failure> {
    let all = without_devices();
    let mut rules = ruleset(CompatLevel::BestEffort, AccessFs::from_all(NEEDED))?;
    rules = allow(rules, "/", AccessFs::from_read(NEEDED))?;
    for path in ["/dev", "/tmp", "/var/tmp"] {
        rules = allow(rules, path, all)?;
    }
    for (path, view) in &spec.views {
        if *view == View::Write {
            rules = allow(rules, path, all)?;
        }
    }
    rules.restrict_self().step("cannot apply Landlock")?;
    Ok(())
}

/// Without namespaces: denies everything but the readable paths and the private directory for temporary files.
pub(super) fn restrict_paths(spec: &Spec) -> Result<(), Failure> {
    let read = AccessFs::from_read(NEEDED);
    let mut rules = ruleset(CompatLevel::HardRequirement, AccessFs::from_all(NEEDED))?;
    // A path of the system that was replaced by a symbolic link since it was looked up is left out.
    let is_changed = |path: &Path| std::fs::canonicalize(path).map_or(true, |target| target != path);
    let system = spec.system.iter().filter(|(path, _)| !is_changed(path));
    for (path, _) in system.chain(&spec.views).filter(|(_, view)| *view == View::Read) {
        rules = allow_around_hidden(rules, path, spec, read)?;
    }
    for path in MACHINE.iter().filter(|path| Path::new(path).exists()) {
        rules = allow(rules, path, read)?;
    }
    for path in DEVICES.iter().filter(|path| Path::new(path).exists()) {
        rules = allow(rules, path, AccessFs::from_file(NEEDED))?;
    }
    if let Some(tmp) = &spec.tmp {
        rules = allow(rules, tmp, without_devices())?;
    }
    let status = rules.restrict_self().step("cannot apply Landlock")?;
    if status.ruleset != RulesetStatus::FullyEnforced {
        return Err(Failure("Landlock is not fully enforced by this kernel".to_owned()));
    }
    Ok(())
}

fn views(spec: &Spec) -> impl Iterator<Item = &(std::path::PathBuf, View)> {
    spec.system.iter().chain(&spec.views)
}

/// Everything but the creation of devices, by which root could reach disks.
fn without_devices() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEEDED) & !(AccessFs::MakeBlock | AccessFs::MakeChar)
}

fn ruleset(level: CompatLevel, handled: BitFlags<AccessFs>) -> Result<RulesetCreated, Failure> {
    let rules = Ruleset::default().set_compatibility(level).handle_access(handled).step("cannot use Landlock")?;
    let rules = rules.scope(Scope::AbstractUnixSocket | Scope::Signal).step("cannot use Landlock")?;
    rules.create().step("cannot use Landlock")
}

/// Landlock cannot take back what it has allowed for a directory, so one that holds something hidden is allowed entry by
/// entry. Symbolic links are left out: what they lead to is not part of the directory.
fn allow_around_hidden(
    mut rules: RulesetCreated,
    path: &Path,
    spec: &Spec,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Failure> {
    let hidden = |path: &Path| views(spec).any(|(hidden, view)| *view == View::Hide && hidden.starts_with(path));
    if !hidden(path) {
        return allow(rules, path, access);
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let entries = entries.filter(|entry| !entry.is_symlink());
    for entry in entries.filter(|entry| !views(spec).any(|(path, view)| path == entry && *view == View::Hide)) {
        rules = allow_around_hidden(rules, &entry, spec, access)?;
    }
    Ok(rules)
}

fn allow(rules: RulesetCreated, path: impl AsRef<Path>, access: BitFlags<AccessFs>) -> Result<RulesetCreated, Failure> {
    let path = path.as_ref();
    let step = format!("cannot allow `{}`", path.display());
    // Paths are canonical. Another program may have put a symbolic link in the way since they were resolved.
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).step(&step)?;
    let kind = FileType::from_raw_mode(fstat(&opened).step(&step)?.st_mode);
    let access = if kind == FileType::Directory { access } else { access & AccessFs::from_file(NEEDED) };
    rules.add_rule(PathBeneath::new(opened, access)).step(&step)
}
