//! Processes of the host, and processes that outlive the command.

use super::Attempt;
use super::Scope::Full;
use super::Sign::{Output, Process};
use crate::escape::special;

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("environment", Output, &["env"]),
    Attempt::new("environment-of-parent", Output, &["cat /proc/$PPID/environ /proc/1/environ"])
        .control("cat /proc/$PPID/environ"),
    Attempt::new("environment-of-service", Output, &["cat /proc/$SVC/environ"]),
    Attempt::new("environment-of-victim", Output, &["cat /proc/$VICTIM/environ"]),
    Attempt::new("arguments-of-victim", Output, &["cat /proc/$VICTIM/cmdline; ps -ww -o args= -p $VICTIM"]),
    Attempt::new("memory-of-victim", Output, &["$TOOL read-mem $VICTIM"])
        .needs(&["processes of the user can be traced"]),
    Attempt::new(
        "memory-of-first-process",
        Output,
        &["grep -a S3CRET /proc/1/environ; $TOOL read-mem 1; $TOOL write-mem 1"],
    )
    .control("$TOOL write-mem $VICTIM")
    .needs(&["processes of the user can be traced"]),
    Attempt::new("memory-written", Output, &["$TOOL write-mem $VICTIM"])
        .needs(&["processes of the user can be traced"]),
    Attempt::new("maps-of-victim", Output, &["cat /proc/$VICTIM/maps && echo ESCAPED"]),
    Attempt::new("descriptors-of-victim", Output, &["ls /proc/$VICTIM/fd && echo ESCAPED"]),
    Attempt::new("root-of-victim", Output, &["ls /proc/$VICTIM/root/ && echo ESCAPED"]),
    Attempt::new("status-of-victim", Output, &["cat /proc/$VICTIM/status && echo ESCAPED"]),
    Attempt::new("ptrace", Output, &["$TOOL ptrace $VICTIM"]).needs(&["processes of the user can be traced"]),
    Attempt::new("ptrace-first-process", Output, &["$TOOL ptrace 1; $TOOL ptrace $PPID"])
        .control("$TOOL ptrace $VICTIM")
        .needs(&["processes of the user can be traced"]),
    Attempt::new("process-vm-read", Output, &["$TOOL vm-read $VICTIM"]).needs(&["processes of the user can be traced"]),
    Attempt::new("process-vm-write", Output, &["$TOOL vm-write $VICTIM"])
        .needs(&["processes of the user can be traced"]),
    Attempt::new("pidfd-getfd", Output, &["$TOOL take-fd $VICTIM 0"]).needs(&["processes of the user can be traced"]),
    Attempt::new("kcmp", Output, &["$TOOL kcmp $VICTIM"]).needs(&["processes of the user can be traced"]),
    Attempt::new("prlimit-of-victim", Output, &["$TOOL prlimit $VICTIM"]),
    Attempt::new("priority-of-victim", Output, &["$TOOL priority $VICTIM"]),
    Attempt::new("io-priority-of-victim", Output, &["$TOOL io-priority $VICTIM"]),
    Attempt::new("affinity-of-victim", Output, &["$TOOL affinity $VICTIM"]),
    Attempt::new("scheduler-of-victim", Output, &["$TOOL scheduler $VICTIM"]).needs(&["victim can be scheduled"]),
    Attempt::new("shared-memory", Output, &["$TOOL shared-memory $SHM"]),
    Attempt::new("message-queue", Output, &["$TOOL queue $QUEUE"]).needs(&["message queues exist"]),
    Attempt::new("keyring-search", Output, &["$TOOL read-key $KEY"]).needs(&["kernel has keyrings"]),
    Attempt::new("keyring-request", Output, &["$TOOL request-key $KEY"])
        .control("$TOOL read-key $KEY")
        .needs(&["kernel has keyrings"]),
    Attempt::new("keyring-list", Output, &["grep $KEY /proc/keys && echo ESCAPED"]).needs(&["kernel has keyrings"]),
    Attempt::new("signal-kill", Process, &["kill -9 $VICTIM"]),
    Attempt::new("signal-service", Process, &["kill -URG $VICTIM; kill -URG $SVC"]),
    Attempt::new("signal-by-pidfd", Process, &["$TOOL pidfd-signal $VICTIM"]),
    // The signal is one that other processes ignore.
    Attempt::new("signal-all", Process, &["kill -URG -1"]).control("kill -URG $VICTIM"),
    Attempt::new("signal-group", Process, &["kill -URG 0; kill -URG -- -$GROUP"]),
    Attempt::new("kill-all", Output, &["[ $(readlink /proc/self/ns/pid) = $PIDNS ] || (trap '' TERM; kill -9 -1)"])
        .control(
            "$MOUNTER --pid --fork --mount-proc sh -c 'sleep 9 & kill -9 -1; sleep 0.1; kill -0 $! || echo ESCAPED'",
        )
        .needs(&["user may create user namespaces"])
        .scope(Full),
    Attempt::new("outlive-nohup", Process, &["nohup setsid bash -c 'exec -a $TOKEN sleep 20' > /dev/null 2>&1 &"]),
    Attempt::new("outlive-daemon", Process, &["$TOOL leave-behind $TOKEN"]),
    Attempt::new("outlive-disowned", Process, &["bash -c 'exec -a $TOKEN sleep 20' > /dev/null 2>&1 & disown -a"]),
    Attempt::new(
        "outlive-stopped",
        Process,
        &["bash -c 'exec -a $TOKEN sleep 20' > /dev/null 2>&1 & sleep 0.1; kill -STOP $!"],
    ),
    Attempt::new("outlive-at", Process, &["echo \"bash -c 'exec -a $TOKEN sleep 20'\" | at now; sleep 1"])
        .needs(&["at is installed"]),
    Attempt::new("outlive-systemd-run", Process, &["systemd-run --user $TOOL leave-behind $TOKEN; sleep 1"])
        .needs(&["systemd-run is installed and works"]),
    Attempt::new("outlive-failing-command", Process, &["$TOOL leave-behind $TOKEN; kill -9 $$"]),
    Attempt::function("outlive-dropped-guard", Process, special::dropped_guard),
    Attempt::function("outlive-dropped-guard-without-session", Process, special::dropped_guard_without_session),
    Attempt::function("outlive-killed-helper", Process, special::killed_helper),
    Attempt::function("outlive-helper-killed-early", Process, special::helper_killed_early).scope(Full),
    Attempt::function("terminal-inherited", Output, special::inherited_terminal),
    Attempt::new("terminal-injection", Output, &["script -qec '$TOOL tiocsti' /dev/null < /dev/null"])
        .needs(&["terminal injection is enabled"]),
];
