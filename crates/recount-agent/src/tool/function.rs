//! Tools made from functions.

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

/// A tool made from an async function.
///
/// What the function takes is a type whose schema the model is shown; what stands above its fields is what the model reads
/// of them. What it returns is anything that can be the [output](IntoOutput) of a tool; `?` makes a
/// [`ToolError`] of any error.
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
/// A tool that has more to say takes its [context](ToolContext) along:
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

/// The arguments of a tool that takes none.
///
/// ```
/// use recount_agent::tool::{FunctionTool, NoArguments};
///
/// let tool = FunctionTool::new("clock", "Says what time it is.", |_: NoArguments| async { Ok("noon") });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct NoArguments {}

impl<A: DeserializeOwned + JsonSchema + Send + 'static> FunctionTool<A> {
    /// A tool from a function of its arguments.
    pub fn new<F, R, O>(name: impl Into<String>, description: impl Into<String>, function: F) -> Self
    where
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
        O: IntoOutput,
    {
        Self::with_context(name, description, move |arguments, _| function(arguments))
    }

    /// A tool from a function of its arguments and its context.
    pub fn with_context<F, R, O>(name: impl Into<String>, description: impl Into<String>, function: F) -> Self
    where
        F: Fn(A, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
        O: IntoOutput,
    {
        let spec = ToolSpec::new(name, description).parameters(schema_of::<A>());
        Self { spec, body: Some(body(function)), permission: None }
    }

    /// A tool that somebody else runs: the reply waits until they send the result.
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
    /// A tool whose schema is known only when the program runs.
    ///
    /// ```
    /// use recount_agent::tool::{FunctionTool, ToolSpec};
    /// use recount_message::Json;
    ///
    /// let schema = Json::parse(r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}"#)?;
    /// let spec = ToolSpec::new("lookup", "Looks a record up.").parameters(schema).read_only();
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

    /// The same for a tool that somebody else runs.
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
    /// It changes nothing, so it needs no permission.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.marked(ToolSpec::read_only)
    }

    /// Running it twice does no more than running it once, so it may run again after a crash.
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.marked(ToolSpec::idempotent)
    }

    /// It may run beside others.
    #[must_use]
    pub fn concurrency_safe(self) -> Self {
        self.marked(ToolSpec::concurrency_safe)
    }

    /// It is answered at once, and what comes of it comes later as a hint.
    #[must_use]
    pub fn background(self) -> Self {
        self.marked(ToolSpec::background)
    }

    /// The group that has to be active for it to be called.
    #[must_use]
    pub fn group(self, name: impl Into<String>) -> Self {
        self.marked(|spec| spec.group(name))
    }

    /// The JSON Schema that the metadata of its results has to have.
    #[must_use]
    pub fn metadata_schema(self, schema: impl Into<Json>) -> Self {
        self.marked(|spec| spec.metadata_schema(schema))
    }

    /// What the tool itself thinks of being called so.
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

    fn marked(mut self, mark: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        self.spec = mark(self.spec);
        self
    }
}

impl<A: DeserializeOwned + Send + 'static> Tool for FunctionTool<A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let Some(body) = &self.body else {
            let error = format!("`{}` is run elsewhere and cannot be run here", self.spec.name);
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

/// Arguments as the type that a function takes.
///
/// JSON Schema takes `3.0` for an integer and some models write it so, but Rust's integers do not read it.
pub(super) fn typed<A: DeserializeOwned>(arguments: Object) -> Result<A, StructuredError> {
    let json = Json::from(arguments);
    json.deserialize_as::<A>().or_else(|error| whole_numbers(&json).deserialize_as::<A>().map_err(|_| error))
}

/// The same value with `3` for `3.0`.
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
