//! The service of a worker: it starts attempts, confined or not, and looks for what they have done.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use recount_sandbox::{Access, Launch, Level, Limits, Profile, Sandbox};

use super::attempts::Sign;
use super::fixture::{Fixture, Snapshot, is_setuid};
use super::listeners::Listeners;

/// How attempts are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// With the sandbox off.
    Control,
    /// In the `read-only` profile.
    ReadOnly,
    /// In the `workspace` profile.
    Workspace,
    /// In the `read-only` profile without namespaces.
    Landlock,
}

pub(crate) struct World {
    pub(crate) mode: Mode,
    pub(crate) sandbox: Sandbox,
    pub(crate) fixture: Fixture,
    pub(crate) tools: PathBuf,
    pub(crate) variables: BTreeMap<String, String>,
    secret: String,
    listeners: Listeners,
    victim: Child,
    victim_marker: PathBuf,
    number: usize,
    before: Snapshot,
    /// The last attempt has changed files, also if it may do so.
    is_changed: bool,
}

/// The time that one command may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The time that effects of a command may take after it has ended.
const MOMENT: Duration = Duration::from_secs(3);

impl World {
    pub(crate) fn create(mode: Mode, base: &Path, secret: &str) -> Self {
        let tools = base.join("tools");
        let sandbox = new_sandbox(mode, &tools);
        let own = base.join("own");
        let fixture = Fixture::create(&own, secret, if mode == Mode::Landlock { "shown" } else { secret });
        let name = base.file_name().unwrap().to_str().unwrap().to_owned();
        let listeners = Listeners::create(&name);
        let victim_marker = own.join("signalled");
        let tool = tools.join("tool");
        let added = Command::new(&tool).args(["add-key", &name, secret]).status();
        drop(added);
        let (victim, shm) = start_victim(&tool, &own, secret, &victim_marker, &name);
        let is_root = rustix::process::geteuid().is_root();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let run = |name: &str| text(&fixture.run.join(name));
        let mut variables: BTreeMap<&str, String> = BTreeMap::new();
        variables.insert("WS", run("ws"));
        variables.insert("WS2", run("ws2"));
        variables.insert("PLAIN", run("plain"));
        variables.insert("BARE", run("bare"));
        variables.insert("TREE", run("tree"));
        variables.insert("SYM", run("sym"));
        variables.insert("OUT", run("outside"));
        variables.insert("DATA", run(if mode == Mode::Landlock { "outside/data" } else { "ws/data" }));
        variables.insert("TOOL", text(&tool));
        variables.insert("SUID", text(&tools.join("setuid")));
        variables.insert("SVC", std::process::id().to_string());
        variables.insert("GROUP", rustix::process::getpgrp().as_raw_nonzero().to_string());
        variables.insert("PIDNS", text(&fs::read_link("/proc/self/ns/pid").unwrap()));
        variables.insert("VICTIM", victim.id().to_string());
        variables.insert("SHM", shm);
        variables.insert("QUEUE", format!("/{name}"));
        variables.insert("KEY", name.clone());
        variables.insert("ABSTRACT", name);
        variables.insert("PORT", listeners.port().to_string());
        variables.insert("PORT6", listeners.port6().map(|port| port.to_string()).unwrap_or_default());
        variables.insert("UDP", listeners.udp_port().to_string());
        variables.insert("ADDRESS", host_address().unwrap_or_default());
        let mounter = if is_root { "unshare --mount" } else { "unshare --user --map-root-user --mount" };
        variables.insert("MOUNTER", mounter.to_owned());
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self {
            mode,
            sandbox,
            fixture,
            tools,
            variables,
            secret: secret.to_owned(),
            listeners,
            victim,
            victim_marker,
            number: 0,
            before: Snapshot::new(),
            is_changed: true,
        }
    }

    /// Forgets what the sandbox knows of the machine, as if the service had started again.
    pub(crate) fn restart(&mut self) {
        self.sandbox = new_sandbox(self.mode, &self.tools);
    }

