//! How a server is started or reached.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use recount_sandbox::Access;
use serde::{Deserialize, Serialize};

use super::error::McpError;

/// How an MCP server is started or reached, and what it may take.
///
/// As a table of a configuration file it is either a `command` with `args`, `env`, `cwd`, `inherit_env` and `access`, or a
/// `url` with `headers`; beside them `timeout`, `start_timeout` and `longest` in seconds, `max_output` in characters, `tools` and
/// `trust_hints`. In the values of `env` and `headers`, `${NAME}` stands for a variable of the environment, so that no
/// secret has to be in the file.
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
    /// How it is reached.
    pub transport: McpTransport,
    /// So long a call may go without an answer and without progress. One minute unless said otherwise.
    pub timeout: Duration,
    /// So long a call may take in all. One hour unless said otherwise.
    pub max_duration: Duration,
    /// So long it may take until the server has said which tools it has. One minute unless said otherwise.
    pub start_timeout: Duration,
    /// So many characters of text a result may have, and ten times as many of data. The rest is left out, and the model
    /// told so. 100,000 unless said otherwise.
    pub max_output: usize,
    /// The only tools that are taken, by the names that the server gives them. Nothing takes all.
    pub tools: Option<Vec<String>>,
    /// Whether a tool needs no permission because the server says that it only reads, and runs again after a crash because
    /// it says that this does no harm. Anybody can say so, so it is not believed unless said otherwise.
    pub trust_hints: bool,
}

/// How a server is reached.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpTransport {
    /// As a child process, over its standard input and output.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What it has in its environment, beside what every program needs.
        env: BTreeMap<String, String>,
        /// Where it runs; nothing stands for where this program does.
        cwd: Option<PathBuf>,
        /// Whether it gets the whole environment of this program, keys and passwords included.
        inherit_env: bool,
        /// Access beyond reading the workspace and writing to a private `/tmp`. Package runners such as `npx` need
        /// the network, and write access to their caches.
        access: Access,
    },
    /// Over HTTP.
    Http {
        /// Its address.
        url: String,
        /// What is sent with every request.
        headers: BTreeMap<String, String>,
    },
}

impl McpConfig {
    /// A server that is a child process.
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

    /// A server at an address.
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

    /// The same with a variable in the environment of its process. It has no effect over HTTP.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let McpTransport::Command { env, .. } = &mut self.transport {
            env.insert(name.into(), value.into());
        }
        self
    }

    /// The same in another directory. It has no effect over HTTP.
    #[must_use]
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        if let McpTransport::Command { cwd, .. } = &mut self.transport {
            *cwd = Some(directory.into());
        }
        self
    }

    /// Grants its process access beyond the `read-only` profile. It has no effect over HTTP.
    #[must_use]
    pub fn access(mut self, granted: Access) -> Self {
        if let McpTransport::Command { access, .. } = &mut self.transport {
            *access = granted;
        }
        self
    }

    /// The same with a header on every request. It has no effect on a process.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let McpTransport::Http { headers, .. } = &mut self.transport {
            headers.insert(name.into(), value.into());
        }
        self
    }

    /// The same, and a call may go so long without an answer and without progress.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The same with only these tools.
    #[must_use]
    pub fn tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// The same, and what the server says of its tools is believed: those that only read need no permission.
    #[must_use]
    pub fn trust_hints(mut self) -> Self {
        self.trust_hints = true;
        self
    }

    /// The same, and a result may have so many characters.
    #[must_use]
    pub fn max_output(mut self, characters: usize) -> Self {
        self.max_output = characters;
        self
    }
}

/// The names of what may be secret, without the values.
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

/// A configuration as a table of a file.
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
        let wrong = |what: &str| Err(McpError::Config(what.to_owned()));
        let of_command = table.args.is_some()
            || table.env.is_some()
            || table.cwd.is_some()
            || table.inherit_env.is_some()
            || table.access.is_some();
        let transport = match (table.command, table.url) {
            (Some(_), Some(_)) | (None, None) => return wrong("it needs either `command` or `url`"),
            (Some(_), None) if table.headers.is_some() => return wrong("`headers` belong to a `url`"),
            (None, Some(_)) if of_command => {
                return wrong("`args`, `env`, `cwd`, `inherit_env` and `access` belong to a `command`");
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
        let seconds = |name: &str, value: Option<f64>, usual: Duration| match value.map(Duration::try_from_secs_f64) {
            None => Ok(usual),
            Some(Ok(duration)) if !duration.is_zero() => Ok(duration),
            Some(_) => Err(McpError::Config(format!("`{name}` has to be a number of seconds"))),
        };
        let usual = Self::new(transport);
        Ok(Self {
            timeout: seconds("timeout", table.timeout, usual.timeout)?,
            max_duration: seconds("longest", table.longest, usual.max_duration)?,
            start_timeout: seconds("start_timeout", table.start_timeout, usual.start_timeout)?,
            max_output: table.max_output.unwrap_or(usual.max_output),
            tools: table.tools,
            trust_hints: table.trust_hints.unwrap_or(usual.trust_hints),
            transport: usual.transport,
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
