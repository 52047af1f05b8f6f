//! Attempts that are more than a script.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use recount_sandbox::{Access, Profile};

use super::world::{Mode, World, finish, processes_with};

/// A further directory of the profile, which the first command replaces by a symbolic link.
pub(crate) fn directory_replaced(world: &mut World) -> String {
    let profile = |world: &World| world.profile().directory(world.run_path("ws/src"));
    let first = world.script(&profile(world), "mv $WS/src $WS/old; ln -s $OUT $WS/src");
    first + &try_script(world, &profile(world), "cat $WS/src/secret.txt $OUT/secret.txt")
}

/// A directory of `PATH` that lies in the workspace is replaced, and the service starts again.
pub(crate) fn path_replaced_before_restart(world: &mut World) -> String {
    let profile = world.profile();
    let first = world.script(&profile, "mv $WS/.venv/bin $WS/.venv/b; ln -s $OUT $WS/.venv/bin");
    world.restart();
    first + &world.script(&profile, "cat $WS/.venv/bin/secret.txt $OUT/secret.txt")
}

/// A granted path that lies in another one, which the first command replaces by a symbolic link.
pub(crate) fn granted_path_replaced(world: &mut World) -> String {
    fs::create_dir_all(world.run_path("ws/out/inner")).unwrap();
    let mut access = world.access();
    access.write_paths = vec![world.run_path("ws/out"), world.run_path("ws/out/inner")];
    let profile = world.with_tools(Profile::new(world.run_path("ws"), access).hide(world.run_path("ws/data")));
    let mut output = world.script(&profile, "mv $WS/out/inner $WS/out/i; ln -s $OUT $WS/out/inner");
    output += &try_script(world, &profile, "cat $WS/out/inner/secret.txt $OUT/secret.txt");
    let _ = fs::remove_dir_all(world.run_path("ws/out"));
    output
}

/// A hidden path that is a symbolic link in the workspace.
pub(crate) fn hidden_symlink_replaced(world: &mut World) -> String {
    symlink("deep/er/data", world.run_path("ws/store")).unwrap();
    let profile = Profile::new(world.run_path("ws"), world.access()).hide(world.run_path("ws/store"));
    let profile = world.with_tools(profile);
    let mut output = try_script(world, &profile, "rm $WS/store; mkdir $WS/store");
    output += &try_script(world, &profile, "cat $WS/deep/er/data/secret.db");
    let store = world.run_path("ws/store");
    let _ = fs::remove_file(&store).or_else(|_| fs::remove_dir(&store));
    output
}

/// The access names a directory that holds the hidden one.
pub(crate) fn hidden_below_granted_path(world: &mut World) -> String {
    let mut output = String::new();
    for name in ["", "ws"] {
        let mut access = world.access();
        access.read_paths = vec![world.run_path(name)];
        let profile = Profile::new(world.run_path("ws2"), access).hide(world.run_path("ws/data"));
        output += &world.script(&world.with_tools(profile), "cat $DATA/secret.db");
    }
    output
}

const READ_CREDENTIALS: &str = "cd; cat .ssh/* .gnupg/*/* .aws/* .azure/* .config/gcloud/* .kube/* .docker/* .netrc .npmrc \
     .pypirc .cargo/credentials.toml .git-credentials .local/share/keyrings/*";

/// The workspace is the home directory itself.
pub(crate) fn workspace_is_home(world: &mut World) -> String {
    let profile = world.with_tools(Profile::new(world.fixture.own.join("home"), Access::read_only()));
    world.script(&profile, READ_CREDENTIALS)
}

/// The home directory lies in the workspace.
pub(crate) fn workspace_holds_home(world: &mut World) -> String {
    let profile = world.with_tools(Profile::new(&world.fixture.own, Access::read_only()));
    world.script(&profile, READ_CREDENTIALS)
}

/// The workspace is the home directory, and the program changes what the user's next shell runs.
pub(crate) fn workspace_is_home_start_up(world: &mut World) -> String {
    let profile = world.with_tools(Profile::new(world.fixture.own.join("home"), world.access()));
    world.script(
        &profile,
        "cd; for f in .bashrc .profile .gitconfig .cargo/bin/tool .cargo/bin/new .local/bin/tool .config/autostart/new \
         .ssh/authorized_keys; do echo attack >> $f; done; mv .config c; mkdir -p .config/autostart; touch .config/autostart/new",
    )
}