    /// Prepares the next attempt.
    pub(crate) fn reset(&mut self) {
        self.number += 1;
        let process = std::process::id();
        self.variables.insert("N".to_owned(), format!("{process}-{}", self.number));
        self.variables.insert("TOKEN".to_owned(), self.token());
        if std::mem::take(&mut self.is_changed) {
            if !self.before.is_empty() {
                self.fixture.restore(&self.before);
            }
            let run = self.fixture.run.clone();
            self.listeners.bind_in(&[&run.join("ws"), &run.join("outside")]);
            let restored = self.fixture.snapshot();
            assert!(self.before.is_empty() || self.before == restored, "the files could not be restored");
            self.before = restored;
        }
        fs::write(self.host_file("/var/tmp", "planted"), &self.secret).unwrap();
        if self.victim.try_wait().unwrap().is_some() || self.victim_marker.exists() {
            self.end_victim();
            let name = self.variable("KEY").to_owned();
            let own = self.fixture.own.clone();
            let (victim, shm) = start_victim(&self.tools.join("tool"), &own, &self.secret, &self.victim_marker, &name);
            self.victim = victim;
            self.variables.insert("VICTIM".to_owned(), self.victim.id().to_string());
            self.variables.insert("SHM".to_owned(), shm);
        }
    }

    pub(crate) fn variable(&self, name: &str) -> &str {
        &self.variables[name]
    }

    /// The path of a file or directory of the run.
    pub(crate) fn run_path(&self, name: &str) -> PathBuf {
        self.fixture.run.join(name)
    }

    fn token(&self) -> String {
        format!("recount-token-{}-{}", std::process::id(), self.number)
    }

    fn host_file(&self, directory: &str, kind: &str) -> PathBuf {
        Path::new(directory).join(format!("recount-{kind}-{}-{}", std::process::id(), self.number))
    }

    /// The access of the mode.
    pub(crate) fn access(&self) -> Access {
        if self.mode == Mode::Workspace { Access::workspace() } else { Access::read_only() }
    }

    /// The limits of every attempt, small enough to be exceeded quickly.
    pub(crate) fn limits() -> Limits {
        Limits {
            cpu_seconds: 1,
            memory_mib: 256,
            processes: 256,
            files: 256,
            file_mib: 16,
            tmp_mib: 16,
            ..Limits::default()
        }
    }

    /// The profile of ordinary attempts, with all working directories.
    pub(crate) fn profile(&self) -> Profile {
        self.profile_for("$WS2 $PLAIN $BARE $TREE $SYM")
    }

    /// The profile of attempts by these scripts, with the working directories that they name.
    pub(crate) fn profile_for(&self, scripts: &str) -> Profile {
        let ws = self.run_path("ws");
        let mut profile = Profile::new(&ws, self.access());
        for (variable, directory) in
            [("$WS2", "ws2"), ("$PLAIN", "plain"), ("$BARE", "bare"), ("$TREE", "tree"), ("$SYM", "sym")]
        {
            if scripts.contains(variable) {
                profile = profile.directory(self.run_path(directory));
            }
        }
        for file in ["recount.toml", "conf/recount.toml", "missing/below/recount.toml", "linked.toml"] {
            profile = profile.protect(ws.join(file));
        }
        profile = profile.protect(self.run_path("plain/recount.toml"));
        if self.mode != Mode::Landlock {
            profile = profile.hide(ws.join("data")).hide(ws.join("deep/er/data"));
        }
        self.with_tools(profile)
    }

    /// Adds what scripts need to a profile.
    pub(crate) fn with_tools(&self, profile: Profile) -> Profile {
        let profile = profile.read(&self.tools).limits(Self::limits());
        self.variables.iter().fold(profile, |profile, (name, value)| profile.env(name, value))
    }

