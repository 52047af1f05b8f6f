//! The handle: what this machine enforces, and programs started in a profile.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::helper::{self, Lifeline, MARK, PROGRAM_VARIABLE, SPEC, Session, Spec};
use crate::plan::{Plan, View, Views, system_views};
use crate::protect::Held;
use crate::{LaunchError, Level, Limits, Profile, Support};

/// The sessions whose private `/tmp` is kept, the least recently used one being dropped first.
const MOST_SESSIONS: usize = 256;

/// The largest piece of a spec, in bytes. The kernel accepts 128 KiB in one variable.
const SPEC_PIECE: usize = 96 << 10;

/// Whether this program can be executed again as a helper.
static IS_HELPER: AtomicBool = AtomicBool::new(false);

/// Runs the helper of the sandbox if this process was started as one, and never returns then.
///
/// A program that uses [`Sandbox::detect`] calls this first in its `main`, before it starts a thread: the sandbox executes
/// the program again to confine the programs that it starts. A program that cannot do so names another one with
/// [`Sandbox::with_helper`].
///
/// ```
/// recount_sandbox::run_if_helper();
/// let sandbox = recount_sandbox::Sandbox::detect();
/// println!("{}", sandbox.support().level);
/// ```
pub fn run_if_helper() {
    if let Some(code) = helper::run(std::env::args_os().skip(1)) {
        std::process::exit(code.into());
    }
    IS_HELPER.store(true, Ordering::Relaxed);
}

/// Starts programs in profiles. Clones share what is known of the machine, and the private `/tmp` of each session.
#[derive(Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

struct Inner {
    helper: Option<Arc<Helper>>,
    /// The most that is used, although the machine may offer more.
    most: Level,
    support: OnceLock<Support>,
    system: OnceLock<Views>,
    sessions: Mutex<HashMap<String, Kept<Session>>>,
    clock: AtomicU64,
    /// Private directories for temporary files, for the level without mounts.
    directories: Mutex<HashMap<String, Kept<tempfile::TempDir>>>,
}

/// The program that confines others.
#[derive(Debug)]
struct Helper {
    path: PathBuf,
    /// The program as it was when the sandbox was created. A confined program may be able to replace the file, if it lies in
    /// its workspace, and would otherwise run unconfined as the next helper.
    program: io::Result<File>,
}

/// The state of a session, and when it was last used.
struct Kept<T> {
    value: Arc<T>,
    used: u64,
}

/// A program that is ready to be started in its profile.
///
/// It runs as long as this is kept: when it is dropped, everything that the program has started ends.
#[derive(Debug)]
pub struct Launch {
    /// The command that starts the program. Its standard output and error are the program's.
    pub command: Command,
    /// Keeps the program running.
    pub guard: LaunchGuard,
    /// Whether the kernel ends everything that the program has started together with the program. Otherwise the caller has
    /// to do so.
    pub is_contained: bool,
}

/// Keeps a program running. When it is dropped, everything that the program has started ends.
#[derive(Debug, Default)]
pub struct LaunchGuard {
    _alive: Option<OwnedFd>,
    /// The reader is dropped first: a helper that finds it finds the writer as well.
    _lifeline: Option<(PipeReader, PipeWriter)>,
    _held: Vec<Held>,
    _directory: Option<Arc<tempfile::TempDir>>,
    /// The command names it by its descriptor.
    _helper: Option<Arc<Helper>>,
}

impl Sandbox {
    /// Uses this program as the helper, if it has called [`run_if_helper`]. Otherwise nothing can be enforced.
    pub fn detect() -> Self {
        let path = IS_HELPER.load(Ordering::Relaxed).then(std::env::current_exe).and_then(Result::ok);
        // The file may have been replaced since this program was started.
        let program = Path::new(if cfg!(target_os = "linux") { "/proc/self/exe" } else { "" });
        Self::new(path.map(|path| Arc::new(Helper::open(path, program))), Level::Full)
    }

    /// Uses another program as the helper: `recount`, `recount-sandbox`, or one that calls [`run_if_helper`].
    pub fn with_helper(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        // The helper does not run in the directory of this process.
        let path = std::path::absolute(&path).unwrap_or(path);
        Self::new(Some(Arc::new(Helper::open(path.clone(), &path))), Level::Full)
    }

