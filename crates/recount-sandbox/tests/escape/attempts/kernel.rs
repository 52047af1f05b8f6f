//! The kernel: namespaces, devices, privileges and system calls.

use super::Attempt;
use super::Sign::Output;

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("namespace-user", Output, &["$TOOL unshare 10000000"]).needs(&["user may create user namespaces"]),
    Attempt::new("namespace-mount", Output, &["$TOOL unshare 20000; unshare -Urm true && echo ESCAPED"])
        .needs(&["user may create user namespaces"]),
    Attempt::new("namespace-pid", Output, &["$TOOL unshare 20000000"]).needs(&["user is root"]),
    Attempt::new("namespace-net", Output, &["$TOOL unshare 40000000"]).needs(&["user is root"]),
    Attempt::new("namespace-clone", Output, &["$TOOL clone"]).needs(&["user may create user namespaces"]),
    Attempt::new("namespace-clone3", Output, &["$TOOL clone3"]).needs(&["user may create user namespaces"]),
    Attempt::new("namespace-by-32-bit-call", Output, &["$TOOL 32-bit"])
        .needs(&["kernel has the 32-bit system calls", "user may create user namespaces"]),
    Attempt::new("namespace-by-x32-call", Output, &["$TOOL x32"]).needs(&["kernel has the x32 system calls"]),
    Attempt::new("namespace-joined", Output, &["$TOOL setns /proc/$VICTIM/ns/mnt; $TOOL setns /proc/1/ns/mnt; $TOOL setns /proc/self/ns/net"])
        .needs(&["user is root"]),
    Attempt::new("namespace-entered", Output, &["nsenter -t $VICTIM -m true && echo ESCAPED; nsenter -t 1 -m true && echo ESCAPED"])
        .needs(&["user is root"]),
    Attempt::new("mount-tmpfs", Output, &["mkdir -p /tmp/m-$N; mount -t tmpfs none /tmp/m-$N && echo ESCAPED"])
        .control("mkdir -p /tmp/m-$N; $MOUNTER mount -t tmpfs none /tmp/m-$N && echo ESCAPED; rmdir /tmp/m-$N")
        .needs(&["user may create user namespaces"]),
    Attempt::new("mount-proc", Output, &["mkdir -p /tmp/p-$N; mount -t proc proc /tmp/p-$N && echo ESCAPED"])
        .control("mkdir -p /tmp/p-$N; $MOUNTER --pid --fork mount -t proc proc /tmp/p-$N && echo ESCAPED; rmdir /tmp/p-$N")
        .needs(&["user may create user namespaces"]),
    Attempt::new("mount-new-api", Output, &["$TOOL fsopen"]).needs(&["user may create user namespaces"]),
    Attempt::new("mount-proc-writable", Output, &["mount -o remount,rw /proc; $TOOL open-for-writing /proc/sys/kernel/core_pattern"])
        .needs(&["user is root"]),
    Attempt::new("mount-system-writable", Output, &["mount -o remount,rw,bind /usr; $TOOL set-writable /usr"])
        .needs(&["user is root"]),
    Attempt::new("pivot-root", Output, &["$TOOL pivot-root"]).needs(&["user may create user namespaces"]),
    Attempt::new("chroot", Output, &["/usr/sbin/chroot / /bin/true && echo ESCAPED"]).needs(&["user is root"]),
    Attempt::new("core-pattern", Output, &["$TOOL open-for-writing /proc/sys/kernel/core_pattern"])
        .needs(&["user is root"]),
    Attempt::new("module-loader", Output, &["$TOOL open-for-writing /proc/sys/kernel/modprobe || $TOOL open-for-writing /proc/sys/kernel/hotplug"])
        .control("$TOOL open-for-writing /proc/sys/kernel/core_pattern")
        .needs(&["user is root"]),
    Attempt::new("sysctl", Output, &["$TOOL open-for-writing /proc/sys/vm/drop_caches; $TOOL open-for-writing /proc/sys/kernel/hostname"])
        .needs(&["user is root"]),
    Attempt::new("sysrq", Output, &["$TOOL open-for-writing /proc/sysrq-trigger"])
        .needs(&["user is root", "/proc/sysrq-trigger exists"]),
    Attempt::new("kernel-memory", Output, &["$TOOL open-for-reading /proc/kcore; head -c 1 /proc/kcore | grep -q . && echo ESCAPED"])
        .control("$TOOL open-for-reading /proc/kcore")
        .needs(&["/proc/kcore is readable"]),
    Attempt::new("page-flags", Output, &["head -c 8 /proc/kpageflags | wc -c | grep -q 8 && echo ESCAPED"])
        .needs(&["user is root"]),
    Attempt::new("oom-score", Output, &["echo -1000 > /proc/self/oom_score_adj && echo ESCAPED"])
        .needs(&["user may raise limits"]),
    Attempt::new("sys-write", Output, &["for f in $(find /sys -maxdepth 4 -type f -writable 2> /dev/null | head -3); do $TOOL open-for-writing $f; done"])
        .control("$TOOL open-for-writing $(find /sys/kernel /sys/block -maxdepth 3 -type f -writable | head -1)")
        .needs(&["/sys is writable"]),
    Attempt::new("control-group", Output, &["$TOOL open-for-writing $(find /sys/fs/cgroup -maxdepth 2 -name cgroup.procs -writable | head -1)"])
        .needs(&["control groups are writable"]),
    Attempt::new("device-created", Output, &["for d in /tmp ${TMPDIR:-/tmp} $WS; do $TOOL device $d/recount-node-$N c 1 8; done"])
        .needs(&["device nodes can be created and read"]),
    Attempt::new("device-disk", Output, &["for d in /dev/vda /dev/sda /dev/nvme0n1; do head -c 1 $d | wc -c | grep 1 && echo ESCAPED; done"])
        .needs(&["block device is readable"]),
    Attempt::new("device-memory", Output, &["$TOOL open-for-reading /dev/mem"]).needs(&["/dev/mem is readable"]),
    Attempt::new("device-kernel-log-read", Output, &["$TOOL open-for-reading /dev/kmsg"])
        .needs(&["/dev/kmsg is readable"]),
    Attempt::new("device-kernel-log-write", Output, &["$TOOL open-for-writing /dev/kmsg"])
        .needs(&["/dev/kmsg is writable"]),
    Attempt::new("device-fuse", Output, &["$TOOL open-for-reading /dev/fuse"]).needs(&["/dev/fuse is readable"]),
    Attempt::new("device-loop", Output, &["$TOOL open-for-reading /dev/loop-control"])
        .needs(&["/dev/loop-control is readable"]),
    Attempt::new("device-console", Output, &["$TOOL open-for-writing /dev/tty0; $TOOL open-for-writing /dev/console"])
        .needs(&["/dev/tty0 is writable"]),
    Attempt::new("setuid-program", Output, &["$SUID effective-user"]).needs(&["setuid program runs as another user"]),
    Attempt::new("su", Output, &["timeout 1 su nobody -s /bin/sh -c 'echo ESCAPED' < /dev/null"])
        .needs(&["su works without a password"]),
    Attempt::new("capabilities", Output, &["$TOOL capabilities"]).needs(&["user is root"]),
    Attempt::new("capabilities-after-exec", Output, &["sh -c 'exec $TOOL capabilities'; env -i $TOOL capabilities"])
        .needs(&["user is root"]),
    Attempt::new("capabilities-in-namespace", Output, &["unshare --user --map-root-user $TOOL capabilities"])
        .needs(&["user may create user namespaces"]),
    Attempt::new("file-capabilities", Output, &["cp /bin/true $WS/cap; /sbin/setcap cap_net_raw+ep $WS/cap && echo ESCAPED"])
        .needs(&["user is root"]),
    Attempt::new("owner-changed", Output, &["touch $WS/owned /tmp/owned-$N; chown 4242 $WS/owned /tmp/owned-$N && echo ESCAPED; rm -f /tmp/owned-$N"])
        .needs(&["user is root"]),
    Attempt::new("user-changed", Output, &["setpriv --reuid 4242 --clear-groups true && echo ESCAPED"])
        .needs(&["user is root"]),
    Attempt::new("bpf", Output, &["$TOOL bpf"]).needs(&["user may use bpf"]),
    Attempt::new("perf", Output, &["$TOOL perf"]).needs(&["user may use perf events"]),
    Attempt::new("userfaultfd", Output, &["$TOOL userfaultfd"]).needs(&["user may use userfaultfd"]),
    Attempt::new("module", Output, &["$TOOL load-module"]).needs(&["user is root", "kernel has loadable modules"]),
    Attempt::new("kexec", Output, &["$TOOL load-kernel"]).needs(&["user is root", "kernel has kexec"]),
    Attempt::new("port-access", Output, &["$TOOL port-access"]).needs(&["user is root", "kernel has port access"]),
    Attempt::new("host-name", Output, &["$TOOL host-name"]).needs(&["user is root"]),
    Attempt::new("kernel-log", Output, &["$TOOL kernel-log; dmesg | head -1 | grep -q . && echo ESCAPED"])
        .needs(&["kernel log is readable"]),
];
