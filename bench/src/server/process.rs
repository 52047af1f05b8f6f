//! The measured servers, Recount and Nchan. They are started for a measurement and killed by process id.

use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};
use tempfile::TempDir;

/// The time limit for the start and the end of a process.
const PATIENCE: Duration = Duration::from_secs(20);

/// The kind of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `recount serve`.
    Recount,
    /// nginx with Nchan.
    Nchan,
}

/// A running server process. It is stopped on drop.
#[derive(Debug)]
pub struct Server {
    /// The kind of the server.
    pub kind: Kind,
    /// The address that it listens on.
    pub address: SocketAddr,
    child: Child,
    /// The data directory, which must outlive the process.
    _directory: Arc<TempDir>,
}

/// The programs to measure.
#[derive(Debug, Clone)]
pub struct Programs {
    /// The path of `recount`.
    pub recount: PathBuf,
    /// nginx, if it is installed with the module Nchan.
    pub nchan: Option<Nginx>,
}

/// nginx with its module Nchan.
#[derive(Debug, Clone)]
pub struct Nginx {
    binary: PathBuf,
    module: PathBuf,
}

impl Nginx {
    /// Looks for nginx and Nchan at the paths of the Debian packages.
    pub fn find() -> Option<Self> {
        let (binary, module) = ("/usr/sbin/nginx", "/usr/lib/nginx/modules/ngx_nchan_module.so");
        let found = Self { binary: binary.into(), module: module.into() };
        (found.binary.exists() && found.module.exists()).then_some(found)
    }
}

impl Programs {
    /// Starts the service with an empty data directory.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not start.
    pub fn start_recount(&self) -> anyhow::Result<Server> {
        self.start_recount_in(&Arc::new(tempfile::tempdir()?))
    }

    /// Starts the service with a data directory.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not start.
    pub fn start_recount_in(&self, directory: &Arc<TempDir>) -> anyhow::Result<Server> {
        let mut child = Command::new(std::path::absolute(&self.recount)?)
            .args(["serve", "--listen", "127.0.0.1:0", "--model", "demo", "--data"])
            .arg(directory.path())
            // A directory without a configuration file.
            .current_dir(directory.path())
            .env_remove("RECOUNT_CONFIG")
            .env("RECOUNT_LOG_DURABILITY", "process")
            .env("RECOUNT_TELEMETRY_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.recount.display()))?;
        let mut output = String::new();
        let mut out = BufReader::new(child.stdout.take().context("the standard output is not piped")?);
        while !output.contains("Data is kept") {
            anyhow::ensure!(out.read_line(&mut output)? > 0, "the service has exited: {output}");
        }
        let address = output.split("http://").nth(1).and_then(|rest| rest.split_whitespace().next());
        let address = address.context("the output of the service has no address")?.parse()?;
        Ok(Server { kind: Kind::Recount, address, child, _directory: Arc::clone(directory) })
    }

    /// Starts Nchan with one worker, if it is installed.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not start.
    pub fn start_nchan(&self) -> anyhow::Result<Option<Server>> {
        let Some(nginx) = &self.nchan else { return Ok(None) };
        let directory = tempfile::tempdir()?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let configuration = directory.path().join("nginx.conf");
        std::fs::write(&configuration, configuration_of(nginx, directory.path(), address))?;
        let child = Command::new(&nginx.binary)
            .arg("-c")
            .arg(&configuration)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start nginx")?;
        let mut server = Server { kind: Kind::Nchan, address, child, _directory: Arc::new(directory) };
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(address).is_err() {
            let ended = server.child.try_wait()?;
            anyhow::ensure!(ended.is_none() && Instant::now() < until, "nginx does not listen on {address}");
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(Some(server))
    }
}

fn configuration_of(nginx: &Nginx, directory: &Path, address: SocketAddr) -> String {
    let (module, directory) = (nginx.module.display(), directory.display());
    format!(
        "load_module {module};
daemon off;
worker_processes 1;
pid {directory}/pid;
error_log stderr crit;
events {{ worker_connections 16384; }}
http {{
    access_log off;
    keepalive_requests 10000000;
    client_body_temp_path {directory}/client;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    server {{
        listen {address};
        location ~ ^/publish/(\\w+)$ {{ nchan_publisher; nchan_channel_id $1; }}
        location ~ ^/stream/(\\w+)$ {{
            nchan_subscriber eventsource;
            nchan_channel_id $1;
            nchan_subscriber_first_message newest;
        }}
    }}
}}
"
    )
}

impl Server {
    /// Returns the path for posting events to a session.
    pub fn publish_path(&self, session: usize) -> String {
        match self.kind {
            Kind::Recount => format!("/v1/sessions/s{session}/events"),
            Kind::Nchan => format!("/publish/s{session}"),
        }
    }

    /// Returns the path of a stream of new events of a session.
    pub fn stream_path(&self, session: usize) -> String {
        match self.kind {
            Kind::Recount => format!("/v1/sessions/s{session}/stream?after=now"),
            Kind::Nchan => format!("/stream/s{session}"),
        }
    }

    /// Returns the resident memory in KiB; for nginx including its worker.
    ///
    /// # Errors
    ///
    /// Returns an error if `/proc` cannot be read.
    pub fn resident_kib(&self) -> anyhow::Result<u64> {
        self.processes()?.into_iter().map(resident_kib).sum()
    }

    /// Returns the CPU time used so far; for nginx including its worker. It does not depend on other load on the machine.
    ///
    /// # Errors
    ///
    /// Returns an error if `/proc` cannot be read.
    pub fn cpu_time(&self) -> anyhow::Result<Duration> {
        self.processes()?.into_iter().map(cpu_time).sum()
    }

    fn processes(&self) -> anyhow::Result<Vec<u32>> {
        let own = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        let children = children.split_whitespace().map(str::parse).collect::<Result<Vec<u32>, _>>()?;
        Ok(std::iter::once(own).chain(children).collect())
    }
}

fn cpu_time(process: u32) -> anyhow::Result<Duration> {
    let mut nanoseconds = 0;
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let output = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        nanoseconds += output.split(' ').next().unwrap_or_default().parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}

fn resident_kib(process: u32) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS in the status")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(id) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(id, Signal::TERM);
        }
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Raises the soft limit of open files to the hard limit, for this process and its children. Returns the limit.
///
/// # Errors
///
/// Returns an error if the limit cannot be raised.
pub fn raise_open_file_limit() -> anyhow::Result<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).context("cannot raise the limit of open files")?;
    Ok(limit.current.unwrap_or(u64::MAX))
}