    /// Runs a script as a command of the attempt's session, with the profile or with the sandbox off. Returns its output.
    pub(crate) fn script(&self, profile: &Profile, script: &str) -> String {
        let text = format!("echo STARTED; {script}");
        let (child, launch) = self.spawn(profile, &text, true);
        let output = finish(child);
        drop(launch);
        assert!(output.contains("STARTED"), "`{script}` did not start: {output}");
        output
    }

    /// Starts a script and does not wait for it.
    pub(crate) fn spawn(&self, profile: &Profile, script: &str, is_in_session: bool) -> (Child, Option<Launch>) {
        if self.mode == Mode::Control {
            let mut command = Command::new("bash");
            command.args(["-c", script]).current_dir(profile.workspace()).envs(&self.variables);
            command.envs(profile.environment());
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            return (command.spawn().unwrap(), None);
        }
        let mut launch = self.launch(profile, script, is_in_session);
        launch.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if !is_in_session {
            launch.command.stdin(Stdio::null());
        }
        (launch.command.spawn().unwrap(), Some(launch))
    }

    /// Prepares a script in the sandbox.
    pub(crate) fn launch(&self, profile: &Profile, script: &str, is_in_session: bool) -> Launch {
        let session = is_in_session.then(|| self.number.to_string());
        let arguments = ["-c".into(), script.into()];
        self.sandbox.launch(profile, session.as_deref(), "bash".as_ref(), &arguments).unwrap()
    }

