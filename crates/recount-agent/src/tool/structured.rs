//! The tool for structured output.

use std::fmt;
use std::sync::Arc;

use recount_message::{Json, Object, StructuredError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::derive::schema_of;
use super::function::typed;
use super::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use crate::BoxFuture;

/// The name of the tool for structured output.
pub const STRUCTURED_OUTPUT: &str = "GenerateStructuredOutput";

const DESCRIPTION: &str =
    "Returns the final answer in the requested form. Call it when all required information is available.";
const DONE: &str = "Structured output generated successfully.";
/// The property with the output, if the output is not an object itself. Arguments always are.
const WRAPPED: &str = "output";

type Check = dyn Fn(&Object) -> Result<(), ToolError> + Send + Sync;

/// The tool for structured output. Its arguments are the output.
///
/// They are validated against the schema, and then by deserialization if there is a Rust type. A saved reply contains only
/// the schema. To validate by deserialization after a restart, pass the type again.
///
/// ```
/// use recount_agent::tool::{CompiledTool, StructuredOutput, arguments};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Verdict {
///     approved: bool,
///     #[serde(default)]
///     remarks: Vec<String>,
/// }
/// let tool = StructuredOutput::of::<Verdict>();
/// let arguments = arguments::parse(r#"{"approved": true}"#, &CompiledTool::new(tool.clone())?)?;
/// let output = tool.complete(&arguments.object);
/// assert_eq!(output.to_json(), r#"{"approved":true,"remarks":[]}"#);
/// assert!(StructuredOutput::decode::<Verdict>(&output)?.approved);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct StructuredOutput {
    spec: ToolSpec,
    check: Option<Arc<Check>>,
}

impl StructuredOutput {
    /// Creates the tool for output of a Rust type.
    pub fn of<T: DeserializeOwned + JsonSchema + 'static>() -> Self {
        let schema = schema_of::<T>();
        let schema = if is_object(&schema) { schema } else { wrapped(&schema) };
        let check = |output: &Object| Self::decode::<T>(output).map(drop).map_err(ToolError::from);
        Self { check: Some(Arc::new(check)), ..Self::from_schema(schema) }
    }

    /// Creates the tool for output with a JSON Schema, which must be that of an object.
    pub fn from_schema(schema: impl Into<Json>) -> Self {
        let spec = ToolSpec::new(STRUCTURED_OUTPUT, DESCRIPTION).parameters(schema);
        Self { spec: spec.read_only().idempotent().concurrency_safe(), check: None }
    }

    /// Adds a validator for constraints that a schema cannot express. The model receives its errors.
    #[must_use]
    pub fn with_validator(mut self, check: impl Fn(&Object) -> Result<(), ToolError> + Send + Sync + 'static) -> Self {
        let earlier = self.check.take();
        self.check = Some(Arc::new(move |output| {
            earlier.as_ref().map_or(Ok(()), |earlier| earlier(output))?;
            check(output)
        }));
        self
    }

    /// The schema, which is saved with the reply.
    pub fn schema(&self) -> &Json {
        &self.spec.parameters
    }

    /// Returns the output for the arguments of a call, completed with the defaults of the schema.
    pub fn complete(&self, arguments: &Object) -> Object {
        let root = self.spec.parameters.to_object().unwrap_or_default();
        let output = Defaults { root: &root }.filled(&root, &arguments.clone().into(), 0);
        output.to_object().unwrap_or_default()
    }

    /// Deserializes the output.
    ///
    /// # Errors
    ///
    /// The output does not conform to the type.
    pub fn decode<T: DeserializeOwned + JsonSchema>(output: &Object) -> Result<T, StructuredError> {
        match output.get(WRAPPED) {
            Some(inner) if !is_object(&schema_of::<T>()) => inner.deserialize_as(),
            _ => typed(output.clone()),
        }
    }
}

impl Tool for StructuredOutput {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(
        &'a self,
        _arguments: Object,
        _context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok(ToolOutput::new(DONE)) })
    }

    fn validate_arguments(&self, arguments: &Object) -> Result<(), ToolError> {
        self.check.as_ref().map_or(Ok(()), |check| check(&self.complete(arguments)))
    }
}

fn is_object(schema: &Json) -> bool {
    let kind = schema.to_object().and_then(|schema| schema.get("type").and_then(Json::as_str).map(str::to_owned));
    kind.as_deref() == Some("object")
}

/// Wraps a schema in the schema of an object.
fn wrapped(schema: &Json) -> Json {
    let mut inner = schema.to_object().unwrap_or_default();
    // References are resolved from the root.
    let definitions = inner.remove("$defs");
    let mut outer = Object::from([
        ("type", Json::from("object")),
        ("properties", Object::from([(WRAPPED, inner)]).into()),
        ("required", [WRAPPED].into()),
    ]);
    if let Some(definitions) = definitions {
        outer.insert("$defs", definitions);
    }
    outer.into()
}

/// The defaults of a schema.
struct Defaults<'a> {
    root: &'a Object,
}

impl Defaults<'_> {
    /// Returns a value with the defaults of missing properties.
    fn filled(&self, schema: &Object, value: &Json, depth: usize) -> Json {
        let definition = schema.get("$ref").and_then(|reference| self.definition(reference));
        if let Some(definition) = definition.filter(|_| depth < recount_message::MAX_DEPTH) {
            return self.filled(&definition, value, depth + 1);
        }
        if let (Some(list), Some(items)) = (value.to_array(), schema.get("items").and_then(Json::to_object)) {
            return list.iter().map(|element| self.filled(&items, element, depth + 1)).collect::<Vec<_>>().into();
        }
        let Some(mut object) = value.to_object() else { return value.clone() };
        let properties = schema.get("properties").and_then(Json::to_object).unwrap_or_default();
        for (name, property) in properties.iter() {
            let property = property.to_object().unwrap_or_default();
            match (object.get(name), property.get("default")) {
                (Some(value), _) => {
                    let value = self.filled(&property, value, depth + 1);
                    object.insert(name, value);
                }
                (None, Some(default)) => object.insert(name, default.clone()),
                (None, None) => {}
            }
        }
        object.into()
    }

    fn definition(&self, reference: &Json) -> Option<Object> {
        let reference = reference.as_str()?.to_owned();
        let mut found = Json::from(self.root.clone());
        for step in reference.strip_prefix('#')?.split('/').skip(1) {
            found = found.to_object()?.get(&step.replace("~1", "/").replace("~0", "~"))?.clone();
        }
        found.to_object()
    }
}

impl fmt::Debug for StructuredOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StructuredOutput").field("schema", &self.spec.parameters).finish_non_exhaustive()
    }
}
