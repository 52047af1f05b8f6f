//! Starting a server process, or connecting to a server over HTTP.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::process::Stdio;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use process_wrap::tokio::CommandWrap;
use recount_sandbox::{Launch, LaunchGuard, Profile};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig};
use rmcp::{RoleClient, ServiceExt};
use tokio::process::Command;

use super::config::McpTransport;
use super::error::describe_initialization;
use super::handler::Handler;
use super::server::Shared;

/// An initialized connection to a server.
pub(super) struct Connection {
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) process: ProcessGuard,
}

/// Kills the process group of a server on drop, without a runtime.
#[derive(Debug, Default)]
pub(super) struct ProcessGuard {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
    _launch: LaunchGuard,
}

impl ProcessGuard {
    #[cfg(unix)]
    fn of(child: &TokioChildProcess, launch: LaunchGuard) -> Self {
        let leader = child.id().and_then(|id| rustix::process::Pid::from_raw(id.try_into().ok()?));
        Self { leader, _launch: launch }
    }

    // A job object is closed with its handle.
    #[cfg(not(unix))]
    fn of(_: &TokioChildProcess, launch: LaunchGuard) -> Self {
        Self { _launch: launch }
    }
}

#[cfg(unix)]
impl Drop for ProcessGuard {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            // The group does not exist if the server has exited.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// Starts or connects to a server, and initializes the connection.
pub(super) async fn open(shared: &Shared, handler: Handler) -> Result<Connection, String> {
    let (initialized, process) = match &shared.config.transport {
        McpTransport::Command { .. } => {
            let (child, process) = child(shared)?;
            (handler.serve(child).await, process)
        }
        McpTransport::Http { url, headers } => (handler.serve(over_http(url, headers)?).await, ProcessGuard::default()),
    };
    let service = initialized.map_err(|error| describe_initialization(&error))?;
    Ok(Connection { service, process })
}

fn child(shared: &Shared) -> Result<(TokioChildProcess, ProcessGuard), String> {
    let McpTransport::Command { command, args, .. } = &shared.config.transport else {
        return Err("it is not a process".to_owned());
    };
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let launch = shared.confinement.launch(&profile(shared)?, None, command.as_ref(), &args);
    let Launch { command: prepared, guard, .. } = launch.map_err(|error| format!("cannot run `{command}`: {error}"))?;
    let mut wrapped = CommandWrap::from(Command::from(prepared));
    // A server is often started by a script or a package manager. A session of its own kills all of them together, and
    // keeps them from the terminal.
    #[cfg(unix)]
    wrapped.wrap(process_wrap::tokio::ProcessSession);
    #[cfg(windows)]
    wrapped.wrap(process_wrap::tokio::JobObject);
    let (child, stderr) = TokioChildProcess::builder(wrapped)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run `{command}`: {error}"))?;
    // The guard also kills a server that never responds.
    let process = ProcessGuard::of(&child, guard);
    if let Some(stderr) = stderr {
        let (server, stderr_tail) = (shared.name.to_string(), Arc::clone(&shared.stderr_tail));
        stderr_tail.reset();
        tokio::spawn(async move { stderr_tail.read(&server, stderr).await });
    }
    Ok((child, process))
}

/// Returns the sandbox profile of a server: `read-only`, with the access that its configuration grants.
pub(super) fn profile(shared: &Shared) -> Result<Profile, String> {
    let McpTransport::Command { command, env, cwd, inherit_env, access, .. } = &shared.config.transport else {
        return Err("it is not a process".to_owned());
    };
    // The server cannot create its cache directory inside of the sandbox.
    for path in &access.write_paths {
        std::fs::create_dir_all(path).map_err(|error| format!("cannot create `{}`: {error}", path.display()))?;
    }
    let directory = cwd.as_deref().unwrap_or(&shared.workspace);
    let mut profile = shared.confinement.profile(directory, access.clone()).directory(&shared.workspace);
    if command.contains('/') {
        profile = profile.read(command);
    }
    if *inherit_env {
        profile = profile.inherit_env();
    }
    Ok(expanded(env)?.into_iter().fold(profile, |profile, (name, value)| profile.env(name, value)))
}

fn over_http(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let mut custom = HashMap::new();
    for (name, value) in expanded(headers)? {
        let header = HeaderName::try_from(&name).map_err(|_| format!("invalid header name `{name}`"))?;
        let mut value = HeaderValue::try_from(value).map_err(|_| format!("invalid value of the header `{name}`"))?;
        value.set_sensitive(true);
        custom.insert(header, value);
    }
    // Fails if the program has already installed a provider, which is then used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .user_agent(concat!("recount/", env!("CARGO_PKG_VERSION")))
        // A redirect would send the headers to another host.
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        .build()
        .map_err(|error| error.to_string())?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Replaces `${NAME}` in values by environment variables.
fn expanded(values: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    let expand = |(name, value): (&String, &String)| Ok((name.clone(), expanded_value(value)?));
    values.iter().map(expand).collect()
}

fn expanded_value(value: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, remainder)) = after.split_once('}') else { break };
        out.push_str(before);
        out.push_str(&std::env::var(name).map_err(|_| format!("the environment variable `{name}` is not set"))?);
        rest = remainder;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_expand_environment_variables() {
        let path = std::env::var("PATH").unwrap();
        assert_eq!(expanded_value("a ${PATH} b").unwrap(), format!("a {path} b"));
        assert_eq!(expanded_value("a $PATH ${ b").unwrap(), "a $PATH ${ b");
        assert_eq!(
            expanded_value("${RECOUNT_NO_SUCH}").unwrap_err(),
            "the environment variable `RECOUNT_NO_SUCH` is not set"
        );
    }

    #[test]
    fn invalid_header_error_omits_value() {
        let invalid = BTreeMap::from([("x-key".to_owned(), "secret\n".to_owned())]);
        assert_eq!(over_http("http://127.0.0.1:1", &invalid).err().unwrap(), "invalid value of the header `x-key`");
    }
}
