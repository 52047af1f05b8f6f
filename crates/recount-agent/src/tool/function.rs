//! Tools from async functions.

use std::fmt;
use std::sync::Arc;

use recount_message::{Json, Object, StructuredError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::derive::schema_of;
use super::{IntoOutput, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use crate::BoxFuture;
use crate::permission::{PermissionContext, ToolPermission};

type Body<A> = dyn Fn(A, ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;
type OwnPermission<A> = dyn Fn(A) -> ToolPermission + Send + Sync;

/// A tool from an async function.
///
/// The model receives the schema of the argument type, with the doc comments of its fields as descriptions. The function
/// returns any value that converts into [output](IntoOutput). `?` converts any error into a [`ToolError`].
///
/// ```
/// use recount_agent::tool::{FunctionTool, ToolError};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Sum {
///     /// The numbers to add, as the user wrote them.
///     numbers: Vec<String>,
/// }
///
/// async fn sum(sum: Sum) -> Result<f64, ToolError> {
///     let mut total = 0.0;
///     for number in sum.numbers {
///         total += number.parse::<f64>()?;
///     }
///     Ok(total)
/// }
///
/// let tool = FunctionTool::new("sum", "Adds numbers.", sum).read_only().concurrency_safe();
/// ```
///
/// A tool that streams output or needs the ids of the call takes a [context](ToolContext):
///
/// ```
/// # use recount_agent::tool::{FunctionTool, ToolOutput};
/// # use schemars::JsonSchema;
/// # use serde::Deserialize;
/// #[derive(Deserialize, JsonSchema)]
/// struct Build {
///     target: String,
/// }
///
/// let tool = FunctionTool::with_context("build", "Builds a target.", |build: Build, context| async move {
///     context.write_text(format!("compiling {}\n", build.target)).await;
///     Ok(ToolOutput::new("done").with_metadata([("target", build.target)]))
/// });
/// ```
pub struct FunctionTool<A> {
    spec: ToolSpec,
    body: Option<Arc<Body<A>>>,
    permission: Option<Arc<OwnPermission<A>>>,
}

/// The arguments of a tool without arguments.
///
/// ```
/// use recount_agent::tool::{FunctionTool, NoArguments};
///
/// let tool = FunctionTool::new("clock", "Returns the time.", |_: NoArguments| async { Ok("noon") });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct NoArguments {}

impl<A: DeserializeOwned + JsonSchema + Send + 'static> FunctionTool<A> {
    /// Creates a tool from a function of its arguments.
    pub fn new<F, R, O>(name: impl Into<String>, description: impl Into<String>, function: F) -> Self
    where
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
        O: IntoOutput,
    {
        Self::with_context(name, description, move |arguments, _| function(arguments))
    }

    /// Creates a tool from a function of its arguments and its context.
    pub fn with_context<F, R, O>(name: impl Into<String>, description: impl Into<String>, function: F) -> Self
    where
        F: Fn(A, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
        O: IntoOutput,
    {
        let spec = ToolSpec::new(name, description).parameters(schema_of::<A>());
        Self { spec, body: Some(body(function)), permission: None }
    }

    /// Creates a tool that runs outside of the agent. The reply waits until a client sends the result.
    ///
    /// ```
    /// use recount_agent::tool::{FunctionTool, Tool};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Click {
    ///     selector: String,
    /// }
    /// let tool = FunctionTool::<Click>::external("click", "Clicks on a page in the user's browser.");
    /// assert!(tool.spec().external);
    /// ```
    pub fn external(name: impl Into<String>, description: impl Into<String>) -> Self {
        let spec = ToolSpec::new(name, description).parameters(schema_of::<A>()).external();
        Self { spec, body: None, permission: None }
    }
}

impl FunctionTool<Object> {
    /// Creates a tool whose schema is known only at run time.
    ///
    /// ```
    /// use recount_agent::tool::{FunctionTool, ToolSpec};
    /// use recount_message::Json;
    ///
    /// let schema = Json::parse(r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}"#)?;
    /// let spec = ToolSpec::new("lookup", "Looks up a record.").parameters(schema).read_only();
    /// let tool = FunctionTool::dynamic(spec, |arguments, _context| async move { Ok(arguments) });
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn dynamic<F, R, O>(spec: ToolSpec, function: F) -> Self
    where
        F: Fn(Object, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
        O: IntoOutput,
    {
        Self { spec, body: Some(body(function)), permission: None }
    }

    /// Creates an external tool whose schema is known only at run time.
    pub fn dynamic_external(spec: ToolSpec) -> Self {
        Self { spec: spec.external(), body: None, permission: None }
    }
}

fn body<A: 'static, F, R, O>(function: F) -> Arc<Body<A>>
where
    F: Fn(A, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: IntoOutput,
{
    Arc::new(move |arguments, context| {
        let running = function(arguments, context);
        Box::pin(async move { running.await?.into_output() })
    })
}

impl<A> FunctionTool<A> {
    /// Marks the tool as read-only, so it needs no permission.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.map_spec(ToolSpec::read_only)
    }

    /// Marks the tool as idempotent, so it may run again after a crash.
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.map_spec(ToolSpec::idempotent)
    }

    /// Allows the tool to run concurrently with others.
    #[must_use]
    pub fn concurrency_safe(self) -> Self {
        self.map_spec(ToolSpec::concurrency_safe)
    }

    /// Runs the tool in the background: the call gets its result at once, the outcome follows as a hint.
    #[must_use]
    pub fn background(self) -> Self {
        self.map_spec(ToolSpec::background)
    }

    /// Sets the group that must be active.
    #[must_use]
    pub fn group(self, name: impl Into<String>) -> Self {
        self.map_spec(|spec| spec.group(name))
    }

    /// Sets the JSON Schema of the metadata of results.
    #[must_use]
    pub fn metadata_schema(self, schema: impl Into<Json>) -> Self {
        self.map_spec(|spec| spec.metadata_schema(schema))
    }

    /// Sets the permission that the tool itself gives, by arguments.
    ///
    /// ```
    /// use recount_agent::permission::ToolPermission;
    /// use recount_agent::tool::FunctionTool;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Order {
    ///     euros: f64,
    /// }
    /// let tool = FunctionTool::new("order", "Orders a meal.", |_: Order| async { Ok("ordered") }).permission(|order| {
    ///     if order.euros < 20.0 { ToolPermission::Allow } else { ToolPermission::Ask("that is a lot".into()) }
    /// });
    /// ```
    #[must_use]
    pub fn permission(mut self, permission: impl Fn(A) -> ToolPermission + Send + Sync + 'static) -> Self {
        self.permission = Some(Arc::new(permission));
        self
    }

    fn map_spec(mut self, map: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        self.spec = map(self.spec);
        self
    }
}

impl<A: DeserializeOwned + Send + 'static> Tool for FunctionTool<A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let Some(body) = &self.body else {
            let error = format!("the external tool `{}` cannot run in the agent", self.spec.name);
            return Box::pin(async move { Err(ToolError::new(error)) });
        };
        match typed(arguments) {
            Ok(arguments) => body(arguments, context.clone()),
            Err(error) => Box::pin(async move { Err(error.into()) }),
        }
    }

    fn validate_arguments(&self, arguments: &Object) -> Result<(), ToolError> {
        typed::<A>(arguments.clone())?;
        Ok(())
    }

    fn check_permission<'a>(
        &'a self,
        arguments: &'a Object,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, ToolPermission> {
        let permission = match (&self.permission, typed(arguments.clone())) {
            (None, _) => ToolPermission::Passthrough,
            (Some(permission), Ok(arguments)) => permission(arguments),
            (Some(_), Err(error)) => ToolPermission::Deny(error.to_string()),
        };
        Box::pin(async { permission })
    }
}

/// Deserializes arguments.
///
/// In JSON Schema `3.0` is an integer, and some models write it. Rust integers are not deserialized from it.
pub(super) fn typed<A: DeserializeOwned>(arguments: Object) -> Result<A, StructuredError> {
    let json = Json::from(arguments);
    json.deserialize_as::<A>().or_else(|error| whole_numbers(&json).deserialize_as::<A>().map_err(|_| error))
}

/// Returns a value with `3` instead of `3.0`.
fn whole_numbers(json: &Json) -> Json {
    if let Some(object) = json.to_object() {
        return object.iter().map(|(key, value)| (key, whole_numbers(value))).collect::<Object>().into();
    }
    if let Some(list) = json.to_array() {
        return list.iter().map(whole_numbers).collect::<Vec<_>>().into();
    }
    let whole = json.as_raw().split_once('.').filter(|(_, fraction)| fraction.bytes().all(|digit| digit == b'0'));
    whole.and_then(|(whole, _)| Json::parse(whole).ok()).unwrap_or_else(|| json.clone())
}

impl<A> fmt::Debug for FunctionTool<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}
