//! System calls that no confined program may make.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::{Failure, Step};

/// The sockets that a program may create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    /// None.
    Denied,
    /// IPv4 and IPv6. Where they lead is up to the network namespace.
    Internet,
}

/// Whether a program may change the owner, mode, times and attributes of files. Landlock does not restrict that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metadata {
    Denied,
    Allowed,
}

/// System calls that fail as not permitted.
const DENIED: &[c_long] = &[
    // Other views of the file system.
    libc::SYS_chroot,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    // Other namespaces and other processes.
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_setns,
    libc::SYS_unshare,
    // Keys of the user.
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // The kernel itself.
    libc::SYS_acct,
    libc::SYS_bpf,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_lookup_dcookie,
    libc::SYS_perf_event_open,
    libc::SYS_reboot,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_syslog,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
];

/// System calls that fail as unknown, because their arguments cannot be looked at. Programs fall back to the older ones.
const UNKNOWN: &[c_long] =
    &[libc::SYS_clone3, libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_io_uring_setup];

/// System calls that change the owner, mode, times or attributes of a file.
const METADATA: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    // `fchmodat2`, which has the same number on every architecture.
    452,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    // `setxattrat` and `removexattrat`.
    463,
    466,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
];

/// Flags of `clone` that create namespaces.
const NAMESPACES: u64 = (libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS) as u64;

/// Operations on terminals that type into them.
#[allow(clippy::unnecessary_cast, reason = "the type differs between C libraries")]
const TYPING: [u64; 2] = [libc::TIOCSTI as u64, libc::TIOCLINUX as u64];

/// Restricts this process and everything that it executes.
pub(super) fn apply(network: Network, metadata: Metadata) -> Result<(), Failure> {
    let compiled = compile(network, metadata).step("cannot compile the system call filter")?;
    compiled.iter().try_for_each(|filter| apply_filter(filter)).step("cannot install the system call filter")
}

fn compile(network: Network, metadata: Metadata) -> Result<[BpfProgram; 2], seccompiler::BackendError> {
    let mut denied: Rules = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    if metadata == Metadata::Denied {
        denied.extend(METADATA.iter().map(|call| (*call, Vec::new())));
    }
    denied.insert(libc::SYS_socket, sockets(network)?);
    if network == Network::Denied {
        denied.insert(libc::SYS_socketpair, Vec::new());
    }
    denied.insert(
        libc::SYS_ioctl,
        TYPING.into_iter().map(|request| when(1, SeccompCmpOp::Eq, request)).collect::<Result<_, _>>()?,
    );
    let namespaces = (0..64).map(|bit| 1_u64 << bit).filter(|bit| NAMESPACES & bit != 0);
    let namespaces = namespaces.map(|bit| when(0, SeccompCmpOp::MaskedEq(bit), bit)).collect::<Result<_, _>>()?;
    denied.insert(libc::SYS_clone, namespaces);
    let unknown = UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    Ok([filter(denied, libc::EPERM)?, filter(unknown, libc::ENOSYS)?])
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Every family of sockets but those of the network. `socketpair` is another system call and leads nowhere else.
fn sockets(network: Network) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    if network == Network::Denied {
        return Ok(Vec::new());
    }
    let is_not = |family: i32| {
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(family.unsigned_abs()))
    };
    let conditions = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].into_iter().map(is_not);
    Ok(vec![SeccompRule::new(conditions.collect::<Result<_, _>>()?)?])
}

/// A rule about the lower half of one argument: the kernel ignores the upper one.
fn when(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?])
}

fn filter(rules: Rules, errno: i32) -> Result<BpfProgram, seccompiler::BackendError> {
    let matched = SeccompAction::Errno(errno.unsigned_abs());
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let compiled: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, matched, arch)?.try_into()?;
    Ok(without_x32(compiled))
}

/// Denies the second table of system calls that x86-64 has, which the rules are not about.
fn without_x32(program: BpfProgram) -> BpfProgram {
    if !cfg!(target_arch = "x86_64") {
        return program;
    }
    const LOAD: u16 = 0x20;
    const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32: u32 = 0x4000_0000;
    const NOT_PERMITTED: u32 = 0x0005_0000 | libc::EPERM.unsigned_abs();
    let guard = [
        sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_GREATER_OR_EQUAL, jt: 0, jf: 1, k: X32 },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: NOT_PERMITTED },
    ];
    guard.into_iter().chain(program).collect()
}
