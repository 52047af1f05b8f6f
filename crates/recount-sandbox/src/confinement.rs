//! When a program has to be confined, and what is used where it cannot be.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Access, Launch, LaunchError, LaunchGuard, Level, Limits, Profile, Sandbox};

/// Whether programs have to be confined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Every program is confined, also one that the user has approved. One that cannot be is not started.
    Required,
    /// Programs are confined where this machine can do it. Others start if the user approves them.
    #[default]
    Preferred,
    /// Programs are not confined. Each of them needs the user's approval or a rule.
    Off,
}

/// How the programs of an agent are confined: the policy, the sandbox, and what every profile has in common.
///
/// ```
/// use recount_sandbox::{Access, Confinement, Policy, Sandbox};
///
/// let confinement = Confinement::new(Policy::Off, Sandbox::detect()).hide("/srv/recount-data");
/// let profile = confinement.profile("/srv/project", Access::read_only());
/// assert!(!confinement.confines(&profile).unwrap());
/// ```
#[derive(Debug, Clone)]
pub struct Confinement {
    policy: Policy,
    sandbox: Sandbox,
    limits: Limits,
    readable: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    passed: Vec<String>,
}

/// The file in a workspace that configures agents and their permissions.
const CONFIGURATION: &str = "recount.toml";

impl Confinement {
    /// Confines programs with `sandbox` as `policy` demands.
    pub fn new(policy: Policy, sandbox: Sandbox) -> Self {
        Self {
            policy,
            sandbox,
            limits: Limits::default(),
            readable: Vec::new(),
            hidden: Vec::new(),
            protected: Vec::new(),
            passed: Vec::new(),
        }
    }

    /// Replaces the policy and the sandbox.
    #[must_use]
    pub fn with(self, policy: Policy, sandbox: Sandbox) -> Self {
        Self { policy, sandbox, ..self }
    }

    /// Replaces the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Lets every program read a path.
    #[must_use]
    pub fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.readable.push(path.into());
        self
    }

    /// Hides a path from every program, such as the data directory of a service.
    #[must_use]
    pub fn hide(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Keeps a file from being changed by any program, such as the configuration of agents.
    #[must_use]
    pub fn protect(mut self, file: impl Into<PathBuf>) -> Self {
        self.protected.push(file.into());
        self
    }

    /// Passes a variable of this process to every program.
    #[must_use]
    pub fn pass_env(mut self, name: impl Into<String>) -> Self {
        self.passed.push(name.into());
        self
    }

    /// The policy.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// The sandbox.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// The limits that every profile begins with.
    pub fn resource_limits(&self) -> &Limits {
        &self.limits
    }

    /// The paths that are hidden from every program, canonical if they exist.
    pub fn hidden_paths(&self) -> Vec<PathBuf> {
        self.hidden.iter().map(|path| canonical_or_absolute(path)).collect()
    }

    /// Whether a path, given canonically, is hidden from every program.
    pub fn hides(&self, path: &Path) -> bool {
        self.hidden_paths().iter().any(|hidden| path.starts_with(hidden))
    }

    /// Whether a path, given canonically, is a file that no program may change.
    pub fn protects(&self, path: &Path) -> bool {
        path.file_name() == Some(OsStr::new(CONFIGURATION))
            || self.protected.iter().any(|protected| path == canonical_or_absolute(protected))
    }

    /// A profile for a program that runs in `workspace`.
    pub fn profile(&self, workspace: impl Into<PathBuf>, access: Access) -> Profile {
        let workspace = workspace.into();
        let configuration = workspace.join(CONFIGURATION);
        let mut profile = Profile::new(workspace, access).limits(self.limits.clone()).protect(configuration);
        profile.readable.extend(self.readable.iter().filter(|path| path.exists()).cloned());
        profile.hidden.extend(self.hidden.iter().cloned());
        profile.protected.extend(self.protected.iter().cloned());
        self.passed.iter().fold(profile, Profile::pass_env)
    }

    /// Whether a program with this profile is confined. If not, it starts only with the user's approval.
    ///
    /// # Errors
    ///
    /// It must be confined and cannot be, or it asks not to be. The error names the cause and what the user can do.
    pub fn confines(&self, profile: &Profile) -> Result<bool, LaunchError> {
        let wants_none = profile.access().unsandboxed;
        match self.policy {
            Policy::Off => Ok(false),
            Policy::Preferred => Ok(!wants_none && self.sandbox.check(profile).is_ok()),
            Policy::Required if wants_none => Err(LaunchError::Unsupported(
                "`unsandboxed` is refused because the sandbox is required; \
                 hint: `sandbox = \"preferred\"` in the configuration allows it"
                    .to_owned(),
            )),
            Policy::Required => match self.sandbox.check(profile) {
                Ok(()) => Ok(true),
                Err(LaunchError::Unsupported(cause)) => Err(LaunchError::Unsupported(format!(
                    "the sandbox is required, but {cause}; \
                     hint: `sandbox = \"preferred\"` in the configuration runs approved commands without it"
                ))),
                Err(other) => Err(other),
            },
        }
    }

    /// Prepares a program to be started in a profile, confined or not as the policy demands.
    ///
    /// See [`Sandbox::launch`] for what a session is.
    ///
    /// # Errors
    ///
    /// The program must be confined and cannot be, or a path of the profile cannot be granted.
    pub fn launch(
        &self,
        profile: &Profile,
        session: Option<&str>,
        program: &OsStr,
        arguments: &[OsString],
    ) -> Result<Launch, LaunchError> {
        if self.confines(profile)? {
            return self.sandbox.launch(profile, session, program, arguments);
        }
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(profile.environment()).current_dir(profile.workspace());
        if session.is_some() {
            command.stdin(Stdio::null());
        }
        Ok(Launch { command, guard: LaunchGuard::default(), is_contained: false })
    }

    /// Describes what is enforced, in one sentence for the user.
    pub fn describe(&self) -> String {
        let support = self.sandbox.support();
        match (self.policy, support.level) {
            (Policy::Off, _) => "the sandbox is off: commands are not confined, and each needs an approval".to_owned(),
            (policy, Level::Full) => format!("the sandbox is {policy}, and this machine enforces every profile"),
            (policy, Level::Landlock) => format!(
                "the sandbox is {policy}, and this machine enforces only the `read-only` profile: {}",
                support.explanation()
            ),
            (policy, Level::None) => {
                let effect = match policy {
                    Policy::Required => "commands are refused",
                    Policy::Preferred | Policy::Off => "each command needs an approval and runs unconfined",
                };
                format!(
                    "the sandbox is {policy}, but this machine enforces nothing, so {effect}: {}",
                    support.explanation()
                )
            }
        }
    }
}

/// Prefers a sandbox, if this program can be its helper.
impl Default for Confinement {
    fn default() -> Self {
        Self::new(Policy::default(), Sandbox::detect())
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Required => "required",
            Self::Preferred => "preferred",
            Self::Off => "off",
        })
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "required" => Ok(Self::Required),
            "preferred" => Ok(Self::Preferred),
            "off" => Ok(Self::Off),
            _ => Err(format!("unknown sandbox policy `{word}`: expected `required`, `preferred` or `off`")),
        }
    }
}

fn canonical_or_absolute(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}
