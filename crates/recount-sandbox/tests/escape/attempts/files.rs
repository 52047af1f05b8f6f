//! Files that are hidden, outside of the workspace, or read-only.

use super::Attempt;
use super::Scope::{AllowedInWorkspace, Full};
use super::Sign::{Output, Outside, Workspace};
use crate::escape::special;

pub(super) const ATTEMPTS: &[Attempt] = &[
    // The data directory of the service, hidden in the workspace.
    Attempt::new("data-read", Output, &["cat $DATA/secret.db"]),
    Attempt::new("data-list", Output, &["ls -la $DATA"]),
    Attempt::new("data-search", Output, &["grep -rs S3CRET $WS $OUT"]),
    Attempt::new("data-find", Output, &["find $WS $OUT"]),
    Attempt::new("data-write", Outside, &["echo attack >> $DATA/secret.db"]),
    Attempt::new("data-create", Outside, &["echo attack > $DATA/new"]),
    Attempt::new("data-delete", Outside, &["rm -rf $DATA"]),
    Attempt::new("data-rename", Output, &["mv $DATA $WS/moved", "cat $WS/moved/secret.db"]),
    Attempt::new("data-exchange", Output, &["mkdir $WS/other; mv --exchange $WS/other $DATA || { mv $DATA $WS/x && mv $WS/other $DATA && mv $WS/x $WS/other; }", "cat $WS/other/secret.db"]),
    Attempt::new("data-rename-parent", Output, &["mv $WS/deep $WS/moved", "cat $WS/moved/er/data/secret.db"]),
    Attempt::new("data-rename-near-parent", Output, &["mv $WS/deep/er $WS/deep/moved; mkdir -p $WS/deep/er/data", "cat $WS/deep/moved/data/secret.db"]),
    Attempt::new("data-rename-parent-at-once", Output, &["mv $WS/deep $WS/moved; cat $WS/moved/er/data/secret.db"]),
    Attempt::new("data-symlink-in-tmp", Output, &["ln -s $DATA /tmp/link-$N; cat /tmp/link-$N/secret.db; rm /tmp/link-$N"]),
    Attempt::new("data-symlink-in-workspace", Output, &["cat $WS/link-data/secret.db"]),
    Attempt::new("data-hard-link", Output, &["ln $DATA/secret.db $WS/hard; cat $WS/hard"]),
    Attempt::new("data-dots", Output, &["cd $DATA/.. && cat /../../..$DATA/../data/./secret.db"]),
    Attempt::new("data-proc-self-root", Output, &["cat /proc/self/root$DATA/secret.db"]),
    Attempt::new("data-proc-first-root", Output, &["cat /proc/1/root$DATA/secret.db"])
        .needs(&["root of the first process is readable"]),
    Attempt::new("data-proc-parent-root", Output, &["cat /proc/$PPID/root$DATA/secret.db /proc/$SVC/root$DATA/secret.db"]),
    Attempt::new("data-proc-cwd", Output, &["cat /proc/$VICTIM/cwd/secret.db /proc/1/cwd/data/secret.db"]),
    Attempt::new("data-proc-descriptor", Output, &["cat /proc/$VICTIM/fd/0"]),
    Attempt::new("data-unmount", Output, &["umount $DATA; umount -l $DATA; cat $DATA/secret.db"])
        .control("$MOUNTER sh -c 'mount -t tmpfs none $DATA; umount $DATA; cat $DATA/secret.db'")
        .needs(&["user may create user namespaces"]),
    Attempt::new("data-unmount-listed", Output, &["for m in $(cut -d' ' -f5 /proc/self/mountinfo | tac); do umount -l $m; done; cat $DATA/secret.db"])
        .control("$MOUNTER sh -c 'mount -t tmpfs none $DATA; umount -l $(grep -F $DATA /proc/self/mountinfo | cut -d\" \" -f5); cat $DATA/secret.db'")
        .needs(&["user may create user namespaces"]),
    Attempt::new("data-bind-mount", Output, &["mkdir -p /tmp/bind-$N; mount --bind $WS /tmp/bind-$N; cat /tmp/bind-$N/data/secret.db"])
        .control("mkdir -p /tmp/bind-$N; $MOUNTER sh -c 'mount --bind $WS /tmp/bind-$N; cat /tmp/bind-$N/data/secret.db'; rmdir /tmp/bind-$N")
        .needs(&["user may create user namespaces"]),
    Attempt::new("data-cloned-tree", Output, &["$TOOL open-tree $WS data/secret.db"])
        .needs(&["user may create user namespaces"]),
    Attempt::new("data-in-user-namespace", Output, &["unshare --user --map-root-user --mount sh -c 'umount -l $DATA; cat $DATA/secret.db'"])
        .needs(&["user may create user namespaces"]),
    Attempt::new("data-after-chroot", Output, &["$TOOL chroot .$DATA/secret.db"])
        .needs(&["user may create user namespaces"]),
    Attempt::new("data-by-handle", Output, &["$TOOL handle $WS $DATA/secret.db"]).needs(&["user is root"]),
    Attempt::new("data-by-guessed-handle", Output, &["$TOOL guess-handle $WS"])
        .needs(&["file handles of the root can be guessed"]),
    Attempt::new("data-by-io-uring", Output, &["$TOOL ring $DATA/secret.db"]).needs(&["kernel has io_uring"]),
    Attempt::new("data-by-git", Output, &["git hash-object --no-filters --stdin < $DATA/secret.db > /dev/null && git diff --no-index /dev/null $DATA/secret.db"]),
    Attempt::new("data-by-tar", Output, &["tar -C $WS -c . | tar -xO"]),
    // The home directory, other files of the user and the system.
    Attempt::new("home-ssh", Output, &["cat ~/.ssh/id_ed25519"]),
    Attempt::new("home-aws", Output, &["cat ~/.aws/credentials"]),
    Attempt::new("home-netrc", Output, &["cat ~/.netrc ~/.npmrc ~/.git-credentials"]),
    Attempt::new("home-kube", Output, &["cat ~/.kube/config ~/.docker/config.json"]),
    Attempt::new("home-cargo-credentials", Output, &["cat ~/.cargo/credentials.toml"]),
    Attempt::new("home-list", Output, &["ls -a ~/.ssh ~/.config/gh"]),
    Attempt::new("home-shell-start-up", Outside, &["echo attack >> ~/.bashrc; echo attack >> ~/.profile"]),
    Attempt::new("home-authorized-keys", Outside, &["mkdir -p ~/.ssh; echo attack >> ~/.ssh/authorized_keys"]),
    Attempt::new("home-systemd-unit", Outside, &["mkdir -p ~/.config/systemd/user; echo attack > ~/.config/systemd/user/a.service"]),
    Attempt::new("home-git-config", Outside, &["echo '[core]' >> ~/.gitconfig; git config --global core.pager attack"]),
    Attempt::new("home-programs", Outside, &["echo attack >> ~/.cargo/bin/tool; echo attack > ~/.local/bin/new"]),
    Attempt::new("shadow", Output, &["[ -n \"$(head -c 1 /etc/shadow)\" ] && echo ESCAPED"]).needs(&["user is root"]),
    Attempt::new("home-of-root", Output, &["ls -d /root/.[a-z]* && echo ESCAPED"]).needs(&["user is root"]),
    Attempt::new("home-directories", Output, &["ls $OUT/.. | grep -q outside && echo ESCAPED"]),
    Attempt::new("outside-read", Output, &["cat $OUT/secret.txt"]),
    Attempt::new("outside-write", Outside, &["echo attack >> $OUT/victim.txt"]),
    Attempt::new("outside-create", Outside, &["touch $OUT/new $WS/../new"]),
    Attempt::new("outside-delete", Outside, &["rm -rf $OUT"]),
    Attempt::new("outside-move-in", Output, &["mv $OUT/secret.txt $WS/in; cat $WS/in"]),
    Attempt::new("outside-move-out", Outside, &["mv $WS/file.txt $OUT/; cp $WS/README $OUT/"]),
    Attempt::new("outside-hard-link", Output, &["ln $OUT/secret.txt $WS/hard; cat $WS/hard"]),
    Attempt::new("outside-symlink-read", Output, &["cat $WS/link-out/secret.txt $WS/link-file"]),
    Attempt::new("outside-symlink-write", Outside, &["echo attack >> $WS/link-out/victim.txt; echo attack >> $WS/link-file"]),
    Attempt::new("outside-new-symlink", Output, &["ln -s $OUT $WS/new-link; cat $WS/new-link/secret.txt; ln -s $OUT /tmp/l-$N; cat /tmp/l-$N/secret.txt; rm -f /tmp/l-$N"]),
    Attempt::new("outside-new-symlink-in-next-command", Output, &["mv $WS/src $WS/old; ln -s $OUT $WS/src", "cat $WS/src/secret.txt"]),
    Attempt::new("outside-chmod", Outside, &["chmod 777 $OUT/victim.txt $OUT"]),
    Attempt::new("outside-times", Outside, &["touch -d @1 $OUT/victim.txt"]),
    Attempt::new("workspace-rename", Outside, &["mv $WS $WS-moved; mv $WS/.. $WS/../../moved"]).control("mv $WS $WS-moved; mv $WS-moved $WS; touch $OUT/new"),
    Attempt::new("workspace-remove-parent", Outside, &["rm -rf $WS/../outside $WS/.."]).control("rm -rf $WS/../outside"),
    Attempt::new("workspace-write", Workspace, &["echo attack >> $WS/file.txt"]).scope(AllowedInWorkspace),
    Attempt::new("workspace-create", Workspace, &["mkdir $WS/new && touch $WS/new/file"]).scope(AllowedInWorkspace),
    Attempt::new("workspace-delete", Workspace, &["rm $WS/file.txt"]).scope(AllowedInWorkspace),
    Attempt::new("workspace-chmod", Workspace, &["chmod 777 $WS/file.txt"]).scope(AllowedInWorkspace),
    Attempt::new("workspace-rename-inside", Workspace, &["mv $WS/src $WS/moved"]).scope(AllowedInWorkspace),
    Attempt::new("workspace-reopen", Workspace, &["$TOOL reopen $WS/file.txt > /dev/null"]).scope(AllowedInWorkspace),
    Attempt::new("workspace-second-directory", Workspace, &["echo attack > $WS2/new"]).scope(AllowedInWorkspace),
    Attempt::new("workspace-remount", Workspace, &["mount -o remount,rw,bind $WS; mount -o remount,rw $WS; $TOOL set-writable $WS > /dev/null; touch $WS/new"])
        .scope(AllowedInWorkspace),
    // Directories that the environment of the service names and that lie in the workspace.
    Attempt::new("path-directory-replaced", Output, &["mv $WS/.venv/bin $WS/.venv/b; ln -s $OUT $WS/.venv/bin", "cat $WS/.venv/bin/secret.txt $OUT/secret.txt"]),
    Attempt::new("path-parent-replaced", Output, &["mv $WS/.venv $WS/v; ln -s $OUT $WS/.venv", "cat $WS/.venv/secret.txt $OUT/secret.txt"]),
    Attempt::function("path-directory-replaced-before-restart", Output, special::path_replaced_before_restart),
    // Directories that a session must not share with the machine.
    Attempt::new("tmp-of-the-host", Outside, &["touch /tmp/recount-escape-$N /var/tmp/recount-escape-$N"]),
    Attempt::new("shm-of-the-host", Outside, &["touch /dev/shm/recount-escape-$N"]),
    Attempt::new("tmp-of-the-host-read", Output, &["cat /tmp/recount-planted-$N /var/tmp/recount-planted-$N"])
        .control("cat /var/tmp/recount-planted-$N"),
    Attempt::new("run-directory", Output, &["ls /run/* && echo ESCAPED"]).needs(&["user is root"]),
    Attempt::new("system-cron", Output, &["for d in /etc/cron.d /etc/cron.daily /var/spool/cron; do $TOOL create-in $d; done"])
        .needs(&["user is root", "cron directories exist"]),
    Attempt::new("system-units", Output, &["for d in /etc/systemd/system /run/systemd/system /usr/lib/systemd/system; do $TOOL create-in $d; done"])
        .needs(&["user is root", "systemd directories exist"]),
    Attempt::new("system-programs", Output, &["for d in /usr/bin /usr/local/bin /usr/sbin /opt; do $TOOL create-in $d; done"])
        .needs(&["user is root"]),
    Attempt::new("system-libraries", Output, &["for d in /usr/lib /lib /etc/ld.so.conf.d; do $TOOL create-in $d; done"])
        .needs(&["user is root"]),
    Attempt::new("system-preload", Output, &["$TOOL create-in /etc"]).needs(&["user is root"]),
    Attempt::new("system-boot", Output, &["$TOOL create-in /boot"]).needs(&["user is root", "/boot exists"]),
    Attempt::new("system-profile", Output, &["$TOOL create-in /etc/profile.d; $TOOL open-for-writing /etc/profile"])
        .needs(&["user is root"]),
    // Descriptors that the service has inherited and did not mean to pass on.
    Attempt::new("inherited-file-read", Output, &["cat <&9"]),
    Attempt::new("inherited-file-write", Outside, &["echo attack >&9"]),
    Attempt::new("inherited-directory", Output, &["cat /proc/self/fd/8$DATA/secret.db; cat /dev/fd/8$OUT/secret.txt"]),
    Attempt::new("inherited-list", Output, &["for fd in /proc/self/fd/*; do case $(readlink $fd) in /|*leaked*) echo ESCAPED;; esac; done"]),
    Attempt::new("helper-overwritten", Outside, &["$TOOL overwrite-program 1; $TOOL overwrite-program $PPID"])
        .control("cp $TOOL $OUT/program; $OUT/program nap & $TOOL overwrite-program $!"),
    Attempt::new("setuid-copy-left-behind", Outside, &["cp /bin/true $WS/setuid; chmod 4755 $WS/setuid"]),
    Attempt::new("setuid-copy-installed", Outside, &["install -m 4755 /bin/true $WS/setuid"]),
    // Paths of the profile that the program can replace.
    Attempt::function("directory-replaced-by-symlink", Output, special::directory_replaced).scope(Full),
    Attempt::function("granted-path-replaced-by-symlink", Output, special::granted_path_replaced).scope(Full),
    Attempt::function("hidden-symlink-replaced", Output, special::hidden_symlink_replaced).scope(Full),
    Attempt::function("hidden-below-granted-path", Output, special::hidden_below_granted_path).scope(Full),
    Attempt::function("workspace-is-home", Output, special::workspace_is_home),
    Attempt::function("workspace-holds-home", Output, special::workspace_holds_home),
    Attempt::function("workspace-is-home-start-up", Outside, special::workspace_is_home_start_up),
    Attempt::function("preloaded-library", Output, special::preloaded_library),
    Attempt::function("race-of-directory-and-symlink", Output, special::race_of_directory).scope(Full),
    Attempt::function("race-in-tmp", Output, special::race_in_tmp).scope(Full),
    Attempt::function("lock-on-protected-file", Output, special::lock_on_protected_file).scope(Full),
];
