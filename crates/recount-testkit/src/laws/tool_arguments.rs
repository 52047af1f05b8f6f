//! Laws of parsing and repairing tool arguments.

use std::sync::OnceLock;

use recount_agent::tool::{CompiledTool, FunctionTool, ToolSpec, arguments};
use recount_message::{Json, Object};

use super::{Broken, Verdict, ensure, ensure_same};

/// Schemas for every kind of coercion.
const SCHEMAS: [&str; 8] = [
    r#"{"type":"object"}"#,
    r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"number"},"é":{"type":"boolean"}}}"#,
    r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}"#,
    r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}},"b":{"type":["integer","null"]}}}"#,
    r##"{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}},
        "$defs":{"A":{"type":"object","properties":{"a":{"type":"boolean"},"b":{"$ref":"#/$defs/A"}},"required":["a"]}}}"##,
    r#"{"type":"object","properties":{"a":{"enum":[1,"x",true]},"b":{"const":2}},"additionalProperties":false}"#,
    r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
    r#"{"type":"object","properties":{"a":{"oneOf":[{"type":"integer","minimum":5},{"type":"array","items":{"type":"object"}}]},
        "b":{"allOf":[{"type":"string"},{"type":"integer"}]}}}"#,
];

fn tools() -> &'static [CompiledTool] {
    static TOOLS: OnceLock<Vec<CompiledTool>> = OnceLock::new();
    TOOLS.get_or_init(|| {
        let tool = |schema: &&str| {
            let spec = ToolSpec::new("tool", "").parameters(Json::parse(schema).ok()?);
            CompiledTool::new(FunctionTool::dynamic(spec, |arguments, _| async move { Ok(arguments) })).ok()
        };
        SCHEMAS.iter().filter_map(tool).collect()
    })
}

/// Valid arguments are not changed, and repaired arguments are valid.
///
/// # Errors
///
/// If the law is violated.
pub fn repaired_arguments_are_valid(text: &str, chance: u64) -> Verdict {
    ensure_same!(tools().len(), SCHEMAS.len(), "the schemas that compile");
    let Some(tool) = tools().get((chance % SCHEMAS.len() as u64) as usize) else { return Ok(()) };
    let strict = Object::parse(text).ok().filter(has_no_repeated_key);
    let is_valid = strict.as_ref().is_some_and(|object| tool.parameters().validate(&object.clone().into()).is_ok());
    match arguments::parse(text, tool) {
        Ok(read) => {
            let json = Json::from(read.object.clone());
            ensure!(tool.parameters().validate(&json).is_ok(), "{text} became {json}, which is invalid");
            ensure_same!(read.is_repaired(), !is_valid && !text.trim().is_empty(), "whether {text} was repaired");
            if is_valid {
                ensure_same!(Some(&read.object), strict.as_ref(), "valid arguments");
            }
            let again = arguments::parse(json.as_raw(), tool).map_err(|error| Broken::new(error.to_string()))?;
            ensure_same!(again.object, read.object, "arguments parsed again");
            ensure!(!again.is_repaired(), "{json} needed {:?} after it was repaired", again.repaired);
            Ok(())
        }
        Err(error) => {
            ensure!(!is_valid, "{text} is valid, but: {error}");
            Ok(())
        }
    }
}

fn has_no_repeated_key(object: &Object) -> bool {
    let keys: std::collections::HashSet<&str> = object.iter().map(|(key, _)| key).collect();
    keys.len() == object.len() && object.iter().all(|(_, value)| value_has_none(value))
}

fn value_has_none(value: &Json) -> bool {
    match (value.to_object(), value.to_array()) {
        (Some(object), _) => has_no_repeated_key(&object),
        (None, Some(list)) => list.iter().all(value_has_none),
        (None, None) => true,
    }
}
