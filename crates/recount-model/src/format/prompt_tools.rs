//! Tools for endpoints without a tool API: schemas in the system prompt, calls as text.
//!
//! # The syntax
//!
//! The model calls a tool by writing a JSON object between two tags:
//!
//! ```text
//! <tool_call>
//! {"name": "get_weather", "arguments": {"city": "Paris"}}
//! </tool_call>
//! ```
//!
//! - `name` is a string. `arguments` is an object; if it is missing, it is `{}`.
//! - White space around the object and line breaks inside it are allowed, as is text before, between and after calls.
//!   The opening tag may be anywhere in the text, not only at the start of a line.
//! - Several calls are several pairs of tags.
//! - The first `</tool_call>` outside a JSON string ends the call. If the stream ends first, the call is complete if
//!   its object is, and truncated otherwise.
//! - Text between the tags that is not such an object stays text, including the tags.
//! - The call has no id. The parser assigns one.
//!
//! The history of the next request has the same form. A call is text of an assistant message, and its result is text of
//! a user message:
//!
//! ```text
//! <tool_response>
//! {"name": "get_weather", "content": "18 degrees"}
//! </tool_response>
//! ```
//!
//! All results of one round are in one message. Hermes and Qwen models were trained on this format, so many models
//! without a tool API know it.

use recount_message::{Json, Object, Role};

use super::arguments;
use super::tools::Tool;
use super::turns::{Call, CallResult, Item, PayloadPart, Turn};
use super::warning::FormatWarning;

/// How tools are sent to a model.
///
/// ```
/// use recount_message::Msg;
/// use recount_model::Provider;
/// use recount_model::format::{Formatter, Media, RequestOptions, Tool, ToolMode};
///
/// let formatter = Formatter::new(Provider::Ollama).tool_mode(ToolMode::Prompt);
/// let options = RequestOptions::new("gemma").tools([Tool::new("ping")]);
/// let request = formatter.request(&[Msg::user("Alice", "Hello")], &Media::new(), &options)?;
/// assert!(request.body.as_raw().contains(r#"<tools>\n{\"name\":\"ping\"}\n</tools>"#));
/// # Ok::<(), recount_model::format::RequestError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolMode {
    /// Through the provider's tool API.
    #[default]
    Native,
    /// In the system prompt, for endpoints without a tool API, in the syntax of this [module](self).
    Prompt,
}

/// Returns the tool section of the system prompt.
pub(crate) fn instructions(tools: &[&Tool]) -> String {
    let schemas: Vec<String> = tools.iter().map(|tool| Json::from(tool.function(Json::clone)).to_string()).collect();
    format!(
        "# Tools\nYou may call one or more tools to help with the user's request. Their signatures are within \
         <tools></tools> tags:\n<tools>\n{}\n</tools>\nFor each call, write a JSON object with the tool's name and \
         arguments within <tool_call></tool_call> tags:\n<tool_call>\n{{\"name\": <name>, \"arguments\": \
         <arguments>}}\n</tool_call>\nThen stop: the results come within <tool_response></tool_response> tags.",
        schemas.join("\n")
    )
}

/// Converts calls and results to text, and adds the tool instructions to the system prompt.
pub(crate) fn as_text<'a>(
    turns: Vec<Turn<'a>>,
    instructions: Option<String>,
    warnings: &mut Vec<FormatWarning>,
) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = turns.into_iter().map(|turn| turn_as_text(turn, warnings)).collect();
    if let Some(instructions) = instructions {
        match turns.first_mut().filter(|first| first.role == Role::System) {
            Some(system) => system.items.push(Item::Text(instructions.into(), None)),
            None => {
                let items = vec![Item::Text(instructions.into(), None)];
                turns.insert(0, Turn { role: Role::System, name: "system", id: "", has_tools: false, items });
            }
        }
    }
    turns
}

fn turn_as_text<'a>(turn: Turn<'a>, warnings: &mut Vec<FormatWarning>) -> Turn<'a> {
    let mut items: Vec<Item<'a>> = Vec::with_capacity(turn.items.len());
    let mut responses: Vec<PayloadPart<'a>> = Vec::new();
    for item in turn.items {
        match item {
            Item::Result(result) => responses.extend(response(result)),
            other => {
                if !responses.is_empty() {
                    items.push(Item::Hint(std::mem::take(&mut responses)));
                }
                items.push(match other {
                    Item::Call(call) => Item::Text(call_text(&call, warnings).into(), None),
                    other => other,
                });
            }
        }
    }
    if !responses.is_empty() {
        items.push(Item::Hint(responses));
    }
    Turn { items, ..turn }
}

fn call_text(call: &Call<'_>, warnings: &mut Vec<FormatWarning>) -> String {
    let arguments = arguments::parse_or_empty(call, warnings);
    let call = Object::from([("name", Json::from(&*call.name)), ("arguments", arguments)]);
    format!("<tool_call>\n{call}\n</tool_call>")
}

/// Returns a result as text, followed by its media.
fn response(result: CallResult<'_>) -> Vec<PayloadPart<'_>> {
    let mut texts = Vec::new();
    let mut media = Vec::new();
    for part in result.output {
        match part {
            PayloadPart::Text(text) => texts.push(text),
            PayloadPart::Data(_) => media.push(part),
        }
    }
    let response = Object::from([("name", &*result.name), ("content", &*texts.join("\n"))]);
    let text = format!("<tool_response>\n{response}\n</tool_response>");
    std::iter::once(PayloadPart::Text(text.into())).chain(media).collect()
}