/// The environment of the program names a library in the workspace. The helper must not load it.
pub(crate) fn preloaded_library(world: &mut World) -> String {
    let mark = world.fixture.own.join("loaded");
    let (source, library) = (world.run_path("ws/evil.c"), world.run_path("ws/evil.so"));
    let text = format!(
        "#include <fcntl.h>\n__attribute__((constructor)) static void run(void) {{ open(\"{}\", O_CREAT, 0600); }}\n",
        mark.display()
    );
    fs::write(&source, text).unwrap();
    let compiled = Command::new("gcc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(compiled.unwrap().success());
    let mut output = world.script(&world.profile().env("LD_PRELOAD", &library), "/bin/true");
    if mark.exists() {
        fs::remove_file(mark).unwrap();
        output += "ESCAPED: the library was loaded outside";
    }
    fs::remove_file(source).unwrap();
    fs::remove_file(library).unwrap();
    output
}

/// One command exchanges a directory of the profile and a symbolic link while others start.
pub(crate) fn race_of_directory(world: &mut World) -> String {
    symlink(world.run_path("outside"), world.run_path("ws/swapped")).unwrap();
    let profile = world.profile_for("").directory(world.run_path("ws/src"));
    let (attacker, launch) = world.spawn(&world.profile_for(""), "$TOOL swap $WS/src $WS/swapped 700", true);
    let mut output = String::new();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(600) && !output.contains("S3CRET") {
        output += &try_script(world, &profile, "cat $WS/src/secret.txt $OUT/secret.txt");
    }
    output += &finish(attacker);
    drop(launch);
    let (swapped, source) = (world.run_path("ws/swapped"), world.run_path("ws/src"));
    if source.is_symlink() {
        fs::remove_file(&source).unwrap();
        fs::rename(swapped, source).unwrap();
    } else {
        fs::remove_file(swapped).unwrap();
    }
    output
}

/// The workspace lies in `/tmp`, of which the session has its own. One command exchanges the directory that holds the
/// mount of the workspace while others start.
pub(crate) fn race_in_tmp(world: &mut World) -> String {
    let directory = tempfile::Builder::new().prefix("recount-race-").tempdir_in("/tmp").unwrap();
    let workspace = directory.path().join("ws");
    fs::create_dir(&workspace).unwrap();
    fs::write(workspace.join("recount.toml"), "[agents.a]\n").unwrap();
    let profile = Profile::new(&workspace, world.access()).protect(workspace.join("recount.toml"));
    let profile = world.with_tools(profile);
    let name = directory.path().file_name().unwrap().to_str().unwrap();
    // A helper that restricts mounts by their paths restricts others.
    let prepare = format!(
        "cd /tmp; mkdir decoy; ln -s /newroot/dev/shm decoy/ws; ln -s /newroot/dev/null /dev/shm/recount.toml; \
         ln -s /newroot/dev/shm /dev/shm/.git; ln -s /newroot/dev/null /dev/shm/HEAD; $TOOL swap /tmp/{name} /tmp/decoy 900"
    );
    let (attacker, launch) = match world.mode {
        Mode::Control => world.spawn(&profile, "true", true),
        Mode::ReadOnly | Mode::Workspace | Mode::Landlock => world.spawn(&profile, &prepare, true),
    };
    let attack =
        format!("cd {0}; for i in 1 2 3; do echo attack >> {0}/recount.toml; touch {0}/new; done", workspace.display());
    let mut output = String::new();
    let start = Instant::now();
    let is_changed = || fs::read_to_string(workspace.join("recount.toml")).unwrap() != "[agents.a]\n";
    while start.elapsed() < Duration::from_millis(800) && !is_changed() {
        output += &try_script(world, &profile, &attack);
    }
    output += &finish(attacker);
    drop(launch);
    if is_changed() {
        output += "ESCAPED: the configuration changed\n";
    }
    if world.access().is_read_only() && workspace.join("new").exists() {
        output += "ESCAPED: the workspace changed\n";
    }
    output
}

/// A program locks a protected file, for which the service must not wait.
pub(crate) fn lock_on_protected_file(world: &mut World) -> String {
    let profile = world.profile();
    let lock = "for f in $WS/.git/config $WS/recount.toml $PLAIN/recount.toml; do flock -x $f sleep 6 & done; echo LOCKED; wait";
    let (mut attacker, launch) = world.spawn(&profile, lock, true);
    let mut word = [0; 6];
    attacker.stdout.as_mut().unwrap().read_exact(&mut word).unwrap();
    thread::sleep(Duration::from_millis(50));
    let start = Instant::now();
    let mut output = match world.mode {
        Mode::Control => world.script(&profile, "flock -x $WS/.git/config true"),
        Mode::ReadOnly | Mode::Workspace | Mode::Landlock => world.script(&profile, "true"),
    };
    if start.elapsed() > Duration::from_secs(4) {
        output += "ESCAPED: the service waited for the lock";
    }
    end(attacker, launch);
    output
}

/// The workspace is named by a symbolic link.
pub(crate) fn configuration_by_symlink(world: &mut World) -> String {
    let link = world.run_path("link");
    symlink("ws", &link).unwrap();
    let profile = Profile::new(&link, world.access()).protect(link.join("recount.toml")).hide(link.join("data"));
    let output = world.script(
        &world.with_tools(profile),
        "echo attack >> $WS/recount.toml; echo attack >> recount.toml; cat $DATA/*",
    );
    fs::remove_file(link).unwrap();
    output
}

/// The service cannot create placeholders in a directory that the program can make writable.
pub(crate) fn unwritable_git_directory(world: &mut World) -> String {
    let git = world.run_path("ws2/.git");
    let set_mode = |mode| fs::set_permissions(&git, fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o555);
    let output = world.script(
        &world.profile(),
        "chmod 755 $WS2/.git; echo attack > $WS2/.git/config.worktree; echo . > $WS2/.git/commondir",
    );
    set_mode(0o755);
    output
}

const LONG: &str = "$TOOL leave-behind $TOKEN; exec -a $TOKEN sleep 20";

/// The guard is dropped while the program runs.
pub(crate) fn dropped_guard(world: &mut World) -> String {
    let (child, launch) = world.spawn(&world.profile(), LONG, true);
    wait_for_token(world);
    drop(launch);
    wait_for_end(world, child)
}

/// The same without a session.
pub(crate) fn dropped_guard_without_session(world: &mut World) -> String {
    let (child, launch) = world.spawn(&world.profile(), LONG, false);
    wait_for_token(world);
    drop(launch);
    wait_for_end(world, child)
}

/// The helper is killed while the program runs.
pub(crate) fn killed_helper(world: &mut World) -> String {
    let script = if world.mode == Mode::Landlock { "exec -a $TOKEN sleep 20" } else { LONG };
    let (mut child, launch) = world.spawn(&world.profile(), script, false);
    wait_for_token(world);
    if world.mode != Mode::Control {
        child.kill().unwrap();
    }
    let output = wait_for_end(world, child);
    drop(launch);
    output
}

/// The helper is killed while it prepares the sandbox.
pub(crate) fn helper_killed_early(world: &mut World) -> String {
    for step in 0..if world.mode == Mode::Control { 1 } else { 16 } {
        for is_in_session in [true, false] {
            let (mut child, launch) = world.spawn(&world.profile_for(LONG), LONG, is_in_session);
            thread::sleep(Duration::from_millis(1) * step);
            if world.mode != Mode::Control {
                child.kill().unwrap();
                child.wait().unwrap();
            }
            drop(launch);
        }
    }
    thread::sleep(Duration::from_millis(50));
    String::new()
}

/// The program's standard streams are a terminal, into which it types.
pub(crate) fn inherited_terminal(world: &mut World) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let open = || {
        let mut options = fs::OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NOCTTY.bits().cast_signed());
        options.read(true).write(true).open(Path::new(name.to_str().unwrap())).unwrap()
    };
    let streams = |command: &mut Command| {
        command.stdin(open()).stdout(open()).stderr(open());
    };
    let mut child = if world.mode == Mode::Control {
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).arg(world.tools.join("tool")).arg("tiocsti");
        streams(&mut command);
        command.spawn().unwrap()
    } else {
        let mut launch = world.launch(&world.profile(), "$TOOL tiocsti", false);
        streams(&mut launch.command);
        launch.command.spawn().unwrap()
    };
    child.wait().unwrap();
    read_terminal(terminal.into())
}