    /// Uses nothing beyond a level, although the machine may offer more.
    #[must_use]
    pub fn at_most(&self, level: Level) -> Self {
        Self::new(self.inner.helper.clone(), level)
    }

    fn new(helper: Option<Arc<Helper>>, most: Level) -> Self {
        let inner = Inner {
            helper,
            most,
            support: OnceLock::new(),
            system: OnceLock::new(),
            sessions: Mutex::default(),
            clock: AtomicU64::new(0),
            directories: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns what this machine enforces. The first call tries the whole sequence, which takes some milliseconds.
    pub fn support(&self) -> &Support {
        self.inner.support.get_or_init(|| self.probe())
    }

    /// Checks whether a profile can be enforced here.
    ///
    /// # Errors
    ///
    /// [`LaunchError::Unsupported`] with the cause and what the user can do about it.
    pub fn check(&self, profile: &Profile) -> Result<(), LaunchError> {
        let support = self.support();
        let unsupported = |what: &str| Err(LaunchError::Unsupported(format!("{what}: {}", support.explanation())));
        match support.level {
            Level::None => unsupported("no sandbox on this machine"),
            Level::Landlock if !profile.access.is_read_only() => {
                unsupported("only the `read-only` profile can be enforced on this machine")
            }
            Level::Landlock => {
                let granted = profile.working_directories();
                let hidden = profile.hidden.iter().filter_map(|path| fs::canonicalize(path).ok());
                let is_hidden_part = |path: &PathBuf| granted.iter().any(|directory| path.starts_with(&directory.path));
                match hidden.into_iter().find(is_hidden_part) {
                    Some(path) => unsupported(&format!("`{}` cannot be hidden in the workspace", path.display())),
                    None => Ok(()),
                }
            }
            Level::Full => Ok(()),
        }
    }

    /// Prepares a program to be started in a profile.
    ///
    /// Commands of the same `session` share one private `/tmp`. Their standard input is empty. Without a session the program
    /// has a `/tmp` of its own, and the standard input that the caller gives it.
    ///
    /// # Errors
    ///
    /// The profile cannot be enforced here, or one of its paths cannot be granted.
    pub fn launch(
        &self,
        profile: &Profile,
        session: Option<&str>,
        program: &OsStr,
        arguments: &[OsString],
    ) -> Result<Launch, LaunchError> {
        self.check(profile)?;
        let level = self.support().level;
        let system = self.inner.system.get_or_init(system_views);
        let Plan { views, directory, held } = Plan::of(profile, system)?;
        let helper = self.inner.helper.clone();
        let mut guard = LaunchGuard { _held: held, _helper: helper, ..LaunchGuard::default() };
        let mut spec = Spec {
            level,
            system: system.clone().into_iter().collect(),
            views: views.into_iter().collect(),
            directory,
            network: profile.access.network,
            limits: profile.limits.clone(),
            in_session: false,
            tmp: None,
            lifeline: None,
        };
        let mut environment = profile.environment();
        environment.insert("TMPDIR".into(), "/tmp".into());
        let mut stdin = None;
        if level == Level::Landlock {
            let tmp = self.temporary_directory(session)?;
            environment.insert("TMPDIR".into(), tmp.path().into());
            spec.tmp = Some(fs::canonicalize(tmp.path())?);
            guard._directory = Some(tmp);
        }
        if let Some(session) = session.filter(|_| level == Level::Full) {
            let (ours, theirs) = UnixStream::pair()?;
            self.session(session, &profile.limits)?.send(ours.as_fd()).map_err(io::Error::from)?;
            spec.in_session = true;
            spec.system.clear();
            stdin = Some(Stdio::from(OwnedFd::from(theirs)));
            guard._alive = Some(ours.into());
        } else {
            let (reader, writer) = io::pipe()?;
            spec.lifeline = Some(lifeline(&reader)?);
            guard._lifeline = Some((reader, writer));
        }
        let mut command = self.helper("enter", &spec)?;
        command.arg(program).args(arguments);
        for (name, value) in environment {
            let mut prefixed = OsString::from(PROGRAM_VARIABLE);
            prefixed.push(name);
            command.env(prefixed, value);
        }
        if let Some(stdin) = stdin.or_else(|| session.map(|_| Stdio::null())) {
            command.stdin(stdin);
        }
        Ok(Launch { command, guard, is_contained: level == Level::Full })
    }

    /// Forgets a session and its private `/tmp`.
    pub fn end_session(&self, session: &str) {
        lock(&self.inner.sessions).remove(session);
        lock(&self.inner.directories).remove(session);
    }

    fn helper(&self, stage: &str, spec: &Spec) -> Result<Command, LaunchError> {
        let missing = || LaunchError::Unsupported("this program has no helper for the sandbox".to_owned());
        let mut command = self.inner.helper.as_ref().ok_or_else(missing)?.command()?;
        let spec = serde_json::to_vec(spec).map_err(io::Error::from)?;
        command.arg(MARK).arg(stage).env_clear().current_dir("/");
        for (number, piece) in spec.chunks(SPEC_PIECE).enumerate() {
            let piece = std::os::unix::ffi::OsStringExt::from_vec(piece.to_vec());
            command.env::<_, OsString>(format!("{SPEC}{number}"), piece);
        }
        Ok(command)
    }

    /// The namespaces of a session, created if there are none.
    fn session(&self, name: &str, limits: &Limits) -> Result<Arc<Session>, LaunchError> {
        self.kept(&self.inner.sessions, name, || self.create_session(limits))
    }

    /// Returns the state of a session, and creates it if there is none.
    fn kept<T>(
        &self,
        sessions: &Mutex<HashMap<String, Kept<T>>>,
        name: &str,
        create: impl FnOnce() -> Result<T, LaunchError>,
    ) -> Result<Arc<T>, LaunchError> {
        let used = self.inner.clock.fetch_add(1, Ordering::Relaxed);
        if let Some(kept) = lock(sessions).get_mut(name) {
            kept.used = used;
            return Ok(Arc::clone(&kept.value));
        }
        let created = Arc::new(create()?);
        let mut sessions = lock(sessions);
        if sessions.len() >= MOST_SESSIONS && !sessions.contains_key(name) {
            let oldest = sessions.iter().min_by_key(|(_, kept)| kept.used).map(|(name, _)| name.clone());
            oldest.and_then(|name| sessions.remove(&name));
        }
        // Two commands may have created one at the same time; both use the first.
        let kept = sessions.entry(name.to_owned()).or_insert(Kept { value: created, used });
        Ok(Arc::clone(&kept.value))
    }

    fn create_session(&self, limits: &Limits) -> Result<Session, LaunchError> {
        let (ours, theirs) = UnixStream::pair()?;
        let system = self.inner.system.get_or_init(system_views).clone().into_iter().collect();
        let spec = Spec { limits: limits.clone(), system, ..probe_spec(Level::Full) };
        let mut command = self.helper("session", &spec)?;
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn()?;
        drop(command);
        let received = Session::receive(ours.as_fd()).map_err(io::Error::from)?;
        let output = child.wait_with_output()?;
        received.ok_or_else(|| LaunchError::Session(reported(&output.stderr)))
    }

    fn temporary_directory(&self, session: Option<&str>) -> Result<Arc<tempfile::TempDir>, LaunchError> {
        let create = || Ok(tempfile::Builder::new().prefix("recount-").tempdir()?);
        match session {
            Some(session) => self.kept(&self.inner.directories, session, create),
            None => create().map(Arc::new),
        }
    }

    /// Tries the whole sequence, without a program at its end.
    fn probe(&self) -> Support {
        if self.inner.helper.is_none() {
            let mut support = Support::none("this program cannot confine others");
            support.hint = Some(
                "call `recount_sandbox::run_if_helper` first in `main`, or name a helper with `Sandbox::with_helper`"
                    .to_owned(),
            );
            return support;
        }
        if !cfg!(target_os = "linux") {
            return Support::none("only Linux can confine programs");
        }
        if self.inner.most == Level::None {
            return Support::none("the sandbox was switched off");
        }
        let full = match self.inner.most {
            Level::Full => match self.try_level(Level::Full) {
                Ok(()) => return Support { gaps: gaps(), ..Support::full() },
                Err(cause) => cause,
            },
            _ => "namespaces are not used".to_owned(),
        };
        match self.try_level(Level::Landlock) {
            Ok(()) => Support { level: Level::Landlock, cause: Some(full), hint: hint(), gaps: landlock_gaps() },
            Err(landlock) => {
                Support { hint: hint(), ..Support::none(format!("{full}; without namespaces: {landlock}")) }
            }
        }
    }

    fn try_level(&self, level: Level) -> Result<(), String> {
        let text = |error: &dyn fmt::Display| error.to_string();
        let mut command = self.helper("enter", &probe_spec(level)).map_err(|error| text(&error))?;
        command.stdin(Stdio::null());
        let output = command.output().map_err(|error| {
            let path = self.inner.helper.as_ref().map_or(Path::new(""), |helper| &helper.path);
            format!("cannot run the helper `{}`: {error}", path.display())
        })?;
        if output.status.success() { Ok(()) } else { Err(reported(&output.stderr)) }
    }
}

/// A profile whose paths exist on every machine.
fn probe_spec(level: Level) -> Spec {
    let system = vec![(PathBuf::from("/usr"), View::Read)];
    let limits = Limits { tmp_mib: 1, ..Limits::default() };
    let (views, directory) = (Vec::new(), "/".into());
    Spec { level, system, views, directory, network: false, limits, in_session: false, tmp: None, lifeline: None }
}

/// Describes a pipe of this process to a helper.
fn lifeline(reader: &PipeReader) -> io::Result<Lifeline> {
    let inode = rustix::fs::fstat(reader)?.st_ino;
    Ok(Lifeline { process: std::process::id(), descriptor: reader.as_raw_fd(), inode })
}

impl Helper {
    /// Keeps the program at `program`, which `path` stands for in messages.
    fn open(path: PathBuf, program: &Path) -> Self {
        let mut options = OpenOptions::new();
        #[cfg(target_os = "linux")]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::PATH.bits().cast_signed());
        Self { path, program: options.read(true).open(program) }
    }

    /// A command that runs the program.
    fn command(&self) -> Result<Command, LaunchError> {
        let program = self.program.as_ref().map_err(|error| {
            LaunchError::Unsupported(format!("cannot run the helper `{}`: {error}", self.path.display()))
        })?;
        // The child has the same descriptors until it executes the program.
        let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
        command.arg0(&self.path);
        Ok(command)
    }
}

/// Returns the report of a helper from its standard error.
fn reported(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let text = text.trim().trim_start_matches("recount-sandbox: ");
    if text.is_empty() { "the helper ended without a report".to_owned() } else { text.to_owned() }
}

/// Returns how the user can enable namespaces.
fn hint() -> Option<String> {
    let read = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
    if read("/proc/sys/kernel/unprivileged_userns_clone") == "0" {
        return Some("run `sysctl -w kernel.unprivileged_userns_clone=1` as root".to_owned());
    }
    if read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" {
        return Some("run `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` as root, or give this program an AppArmor profile with `userns`".to_owned());
    }
    if read("/proc/sys/user/max_user_namespaces") == "0" {
        return Some("run `sysctl -w user.max_user_namespaces=10000` as root".to_owned());
    }
    Path::new("/.dockerenv").exists().then(|| {
        "let the container create user namespaces, for example with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`".to_owned()
    })
}

/// Limits that do not hold for root on kernels that count processes for the whole machine.
fn gaps() -> Vec<String> {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if rustix::process::geteuid().is_root() && version < (6, 14) {
        return vec!["the number of processes is not limited for root before Linux 6.14".to_owned()];
    }
    Vec::new()
}

fn landlock_gaps() -> Vec<String> {
    vec![
        "other profiles than `read-only` are not offered".to_owned(),
        "the size of the private directory for temporary files is not limited".to_owned(),
        "the number of processes counts all of this user, and is not limited for root".to_owned(),
        "the names, sizes and times of files that cannot be read can be looked up".to_owned(),
        "processes that a command leaves behind keep running if its helper is killed".to_owned(),
    ]
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox")
            .field("helper", &self.inner.helper.as_ref().map(|helper| &helper.path))
            .field("support", &self.inner.support.get())
            .finish_non_exhaustive()
    }
}