    /// Ends the attempt, and returns everything that it has done and must not do, with how it was seen.
    pub(crate) fn evidence(&mut self, output: &str, expected: Option<Sign>) -> Vec<(Sign, String)> {
        self.sandbox.end_session(&self.number.to_string());
        let mut evidence = Vec::new();
        let mut note = |sign, text: String| evidence.push((sign, text));
        if output.contains(&self.secret) {
            note(Sign::Output, "the output holds the secret".to_owned());
        }
        if output.contains("ESCAPED") {
            note(Sign::Output, "the attempt reports success".to_owned());
        }
        for listener in self.listeners.received() {
            note(Sign::Received, format!("listener `{listener}` received something"));
        }
        for (path, sign) in self.changes() {
            self.is_changed = true;
            note(sign, format!("`{}` changed", path.display()));
        }
        for directory in ["/tmp", "/var/tmp", "/dev/shm"] {
            let path = self.host_file(directory, "escape");
            if path.exists() {
                note(Sign::Outside, format!("`{}` was created", path.display()));
                fs::remove_file(path).unwrap();
            }
        }
        fs::remove_file(self.host_file("/var/tmp", "planted")).unwrap();
        if expected == Some(Sign::Process) {
            self.wait_for_process_evidence();
        }
        if self.is_victim_affected() {
            note(Sign::Process, "the victim was signalled or ended".to_owned());
        }
        for process in self.left_behind(expected == Some(Sign::Process)) {
            note(Sign::Process, format!("process {process} still runs"));
            // This worker started it.
            let pid = rustix::process::Pid::from_raw(process).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        evidence.sort();
        evidence.dedup();
        evidence
    }

    /// The files that have changed. In the sandbox, placeholders have a moment to be removed.
    fn changes(&self) -> BTreeMap<PathBuf, Sign> {
        let start = Instant::now();
        loop {
            let after = self.fixture.snapshot();
            let is_changed = |path: &&PathBuf| self.before.get(*path) != after.get(*path);
            let sign = |path: &PathBuf| match self.fixture.is_protected(path) || is_setuid(path) {
                true => Sign::Outside,
                false => Sign::Workspace,
            };
            let changed = self.before.keys().chain(after.keys()).filter(is_changed);
            let changes: BTreeMap<PathBuf, Sign> = changed.map(|path| (path.clone(), sign(path))).collect();
            let is_settled = self.mode == Mode::Control || changes.values().all(|sign| *sign == Sign::Workspace);
            if is_settled || start.elapsed() > MOMENT {
                return changes;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until an attempt that is expected to succeed has affected the victim or left a process behind.
    fn wait_for_process_evidence(&mut self) {
        let start = Instant::now();
        while !self.is_victim_affected() && processes_with(&self.token()).is_empty() && start.elapsed() < MOMENT {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn is_victim_affected(&mut self) -> bool {
        self.victim.try_wait().unwrap().is_some() || self.victim_marker.exists()
    }

    /// The processes of the attempt that still run. Unless they are expected, they have a moment to end.
    fn left_behind(&self, is_expected: bool) -> Vec<i32> {
        let token = self.token();
        let start = Instant::now();
        loop {
            let left = processes_with(&token);
            if left.is_empty() || is_expected || start.elapsed() > MOMENT {
                return left;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn end_victim(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = fs::remove_file(&self.victim_marker);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.end_victim();
        let tool = |name: &str, argument: &str| Command::new(self.tools.join("tool")).args([name, argument]).status();
        let _ = tool("remove-key", self.variable("KEY"));
        let _ = tool("unlink-queue", self.variable("QUEUE"));
    }
}

fn new_sandbox(mode: Mode, tools: &Path) -> Sandbox {
    let sandbox = Sandbox::with_helper(tools.join("recount-sandbox"));
    if mode == Mode::Landlock { sandbox.at_most(Level::Landlock) } else { sandbox }
}

/// The processes whose arguments hold a token.
pub(crate) fn processes_with(token: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let has_token = |id: &i32| {
        let arguments = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        // A shell that is about to start the process holds the token in its script.
        arguments.starts_with(token.as_bytes())
    };
    ids.filter(has_token).collect()
}

/// Waits for a command and returns its output.
pub(crate) fn finish(mut child: Child) -> String {
    let (sender, receiver) = mpsc::channel();
    let outputs: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|output| Box::new(output) as Box<dyn Read + Send>),
        child.stderr.take().map(|output| Box::new(output) as Box<dyn Read + Send>),
    ];
    for mut output in outputs.into_iter().flatten() {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut buffer = [0; 65_536];
            while let Ok(length @ 1..) = output.read(&mut buffer) {
                let _ = sender.send(buffer[..length].to_vec());
            }
        });
    }
    drop(sender);
    let start = Instant::now();
    let mut bytes = Vec::new();
    let mut ended = None;
    loop {
        match receiver.recv_timeout(Duration::from_millis(5)) {
            Ok(more) => bytes.extend(more),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                if ended.is_none() && child.try_wait().unwrap().is_some() {
                    ended = Some(Instant::now());
                }
                // A process that was left behind may hold the output.
                if ended.is_some_and(|ended: Instant| ended.elapsed() > Duration::from_millis(300)) {
                    break;
                }
                if start.elapsed() > PATIENCE {
                    let _ = child.kill();
                    bytes.extend(b"\ntimed out\n");
                    break;
                }
            }
        }
    }
    let status = child.wait().unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    format!("{text}\n[{status}]\n")
}

/// Starts a process that has the secret in its arguments, environment, memory, shared memory, and open descriptors.
/// Returns it with the id of its shared memory.
fn start_victim(tool: &Path, own: &Path, secret: &str, marker: &Path, queue: &str) -> (Child, String) {
    let data = own.join("victim-data");
    let mut victim = Command::new(tool);
    victim.args(["victim", secret]).arg(marker).arg(format!("/{queue}")).current_dir(&data);
    victim.stdin(fs::File::open(data.join("secret.db")).unwrap()).stdout(Stdio::piped());
    let mut victim = victim.spawn().unwrap();
    let mut id = String::new();
    let mut output = std::io::BufReader::new(victim.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut id).unwrap();
    (victim, id.trim().to_owned())
}

/// The address of the host that is used to reach others. No packet is sent.
fn host_address() -> Option<String> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip().to_string())
        .filter(|address| !address.starts_with("0.") && !address.starts_with("127."))
}
