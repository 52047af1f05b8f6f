//! Who may do what: rules, modes, and the decision about one call.
//!
//! [`Permissions`] hold what the user has said, a tool has a [`ToolPermission`] of its own, and
//! [`decide`](Permissions::decide) brings the two together. The order, in every mode:
//!
//! 1. A rule that denies. One that may be about the call, though that cannot be told, has the user asked.
//! 2. A rule that asks.
//! 3. The tool's own deny.
//! 4. A call that only reads is allowed.
//! 5. The permission of the tool itself.
//! 6. A rule that allows.
//! 7. What the mode says.

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
pub(crate) use saved::written_rule;
pub use tool_permission::{Coverage, PermissionContext, ToolPermission};
