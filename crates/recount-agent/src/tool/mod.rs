//! Tools: what a model may call.

pub mod arguments;
mod background;
mod context;
pub(crate) mod derive;
mod function;
mod mounted;
mod output;
mod returned;
mod schema;
mod spec;
mod structured;
mod toolkit;

pub use background::{Background, BackgroundReport};
pub use context::{CallIds, ToolContext, ToolSays};
pub use function::{FunctionTool, NoArguments};
pub use mounted::Mounted;
#[cfg(all(test, feature = "mcp"))]
pub(crate) use mounted::is_name;
pub use output::{ToolError, ToolOutput};
pub use returned::IntoOutput;
pub use schema::{Schema, SchemaError, Violation, Violations};
pub use spec::ToolSpec;
pub use structured::{STRUCTURED_OUTPUT, StructuredOutput};
pub use toolkit::{ToolGroup, ToolSource, Toolkit, ToolkitError, Unavailable};

use recount_message::{Object, PermissionBehavior, PermissionRule};

use crate::BoxFuture;
use crate::permission::{Coverage, Opinion, Surroundings};

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
    fn check(&self, _arguments: &Object) -> Result<(), ToolError> {
        Ok(())
    }

    /// Whether this invocation changes nothing.
    fn is_read_only(&self, _arguments: &Object) -> bool {
        self.spec().read_only
    }

    /// What the tool itself thinks of being called so. Rules and the mode have their say beside it.
    fn opinion<'a>(&'a self, _arguments: &'a Object, _surroundings: &'a Surroundings) -> BoxFuture<'a, Opinion> {
        Box::pin(async { Opinion::Passthrough })
    }

    /// Whether rules of this behaviour, given by their contents, are about such an invocation. Only rules for this tool are
    /// asked for, and a rule without content is about every one.
    ///
    /// The behaviour matters where an invocation does several things: rules that allow have to be about all of them
    /// together, one that denies or asks about any.
    fn is_covered(&self, _contents: &[&str], _behavior: PermissionBehavior, _arguments: &Object) -> Coverage {
        Coverage::No
    }

    /// Rules that a user may accept along with such an invocation.
    fn suggested_rules(&self, _arguments: &Object) -> Vec<PermissionRule> {
        let rule = PermissionRule::new(&self.spec().name, None, PermissionBehavior::Allow);
        vec![rule.with_source("suggested")]
    }
}
