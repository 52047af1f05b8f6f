//! Permissions: rules, modes, and the decision about one call.
//!
//! [`Permissions`] contain the mode and the rules of the user. Each tool gives a [`ToolPermission`] of its own.
//! [`Permissions::decide`] evaluates, in every mode, in this order:
//!
//! 1. Deny rules. If one may match the call, the user is asked.
//! 2. Ask rules.
//! 3. The tool's own `Deny`.
//! 4. Read-only calls, which are allowed.
//! 5. The tool's own `Allow`, `Ask` or `AskForSafety`.
//! 6. Allow rules.
//! 7. The mode.

mod decide;
mod decision;
mod mode;
pub mod path;
mod rules;
mod saved;
pub mod shell;
mod tool_permission;
pub(crate) mod wildcard;

pub use decision::{Behavior, Decision};
pub use mode::Mode;
pub(crate) use rules::contents;
pub use rules::{AcceptError, Permissions, WorkingDirectory};
pub(crate) use saved::rule_to_json;
pub use tool_permission::{Coverage, PermissionContext, ToolPermission};
