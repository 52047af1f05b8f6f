//! The configuration of a server.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use recount_sandbox::Access;
use serde::{Deserialize, Serialize};

use super::error::McpError;

/// The configuration of an MCP server: its transport, timeouts and limits.
///
/// In a configuration file, it is a table with either `command`, `args`, `env`, `cwd`, `inherit_env` and `access`, or `url`
/// and `headers`. Other keys are `timeout`, `start_timeout` and `longest` in seconds, `max_output` in characters, `tools` and
/// `trust_hints`. In the values of `env` and `headers`, `${NAME}` is replaced by an environment variable, so that the file
/// contains no secrets.
///
/// ```
/// use recount_agent::mcp::{McpConfig, McpTransport};
///
/// let config: McpConfig = serde_json::from_str(r#"{"command": "npx", "args": ["-y", "some-server"], "timeout": 20}"#)?;
/// assert!(matches!(config.transport, McpTransport::Command { .. }));
///
/// let both = serde_json::from_str::<McpConfig>(r#"{"command": "npx", "url": "http://127.0.0.1:3001/mcp"}"#);
/// assert!(both.unwrap_err().to_string().contains("either `command` or `url`"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Table", into = "Table")]
#[non_exhaustive]
pub struct McpConfig {
    /// The transport.
    pub transport: McpTransport,
    /// The timeout of a call without progress. Default: one minute.
    pub timeout: Duration,
    /// The timeout of a call in total, with progress. Default: one hour. The configuration key is `longest`.
    pub max_duration: Duration,
    /// The timeout until the server has listed its tools. Default: one minute.
    pub start_timeout: Duration,
    /// The maximum length of a result: this number of characters of text, and ten times as many of base64 data. The rest is
    /// omitted with a note for the model. Default: 100,000.
    pub max_output: usize,
    /// The tools to use, by the names in the server. `None` for all.
    pub tools: Option<Vec<String>>,
    /// Whether the annotations of the server are trusted: a tool with `readOnlyHint` needs no permission, and one with
    /// `idempotentHint` may run again after a crash. Default: `false`.
    pub trust_hints: bool,
}

/// The transport to a server.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpTransport {
    /// A child process, over its standard input and output.
    Command {
        /// The program.
        command: String,
        /// The arguments.
        args: Vec<String>,
        /// Environment variables, in addition to the default allow-list.
        env: BTreeMap<String, String>,
        /// The working directory. `None` for that of the workspace.
        cwd: Option<PathBuf>,
        /// Whether the process inherits the whole environment of this program, including secrets.
        inherit_env: bool,
        /// Access beyond reading the workspace and writing to a private `/tmp`. Package runners such as `npx` need
        /// the network, and write access to their caches.
        access: Access,
    },
    /// Over HTTP.
    Http {
        /// The URL.
        url: String,
        /// The headers of every request.
        headers: BTreeMap<String, String>,
    },
}

impl McpConfig {
    /// Creates the configuration of a server that runs as a child process.
    pub fn command(command: impl Into<String>, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(McpTransport::Command {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            cwd: None,
            inherit_env: false,
            access: Access::default(),
        })
    }

    /// Creates the configuration of a server at a URL.
    pub fn http(url: impl Into<String>) -> Self {
        Self::new(McpTransport::Http { url: url.into(), headers: BTreeMap::new() })
    }

    fn new(transport: McpTransport) -> Self {
        Self {
            transport,
            timeout: Duration::from_secs(60),
            max_duration: Duration::from_secs(3600),
            start_timeout: Duration::from_secs(60),
            max_output: 100_000,
            tools: None,
            trust_hints: false,
        }
    }

