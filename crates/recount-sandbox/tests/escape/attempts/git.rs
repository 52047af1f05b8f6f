//! The repository of the workspace and the configuration of Recount, which a writable workspace must not change.

use super::Attempt;
use super::Scope::{AllowedInWorkspace, Full};
use super::Sign::{Outside, Workspace};
use crate::escape::special;

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("git-replaced", Outside, &["mv $WS/.git $WS/x; mkdir $WS/.git"]),
    Attempt::new("git-deleted", Outside, &["rm -rf $WS/.git"]),
    Attempt::new("git-config-appended", Outside, &["printf '[core]\\nfsmonitor = attack\\n' >> $WS/.git/config"]),
    Attempt::new("git-config-set", Outside, &["git -C $WS config core.fsmonitor attack"]),
    Attempt::new("git-config-renamed-over", Outside, &["echo attack > $WS/.git/new; mv $WS/.git/new $WS/.git/config"]),
    Attempt::new("git-config-unlinked", Outside, &["rm -f $WS/.git/config; echo attack > $WS/.git/config"]),
    Attempt::new("git-config-hard-link", Outside, &["ln $WS/.git/config $WS/hard; echo attack >> $WS/hard"]),
    Attempt::new("git-config-reopened", Outside, &["$TOOL reopen $WS/.git/config"]),
    Attempt::new("git-config-mode", Outside, &["chmod 777 $WS/.git/config"]),
    Attempt::new("git-config-included", Outside, &["echo attack >> $WS/included.gitconfig"]),
    Attempt::new("git-config-included-replaced", Outside, &["echo attack > $WS/n; mv $WS/n $WS/included.gitconfig"]),
    Attempt::new("git-hooks-directory-of-config", Outside, &["echo attack > $WS/githooks/pre-commit"]),
    Attempt::new(
        "git-hook-created",
        Outside,
        &["echo attack > $WS/.git/hooks/pre-commit; chmod +x $WS/.git/hooks/pre-commit"],
    ),
    Attempt::new(
        "git-hooks-replaced",
        Outside,
        &["mv $WS/.git/hooks $WS/.git/h; mkdir $WS/.git/hooks; touch $WS/.git/hooks/pre-commit"],
    ),
    Attempt::new("git-hooks-symlink", Outside, &["rm -rf $WS/.git/hooks; ln -s ../src $WS/.git/hooks"]),
    Attempt::new(
        "git-hooks-symlink-replaced",
        Outside,
        &["rm $WS2/.git/hooks; mkdir $WS2/.git/hooks; echo attack > $WS2/.git/hooks/pre-commit"],
    ),
    Attempt::new("git-hooks-behind-symlink", Outside, &["echo attack > $WS2/tracked-hooks/pre-commit"]),
    Attempt::new("git-commondir", Outside, &["echo $WS/evil > $WS/.git/commondir"]),
    Attempt::new(
        "git-commondir-renamed",
        Outside,
        &["echo $WS/evil > $WS/.git/c; mv -f $WS/.git/c $WS/.git/commondir"],
    ),
    Attempt::new("git-config-worktree", Outside, &["echo attack > $WS/.git/config.worktree"]),
    Attempt::new("git-modules", Outside, &["mkdir -p $WS/.git/modules/a; echo attack > $WS/.git/modules/a/config"]),
    Attempt::new("git-modules-replaced", Outside, &["mv $WS/.git/modules $WS/.git/m; mkdir $WS/.git/modules"])
        .control("mkdir $WS/.git/modules"),
    Attempt::new("git-worktree-of-others", Outside, &["echo $WS/evil > $WS/.git/worktrees/linked/commondir"]),
    Attempt::new(
        "git-worktree-of-others-replaced",
        Outside,
        &["cd $WS/.git/worktrees; mv linked x; cp -r x linked; echo $WS/evil > linked/commondir"],
    ),
    Attempt::new(
        "git-worktrees-replaced",
        Outside,
        &["cd $WS/.git; mv worktrees x; cp -r x worktrees; echo $WS/evil > worktrees/linked/commondir"],
    ),
    Attempt::new("git-initialised", Outside, &["git init -q $PLAIN; git -C $PLAIN config core.pager attack"]),
    Attempt::new("git-directory-created", Outside, &["mkdir $PLAIN/.git; echo attack > $PLAIN/.git/config"]),
    Attempt::new("git-file-created", Outside, &["echo 'gitdir: x' > $PLAIN/.git"]),
    Attempt::new("git-symlink-created", Outside, &["ln -sfn src $PLAIN/.git"]),
    Attempt::new(
        "git-bare-repository",
        Outside,
        &["cd $PLAIN; mkdir objects refs; echo 'ref: refs/heads/main' > HEAD; echo attack > config"],
    ),
    Attempt::new("git-bare-workspace", Outside, &["echo attack >> $BARE/config; echo attack > $BARE/hooks/pre-push"]),
    Attempt::new(
        "git-symlink-replaced",
        Outside,
        &["rm $SYM/.git; cp -r $SYM/store $SYM/.git; echo attack >> $SYM/.git/config"],
    ),
    Attempt::new(
        "git-behind-symlink",
        Outside,
        &["echo attack >> $SYM/store/config; echo attack > $SYM/store/commondir"],
    ),
    Attempt::new(
        "git-behind-symlink-renamed",
        Outside,
        &["mv $SYM/store $SYM/s; cp -r $SYM/s $SYM/store; echo attack >> $SYM/store/config"],
    ),
    Attempt::new("git-linked-file", Outside, &["echo 'gitdir: x' > $TREE/.git"]),
    Attempt::new("git-linked-file-replaced", Outside, &["rm $TREE/.git; mkdir $TREE/.git"]),
    Attempt::new(
        "git-linked-config",
        Outside,
        &["echo attack >> $WS/.git/config; git -C $TREE config core.pager attack"],
    ),
    Attempt::new(
        "git-linked-hooks",
        Outside,
        &["echo attack > $(git -C $TREE rev-parse --git-common-dir)/hooks/pre-commit"],
    ),
    Attempt::new("git-linked-commondir", Outside, &["echo $TREE/evil > $(git -C $TREE rev-parse --git-dir)/commondir"]),
    Attempt::new("git-linked-gitdir", Outside, &["echo $TREE/evil > $(git -C $TREE rev-parse --git-dir)/gitdir"]),
    Attempt::new(
        "git-linked-directory-replaced",
        Outside,
        &["d=$(git -C $TREE rev-parse --git-dir); mv $d $d-x; cp -r $d-x $d; echo $TREE/evil > $d/commondir"],
    ),
    Attempt::new(
        "git-commit",
        Workspace,
        &["cd $WS && echo more > more.txt && git add more.txt && git commit -qm more && git log --oneline"],
    )
    .scope(AllowedInWorkspace),
    Attempt::new("git-branch", Workspace, &["git -C $WS branch other"]).scope(AllowedInWorkspace),
    Attempt::new(
        "git-linked-commit",
        Workspace,
        &["cd $TREE && echo more > more.txt && git add more.txt && git commit -qm more"],
    )
    .scope(AllowedInWorkspace),
    // The configuration of Recount.
    Attempt::new("configuration-appended", Outside, &["echo attack >> $WS/recount.toml"]),
    Attempt::new("configuration-renamed-over", Outside, &["echo attack > $WS/n; mv $WS/n $WS/recount.toml"]),
    Attempt::new("configuration-deleted", Outside, &["rm -f $WS/recount.toml"]),
    Attempt::new("configuration-moved", Outside, &["mv $WS/recount.toml $WS/old; echo attack > $WS/recount.toml"]),
    Attempt::new("configuration-edited", Outside, &["sed -i s/agents/attack/ $WS/recount.toml"]),
    Attempt::new("configuration-truncated", Outside, &["truncate -s 0 $WS/recount.toml"]),
    Attempt::new("configuration-reopened", Outside, &["$TOOL reopen $WS/recount.toml"]),
    Attempt::new("configuration-hard-link", Outside, &["ln $WS/recount.toml $WS/hard; echo attack >> $WS/hard"]),
    Attempt::new("configuration-created", Outside, &["echo attack > $PLAIN/recount.toml"]),
    Attempt::new(
        "configuration-created-by-rename",
        Outside,
        &["echo attack > $PLAIN/n; mv -f $PLAIN/n $PLAIN/recount.toml"],
    ),
    Attempt::new("configuration-created-as-symlink", Outside, &["ln -sf file.txt $PLAIN/recount.toml"]),
    Attempt::new(
        "configuration-parent-replaced",
        Outside,
        &["mv $WS/conf $WS/c; mkdir $WS/conf; echo attack > $WS/conf/recount.toml"],
    ),
    Attempt::new(
        "configuration-parent-created",
        Outside,
        &["mkdir -p $WS/missing/below; echo attack > $WS/missing/below/recount.toml"],
    ),
    Attempt::new("configuration-symlink-replaced", Outside, &["rm $WS/linked.toml; echo attack > $WS/linked.toml"]),
    Attempt::new("configuration-behind-symlink", Outside, &["echo attack >> $WS/target.toml"]),
    Attempt::function("configuration-by-symlinked-workspace", Outside, special::configuration_by_symlink).scope(Full),
    Attempt::function("git-directory-made-unwritable", Outside, special::unwritable_git_directory).scope(Full),
];
