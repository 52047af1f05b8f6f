//! Tools: what a model may call.

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

/// Something that an agent can do when its model asks for it.
///
/// Most tools are made from an async function; this trait is for those that have more to say.
pub trait Tool: Send + Sync + 'static {
    /// What the model and the agent are told of it.
    fn spec(&self) -> &ToolSpec;

    /// Runs it. What it says through the context is shown at once, what it returns comes last.
    ///
    /// The arguments have the form that the [schema](ToolSpec::parameters) asks for. When the context is
    /// [cancelled](ToolContext::cancelled), the future is dropped soon after.
    fn run<'a>(&'a self, arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;

    /// Looks at the arguments before anything is asked or run: what the schema cannot say of them.
    ///
    /// # Errors
    ///
    /// When they cannot be used. The model is told why, and nobody is asked for permission.
    fn validate_arguments(&self, _arguments: &Object) -> Result<(), ToolError> {
        Ok(())
    }

    /// Returns whether such a call changes nothing.
    fn is_read_only(&self, _arguments: &Object, _context: &PermissionContext) -> bool {
        self.spec().read_only
    }

    /// Returns the permission that the tool itself gives for such a call. Rules and the mode decide together with it.
    fn check_permission<'a>(
        &'a self,
        _arguments: &'a Object,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, ToolPermission> {
        Box::pin(async { ToolPermission::Passthrough })
    }

    /// Returns whether rules for this tool, all with this behavior, match such a call.
    ///
    /// If a call does several things, allow rules must match all of them together, and a deny or ask rule any of them. A
    /// deny or ask rule without content matches every call and is not passed to this method.
    ///
    /// By default, rules without content match every call, and others none.
    fn rule_coverage(&self, rules: &[&PermissionRule], _behavior: PermissionBehavior, _arguments: &Object) -> Coverage {
        Coverage::from(contents(rules).is_none())
    }

    /// Rules that a user may accept along with such an invocation.
    fn suggested_rules(&self, _arguments: &Object) -> Vec<PermissionRule> {
        let rule = PermissionRule::new(&self.spec().name, None, PermissionBehavior::Allow);
        vec![rule.with_source("suggested")]
    }
}
