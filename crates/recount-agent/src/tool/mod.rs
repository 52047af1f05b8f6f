//! Tools that a model can call.

pub mod arguments;
mod background;
mod compiled;
mod context;
pub(crate) mod derive;
mod function;
mod output;
mod returned;
mod schema;
mod spec;
mod structured;
mod toolkit;

pub use background::{BackgroundEvent, BackgroundTools};
pub use compiled::CompiledTool;
#[cfg(all(test, feature = "mcp"))]
pub(crate) use compiled::is_name;
pub use context::{CallIds, ToolContext, ToolEvent};
pub use function::{FunctionTool, NoArguments};
pub use output::{ToolError, ToolOutput};
pub use returned::IntoOutput;
pub use schema::{Schema, SchemaError, Violation, Violations};
pub use spec::ToolSpec;
pub use structured::{STRUCTURED_OUTPUT, StructuredOutput};
pub use toolkit::{ToolGroup, ToolLookupError, ToolSource, Toolkit, ToolkitError};

use recount_message::{Object, PermissionBehavior, PermissionRule};

use crate::BoxFuture;
use crate::permission::{Coverage, PermissionContext, ToolPermission, contents};

/// A tool that a model can call.
///
/// Most tools are created from an async function, see [`FunctionTool`]. Implement this trait for tools with permissions or
/// rules of their own.
pub trait Tool: Send + Sync + 'static {
    /// Returns the description of the tool, for the model and for the agent.
    fn spec(&self) -> &ToolSpec;

    /// Runs the tool. Output that is written to the context is shown at once. The returned output follows it.
    ///
    /// The arguments conform to the [schema](ToolSpec::parameters). When the context is
    /// [cancelled](ToolContext::cancelled), the future is dropped after a grace period.
    fn run<'a>(&'a self, arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;

    /// Validates constraints that the schema cannot express. Called before permission is requested.
    ///
    /// # Errors
    ///
    /// The arguments are invalid. The model receives the error, and the tool does not run.
    fn validate_arguments(&self, _arguments: &Object) -> Result<(), ToolError> {
        Ok(())
    }

    /// Returns whether a call with these arguments changes nothing.
    fn is_read_only(&self, _arguments: &Object, _context: &PermissionContext) -> bool {
        self.spec().read_only
    }

    /// Returns the permission that the tool itself gives a call with these arguments. The [decision](crate::permission) also
    /// depends on rules and on the mode.
    fn check_permission<'a>(
        &'a self,
        _arguments: &'a Object,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, ToolPermission> {
        Box::pin(async { ToolPermission::Passthrough })
    }

    /// Returns whether rules for this tool, all with this behavior, match a call with these arguments.
    ///
    /// If a call does several things, allow rules must match all of them together, and a deny or ask rule any of them. A
    /// deny or ask rule without content matches every call and is not passed to this method.
    ///
    /// By default, rules without content match every call, and rules with content match none.
    fn rule_coverage(&self, rules: &[&PermissionRule], _behavior: PermissionBehavior, _arguments: &Object) -> Coverage {
        Coverage::from(contents(rules).is_none())
    }

    /// Returns rules that the user can accept together with the call.
    fn suggested_rules(&self, _arguments: &Object) -> Vec<PermissionRule> {
        let rule = PermissionRule::new(&self.spec().name, None, PermissionBehavior::Allow);
        vec![rule.with_source("suggested")]
    }
}