    /// Sets an environment variable of the process. No effect over HTTP.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let McpTransport::Command { env, .. } = &mut self.transport {
            env.insert(name.into(), value.into());
        }
        self
    }

    /// Sets the working directory of the process. No effect over HTTP.
    #[must_use]
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        if let McpTransport::Command { cwd, .. } = &mut self.transport {
            *cwd = Some(directory.into());
        }
        self
    }

    /// Grants the process access beyond the `read-only` profile. No effect over HTTP.
    #[must_use]
    pub fn access(mut self, granted: Access) -> Self {
        if let McpTransport::Command { access, .. } = &mut self.transport {
            *access = granted;
        }
        self
    }

    /// Sets a header of every request. No effect on a process.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let McpTransport::Http { headers, .. } = &mut self.transport {
            headers.insert(name.into(), value.into());
        }
        self
    }

    /// Sets the timeout of a call without progress.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Selects the tools to use.
    #[must_use]
    pub fn tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Trusts the annotations of the server: read-only tools need no permission.
    #[must_use]
    pub fn trust_hints(mut self) -> Self {
        self.trust_hints = true;
        self
    }

    /// Sets the maximum length of a result in characters.
    #[must_use]
    pub fn max_output(mut self, characters: usize) -> Self {
        self.max_output = characters;
        self
    }
}

/// Prints the names of environment variables and headers without their values, which may be secret.
impl fmt::Debug for McpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { command, args, env, cwd, inherit_env, access } => f
                .debug_struct("Command")
                .field("command", command)
                .field("args", args)
                .field("env", &env.keys().collect::<Vec<_>>())
                .field("cwd", cwd)
                .field("inherit_env", inherit_env)
                .field("access", access)
                .finish(),
            Self::Http { url, headers } => {
                f.debug_struct("Http").field("url", url).field("headers", &headers.keys().collect::<Vec<_>>()).finish()
            }
        }
    }
}

/// The table in a configuration file.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Table {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inherit_env: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    access: Option<Access>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_timeout: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trust_hints: Option<bool>,
}

impl TryFrom<Table> for McpConfig {
    type Error = McpError;

    fn try_from(table: Table) -> Result<Self, McpError> {
        let invalid = |problem: &str| Err(McpError::Config(problem.to_owned()));
        let of_command = table.args.is_some()
            || table.env.is_some()
            || table.cwd.is_some()
            || table.inherit_env.is_some()
            || table.access.is_some();
        let transport = match (table.command, table.url) {
            (Some(_), Some(_)) | (None, None) => return invalid("expected either `command` or `url`"),
            (Some(_), None) if table.headers.is_some() => return invalid("`headers` requires `url`"),
            (None, Some(_)) if of_command => {
                return invalid("`args`, `env`, `cwd`, `inherit_env` and `access` require `command`");
            }
            (Some(command), None) => McpTransport::Command {
                command,
                args: table.args.unwrap_or_default(),
                env: table.env.unwrap_or_default(),
                cwd: table.cwd,
                inherit_env: table.inherit_env.unwrap_or_default(),
                access: table.access.unwrap_or_default(),
            },
            (None, Some(url)) => McpTransport::Http { url, headers: table.headers.unwrap_or_default() },
        };
        let seconds = |name: &str, value: Option<f64>, default: Duration| match value.map(Duration::try_from_secs_f64) {
            None => Ok(default),
            Some(Ok(duration)) if !duration.is_zero() => Ok(duration),
            Some(_) => Err(McpError::Config(format!("`{name}` must be a positive number of seconds"))),
        };
        let default = Self::new(transport);
        Ok(Self {
            timeout: seconds("timeout", table.timeout, default.timeout)?,
            max_duration: seconds("longest", table.longest, default.max_duration)?,
            start_timeout: seconds("start_timeout", table.start_timeout, default.start_timeout)?,
            max_output: table.max_output.unwrap_or(default.max_output),
            tools: table.tools,
            trust_hints: table.trust_hints.unwrap_or(default.trust_hints),
            transport: default.transport,
        })
    }
}

impl From<McpConfig> for Table {
    fn from(config: McpConfig) -> Self {
        let table = Self {
            timeout: Some(config.timeout.as_secs_f64()),
            longest: Some(config.max_duration.as_secs_f64()),
            start_timeout: Some(config.start_timeout.as_secs_f64()),
            max_output: Some(config.max_output),
            tools: config.tools,
            trust_hints: Some(config.trust_hints),
            ..Self::default()
        };
        match config.transport {
            McpTransport::Command { command, args, env, cwd, inherit_env, access } => Self {
                command: Some(command),
                args: Some(args),
                env: Some(env),
                cwd,
                inherit_env: Some(inherit_env),
                access: Some(access).filter(|access| !access.is_read_only()),
                ..table
            },
            McpTransport::Http { url, headers } => Self { url: Some(url), headers: Some(headers), ..table },
        }
    }
}
