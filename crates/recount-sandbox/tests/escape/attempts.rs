//! The attempts, as data.

mod files;
mod git;
mod kernel;
mod limits;
mod network;
mod processes;

use super::world::World;

/// One way to leave the sandbox.
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    pub(crate) action: Action,
    /// How the attempt shows that it has succeeded, with the sandbox off.
    pub(crate) sign: Sign,
    /// Names of [`PRECONDITIONS`] without which the attempt cannot succeed at all.
    pub(crate) needs: &'static [&'static str],
    /// A script that stands for the attempt with the sandbox off, where the attempt itself would do harm or needs
    /// preparation.
    pub(crate) control: Option<&'static str>,
    pub(crate) scope: Scope,
}

pub(crate) enum Action {
    /// Scripts for `bash`, each of them a command of the same session.
    Scripts(&'static [&'static str]),
    /// Starts programs itself and returns their output.
    Function(fn(&mut World) -> String),
}

/// How an attempt shows that it has succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
    /// The output holds the secret or the word `ESCAPED`.
    Output,
    /// A file changed that no profile can write.
    Outside,
    /// A file of the workspace changed.
    Workspace,
    /// A listener of the host received something.
    Received,
    /// A process of the attempt still runs, or the victim was signalled or ended.
    Process,
}

/// The profiles in which an attempt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Everywhere,
    /// In the `workspace` profile this is ordinary work, which has to succeed.
    AllowedInWorkspace,
    /// Needs a profile that only the level with namespaces offers.
    Full,
}

impl Attempt {
    pub(crate) const fn new(name: &'static str, sign: Sign, scripts: &'static [&'static str]) -> Self {
        Self { name, action: Action::Scripts(scripts), sign, needs: &[], control: None, scope: Scope::Everywhere }
    }

    pub(crate) const fn function(name: &'static str, sign: Sign, function: fn(&mut World) -> String) -> Self {
        Self { action: Action::Function(function), ..Self::new(name, sign, &[]) }
    }

    pub(crate) const fn needs(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }

    pub(crate) const fn control(self, script: &'static str) -> Self {
        Self { control: Some(script), ..self }
    }

    pub(crate) const fn scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }
}

/// All attempts.
pub(crate) fn all() -> impl Iterator<Item = &'static Attempt> {
    [files::ATTEMPTS, git::ATTEMPTS, processes::ATTEMPTS, network::ATTEMPTS, kernel::ATTEMPTS, limits::ATTEMPTS]
        .into_iter()
        .flatten()
}

/// A condition of the machine or the user: its name, and a script that succeeds if it holds.
pub(crate) type Precondition = (&'static str, &'static str);

/// Conditions without which an attempt would prove nothing. The report names those that do not hold.
pub(crate) const PRECONDITIONS: &[Precondition] = &[
    ("user is root", "[ $(id -u) = 0 ]"),
    ("user is not root", "[ $(id -u) != 0 ]"),
    ("user may create user namespaces", "unshare --user true"),
    ("kernel has the 32-bit system calls", "$TOOL 32-bit | grep -q ESCAPED"),
    ("kernel has the x32 system calls", "$TOOL x32 | grep -q ESCAPED"),
    ("kernel has io_uring", "$TOOL ring /etc/hostname"),
    ("kernel has keyrings", "$TOOL read-key $KEY | grep -q ."),
    ("kernel has loadable modules", "! $TOOL load-module | grep -q 'not implemented'"),
    ("kernel has kexec", "! $TOOL load-kernel | grep -q 'not implemented'"),
    ("kernel has port access", "! $TOOL port-access | grep -q 'not implemented'"),
    ("user may use bpf", "$TOOL bpf | grep -q ESCAPED"),
    ("user may use perf events", "$TOOL perf | grep -q ESCAPED"),
    ("user may use userfaultfd", "$TOOL userfaultfd | grep -q ESCAPED"),
    ("user may create vsock sockets", "$TOOL socket 40 1 0 | grep -q ESCAPED"),
    ("kernel has the crypto sockets", "$TOOL socket 38 5 0 | grep -q ESCAPED"),
    ("user may create sockets of odd families", "$TOOL odd-sockets | grep -q ESCAPED"),
    ("file handles of the root can be guessed", "$TOOL guess-handle $WS | grep -q ESCAPED"),
    ("device nodes can be created and read", "$TOOL device /tmp/recount-node-$N c 1 8 | grep -q ESCAPED"),
    (
        "block device is readable",
        "for d in /dev/vda /dev/sda /dev/nvme0n1; do head -c 1 $d > /dev/null && exit; done; false",
    ),
    ("/dev/mem is readable", "$TOOL open-for-reading /dev/mem | grep -q ESCAPED"),
    ("/dev/kmsg is readable", "$TOOL open-for-reading /dev/kmsg | grep -q ESCAPED"),
    ("/dev/kmsg is writable", "$TOOL open-for-writing /dev/kmsg | grep -q ESCAPED"),
    ("/dev/fuse is readable", "$TOOL open-for-reading /dev/fuse | grep -q ESCAPED"),
    ("/dev/loop-control is readable", "$TOOL open-for-reading /dev/loop-control | grep -q ESCAPED"),
    ("/dev/tty0 is writable", "$TOOL open-for-writing /dev/tty0 | grep -q ESCAPED"),
    ("/proc/sysrq-trigger exists", "[ -e /proc/sysrq-trigger ]"),
    ("/proc/kcore is readable", "$TOOL open-for-reading /proc/kcore | grep -q ESCAPED"),
    ("control groups are writable", "find /sys/fs/cgroup -maxdepth 2 -name cgroup.procs -writable | grep -q ."),
    (
        "/sys is writable",
        "$TOOL open-for-writing $(find /sys/kernel /sys/block -maxdepth 3 -type f -writable | head -1) | grep -q ESCAPED",
    ),
    ("root of the first process is readable", "cat /proc/1/root$DATA/secret.db"),
    ("user may raise limits", "echo -1 > /proc/self/oom_score_adj && ulimit -Hn 20000"),
    ("kernel log is readable", "$TOOL kernel-log | grep -q ESCAPED"),
    ("/boot exists", "[ -d /boot ]"),
    ("cron directories exist", "[ -d /etc/cron.d ]"),
    ("systemd directories exist", "[ -d /etc/systemd/system ]"),
    ("Docker socket exists", "[ -S /var/run/docker.sock ]"),
    ("at is installed", "command -v at"),
    ("systemd-run is installed and works", "systemd-run --user true || systemd-run true"),
    ("setuid program runs as another user", "$SUID effective-user | grep -q ESCAPED"),
    ("su works without a password", "su nobody -s /bin/sh -c true < /dev/null"),
    ("terminal injection is enabled", "script -qec '$TOOL tiocsti' /dev/null < /dev/null | grep -q ESCAPED"),
    ("host has an address beside the loopback", "[ -n \"$ADDRESS\" ]"),
    ("name server answers", "timeout 2 getent ahosts example.org | grep -q ."),
    ("IPv6 loopback exists", "[ -n \"$PORT6\" ]"),
    ("processes of the user can be traced", "$TOOL ptrace $VICTIM | grep -q ESCAPED"),
    ("victim can be scheduled", "$TOOL scheduler $VICTIM | grep -q ESCAPED"),
    ("message queues exist", "$TOOL queue $QUEUE"),
];
