//! Starting a server process, or connecting to one over HTTP.

use std::collections::{BTreeMap, HashMap};
use std::process::Stdio;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use process_wrap::tokio::CommandWrap;
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig};
use rmcp::{RoleClient, ServiceExt};

use super::config::McpTransport;
use super::error::of_greeting;
use super::handler::Handler;
use super::stderr::LastWords;

/// What every program needs of an environment. Keys and passwords are not among it.
const PLAIN_ENVIRONMENT: &[&str] = &[
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER", // Unix
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATHEXT",
    "SYSTEMROOT",
    "TEMP",
    "USERPROFILE", // Windows
];

/// A server that has been greeted.
pub(super) struct Running {
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) process: ProcessGuard,
}

/// Ends the process of a server and all that it has started when it is dropped, at once and without a runtime: nobody may be left
/// to wait for it.
#[derive(Debug, Default)]
pub(super) struct ProcessGuard {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl ProcessGuard {
    #[cfg(unix)]
    fn of(child: &TokioChildProcess) -> Self {
        Self { leader: child.id().and_then(|id| rustix::process::Pid::from_raw(id.try_into().ok()?)) }
    }

    // A job object ends with its handle.
    #[cfg(not(unix))]
    fn of(_: &TokioChildProcess) -> Self {
        Self {}
    }
}

#[cfg(unix)]
impl Drop for ProcessGuard {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            // Mostly it has ended by itself, and there is nobody left.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// Starts or reaches a server, and greets it.
pub(super) async fn open(
    server: &str,
    transport: &McpTransport,
    handler: Handler,
    last_words: &Arc<LastWords>,
) -> Result<Running, String> {
    let (greeted, process) = match transport {
        McpTransport::Command { .. } => {
            let child = child(server, transport, last_words)?;
            // One that never answers ends as well when it is given up.
            let process = ProcessGuard::of(&child);
            (handler.serve(child).await, process)
        }
        McpTransport::Http { url, headers } => (handler.serve(over_http(url, headers)?).await, ProcessGuard::default()),
    };
    let service = greeted.map_err(|error| of_greeting(&error))?;
    Ok(Running { service, process })
}

fn child(server: &str, transport: &McpTransport, last_words: &Arc<LastWords>) -> Result<TokioChildProcess, String> {
    let McpTransport::Command { command, args, env, cwd, inherit_env } = transport else {
        return Err("it is no process".to_owned());
    };
    let env = expanded(env)?;
    let mut wrapped = CommandWrap::with_new(command, |child| {
        child.args(args);
        if !inherit_env {
            child.env_clear();
            let plain = PLAIN_ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
            child.envs(plain);
        }
        child.envs(env);
        if let Some(directory) = cwd {
            child.current_dir(directory);
        }
    });
    // A server is often started by a script or a package manager. All of them have to end with it, and none of them may
    // speak to the terminal.
    #[cfg(unix)]
    wrapped.wrap(process_wrap::tokio::ProcessSession);
    #[cfg(windows)]
    wrapped.wrap(process_wrap::tokio::JobObject);
    let (child, stderr) = TokioChildProcess::builder(wrapped)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{command}` cannot be run: {error}"))?;
    if let Some(stderr) = stderr {
        let (server, last_words) = (server.to_owned(), Arc::clone(last_words));
        last_words.begin();
        tokio::spawn(async move { last_words.read(&server, stderr).await });
    }
    Ok(child)
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
