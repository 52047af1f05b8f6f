//! Starting a server process, or connecting to one over HTTP.

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
use super::error::of_greeting;
use super::handler::Handler;
use super::server::Shared;

/// A server that has been greeted.
pub(super) struct Running {
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) process: ProcessGuard,
}

/// Ends the process of a server and everything that it has started when it is dropped, at once and without a runtime.
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

    // A job object ends with its handle.
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

/// Starts or reaches a server, and initializes the connection.
pub(super) async fn open(shared: &Shared, handler: Handler) -> Result<Running, String> {
    let (greeted, process) = match &shared.config.transport {
        McpTransport::Command { .. } => {
            let (child, process) = child(shared)?;
            (handler.serve(child).await, process)
        }
        McpTransport::Http { url, headers } => (handler.serve(over_http(url, headers)?).await, ProcessGuard::default()),
    };
    let service = greeted.map_err(|error| of_greeting(&error))?;
    Ok(Running { service, process })
}

fn child(shared: &Shared) -> Result<(TokioChildProcess, ProcessGuard), String> {
    let McpTransport::Command { command, args, .. } = &shared.config.transport else {
        return Err("it is not a process".to_owned());
    };
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let launch = shared.confinement.launch(&profile(shared)?, None, command.as_ref(), &args);
    let Launch { command: prepared, guard, .. } =
        launch.map_err(|error| format!("`{command}` cannot be run: {error}"))?;
    let mut wrapped = CommandWrap::from(Command::from(prepared));
    // A server is often started by a script or a package manager. All of them have to end with it, and none of them may
    // have the terminal.
    #[cfg(unix)]
    wrapped.wrap(process_wrap::tokio::ProcessSession);
    #[cfg(windows)]
    wrapped.wrap(process_wrap::tokio::JobObject);
    let (child, stderr) = TokioChildProcess::builder(wrapped)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{command}` cannot be run: {error}"))?;
    // A server that never responds ends as well when it is dropped.
    let process = ProcessGuard::of(&child, guard);
    if let Some(stderr) = stderr {
        let (server, last_words) = (shared.name.to_string(), Arc::clone(&shared.last_words));
        last_words.begin();
        tokio::spawn(async move { last_words.read(&server, stderr).await });
    }
    Ok((child, process))
}

/// The profile of a server: `read-only`, with the access that its configuration grants.
pub(super) fn profile(shared: &Shared) -> Result<Profile, String> {
    let McpTransport::Command { command, env, cwd, inherit_env, access, .. } = &shared.config.transport else {
        return Err("it is not a process".to_owned());
    };
    // A cache that does not exist yet is created by the program that has it, which could not do so from within.
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
        let header = HeaderName::try_from(&name).map_err(|_| format!("`{name}` cannot be the name of a header"))?;
        let mut value =
            HeaderValue::try_from(value).map_err(|_| format!("the value of the header `{name}` cannot be sent"))?;
        value.set_sensitive(true);
        custom.insert(header, value);
    }
    // A program may have chosen a provider already; then this changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .user_agent(concat!("recount/", env!("CARGO_PKG_VERSION")))
        // A redirect would carry the headers to somewhere else.
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .tcp_nodelay(true)
        .build()
        .map_err(|error| error.to_string())?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Values with `${NAME}` replaced by the variable of that name.
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
        out.push_str(&std::env::var(name).map_err(|_| format!("the environment has no variable `{name}`"))?);
        rest = remainder;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_into_values() {
        let path = std::env::var("PATH").unwrap();
        assert_eq!(expanded_value("a ${PATH} b").unwrap(), format!("a {path} b"));
        assert_eq!(expanded_value("a $PATH ${ b").unwrap(), "a $PATH ${ b");
        assert_eq!(
            expanded_value("${RECOUNT_NO_SUCH}").unwrap_err(),
            "the environment has no variable `RECOUNT_NO_SUCH`"
        );
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_told_without_its_value() {
        let wrong = BTreeMap::from([("x-key".to_owned(), "secret\n".to_owned())]);
        assert_eq!(
            over_http("http://127.0.0.1:1", &wrong).err().unwrap(),
            "the value of the header `x-key` cannot be sent"
        );
    }
}
