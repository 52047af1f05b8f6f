//! The sandbox settings of a configuration.

use std::fmt;
use std::path::{Path, PathBuf};

use recount_sandbox::{Confinement, Limits, Policy};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The sandbox of the programs that agents start: `sandbox = "required"`, or the table `[sandbox]`.
///
/// ```
/// use recount_agent_config::SandboxConfig;
/// use recount_agent_config::sandbox::Policy;
///
/// #[derive(serde::Deserialize)]
/// struct File { sandbox: SandboxConfig }
///
/// let file: File = toml::from_str("sandbox = \"off\"")?;
/// assert_eq!(file.sandbox.policy, Some(Policy::Off));
/// let file: File = toml::from_str("[sandbox]\nenv = [\"CI\"]\n[sandbox.limits]\nprocesses = 64")?;
/// assert_eq!((file.sandbox.policy, file.sandbox.limits.processes), (None, 64));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SandboxConfig {
    /// Whether a sandbox is required. `None` is `required` for `recount serve` and `preferred` for `recount chat`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Environment variables that programs inherit in addition to the default ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// Additional paths that programs may read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<PathBuf>,
    /// The resource limits of programs.
    pub limits: Limits,
}

impl SandboxConfig {
    /// Applies the settings. Relative paths are resolved against `base`.
    pub fn apply(&self, confinement: Confinement, base: &Path) -> Confinement {
        let confinement = confinement.limits(self.limits.clone());
        let confinement = self.env.iter().fold(confinement, Confinement::pass_env);
        self.read.iter().fold(confinement, |confinement, path| confinement.read(base.join(path)))
    }
}

impl<'de> Deserialize<'de> for SandboxConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        struct Table {
            policy: Option<Policy>,
            env: Vec<String>,
            read: Vec<PathBuf>,
            limits: Limits,
        }

        struct SandboxVisitor;

        impl<'de> Visitor<'de> for SandboxVisitor {
            type Value = SandboxConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`\"required\"`, `\"preferred\"`, `\"off\"` or a table")
            }

            fn visit_str<E: serde::de::Error>(self, policy: &str) -> Result<SandboxConfig, E> {
                let policy = policy.parse().map_err(E::custom)?;
                Ok(SandboxConfig { policy: Some(policy), ..SandboxConfig::default() })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SandboxConfig, A::Error> {
                let Table { policy, env, read, limits } = Table::deserialize(MapAccessDeserializer::new(map))?;
                Ok(SandboxConfig { policy, env, read, limits })
            }
        }

        deserializer.deserialize_any(SandboxVisitor)
    }
}
