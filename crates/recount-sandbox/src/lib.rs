//! Confines the programs that an agent starts.
//!
//! A [`Sandbox`] starts programs in a [`Profile`]: the paths that they can read and write, their network, environment and
//! limits. The kernel enforces it, by namespaces, Landlock, seccomp and resource limits. The text of a command plays no part
//! in it.
//!
//! The crate contains no `unsafe` code. Everything that needs a process with a single thread happens in a helper: the program
//! executes itself again, see [`run_if_helper`].

mod access;
mod confinement;
mod environment;
mod error;
mod git;
#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(not(target_os = "linux"), path = "unsupported.rs")]
mod helper;
mod limits;
mod plan;
mod profile;
mod protect;
mod resolve;
mod sandbox;
mod support;
mod system;

pub use access::{Access, InvalidAccess};
pub use confinement::{Confinement, Policy};
pub use environment::passed_environment;
pub use error::LaunchError;
pub use limits::Limits;
pub use profile::Profile;
pub use sandbox::{Launch, LaunchGuard, Sandbox, run_if_helper};
pub use support::{Level, Support};
