//! System calls that no confined program may make.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::{Failure, Step};

/// The mechanisms that confine the program beside seccomp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Confinement {
    /// Namespaces: other processes are not visible, and sockets of the network lead where the network namespace leads.
    WithNamespaces,
    /// Landlock, which restricts neither the network, nor the owners, modes and times of files, nor what a program does to
    /// other processes of its user.
    Alone,
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
    // `open_tree_attr`, which has the same number on every architecture.
    467,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
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

/// System calls that share memory and messages with other programs of the user.
const IPC: &[c_long] = &[
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
];

/// System calls that change how a process runs, whose first argument is its id, or 0 for the caller.
const OF_PROCESS: &[c_long] = &[
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// System calls that change how processes run, whose first argument is a kind and the second an id, or 0 for the caller. The
/// kind that stands for one process comes with them.
const OF_PROCESSES: &[(c_long, u64)] = &[(libc::SYS_ioprio_set, 1), (libc::SYS_setpriority, 0)];

/// System calls that change the mode of a file, and the argument that is the mode.
const MODES: &[(c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (452, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
];

/// The bit of a mode that lets a program run with the rights of its owner, for every user.
const SET_USER: u64 = libc::S_ISUID as u64;

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
pub(super) fn apply(confinement: Confinement) -> Result<(), Failure> {
    let compiled = compile(confinement).step("cannot compile the system call filter")?;
    compiled.iter().try_for_each(|filter| apply_filter(filter)).step("cannot install the system call filter")
}

fn compile(confinement: Confinement) -> Result<[BpfProgram; 2], seccompiler::BackendError> {
    let mut denied: Rules = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    match confinement {
        Confinement::WithNamespaces => {
            for (call, mode) in MODES {
                denied.insert(*call, vec![when(*mode, SeccompCmpOp::MaskedEq(SET_USER), SET_USER)?]);
            }
            denied.insert(libc::SYS_socket, sockets()?);
        }
        Confinement::Alone => {
            denied.extend(METADATA.iter().chain(IPC).map(|call| (*call, Vec::new())));
            denied.insert(libc::SYS_socket, Vec::new());
            for call in OF_PROCESS {
                denied.insert(*call, vec![when(0, SeccompCmpOp::Ne, 0)?]);
            }
            for (call, kind) in OF_PROCESSES {
                denied.insert(*call, vec![when(0, SeccompCmpOp::Ne, *kind)?, when(1, SeccompCmpOp::Ne, 0)?]);
            }
        }
    }
    denied.insert(libc::SYS_socketpair, socket_pairs()?);
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

/// Every family of sockets but those of the network, and netlink beyond the list of interfaces and routes.
fn sockets() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let family = |operator, family: i32| condition(0, operator, u64::from(family.unsigned_abs()));
    let is_not = |number: i32| family(SeccompCmpOp::Ne, number);
    let others = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].into_iter().map(is_not);
    let route = u64::from(libc::NETLINK_ROUTE.unsigned_abs());
    let netlink = vec![family(SeccompCmpOp::Eq, libc::AF_NETLINK)?, condition(2, SeccompCmpOp::Ne, route)?];
    Ok(vec![SeccompRule::new(others.collect::<Result<_, _>>()?)?, SeccompRule::new(netlink)?])
}

/// Pairs of sockets that can be connected to others later: those for datagrams. Raw ones are the same to the kernel.
fn socket_pairs() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    const TYPE: u64 = 0xf;
    Ok(vec![
        when(0, SeccompCmpOp::Ne, u64::from(libc::AF_UNIX.unsigned_abs()))?,
        when(1, SeccompCmpOp::MaskedEq(TYPE), u64::from(libc::SOCK_DGRAM.unsigned_abs()))?,
        when(1, SeccompCmpOp::MaskedEq(TYPE), u64::from(libc::SOCK_RAW.unsigned_abs()))?,
    ])
}

/// A rule about the lower half of one argument: the kernel ignores the upper one.
fn when(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![condition(argument, operator, value)?])
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
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