/// Reads a pseudo-terminal until every process has closed its other side, or is silent for a second.
fn read_terminal(mut terminal: fs::File) -> String {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let silence = Timespec { tv_sec: 1, tv_nsec: 0 };
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while poll(&mut [PollFd::new(&terminal, PollFlags::IN)], Some(&silence)).is_ok_and(|ready| ready > 0) {
        match terminal.read(&mut piece) {
            Ok(length @ 1..) => bytes.extend_from_slice(&piece[..length]),
            // Linux reports an error once the other side is closed.
            Ok(0) | Err(_) => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs a script that may be refused, because a path of the profile has changed.
fn try_script(world: &World, profile: &Profile, script: &str) -> String {
    if world.mode == Mode::Control {
        return world.script(profile, script);
    }
    let session = world.variable("N").rsplit('-').next().unwrap().to_owned();
    let arguments = ["-c".into(), script.into()];
    match world.sandbox.launch(profile, Some(&session), "bash".as_ref(), &arguments) {
        Ok(mut launch) => {
            launch.command.stdout(Stdio::piped()).stderr(Stdio::piped());
            finish(launch.command.spawn().unwrap())
        }
        Err(error) => format!("refused: {error}\n"),
    }
}

/// Waits until both processes of [`LONG`] run. At some levels only one of them can start.
fn wait_for_token(world: &World) {
    let start = Instant::now();
    loop {
        let number = processes_with(world.variable("TOKEN")).len();
        if number >= 2 || (number == 1 && start.elapsed() > Duration::from_secs(2)) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "the program did not start");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the program has ended, unless the sandbox is off.
fn wait_for_end(world: &World, child: Child) -> String {
    if world.mode == Mode::Control { String::new() } else { finish(child) }
}

fn end<T>(mut child: Child, launch: T) {
    let _ = child.kill();
    let _ = child.wait();
    drop(launch);
}
