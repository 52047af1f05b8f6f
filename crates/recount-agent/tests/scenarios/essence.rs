//! The compared parts of a scenario's outcome, without generated ids and times and without free text.

use std::borrow::Cow;
use std::collections::BTreeSet;

use recount_agent::scripted::RecordedRequest;
use recount_message::{AgentEvent, EventKind, Fold};
use recount_model::format::ToolChoice;
use serde_json::{Map, Value, json};

use crate::tools::Scripted;

const PROSE: &str = "$prose";

/// The compared parts of an agent's behaviour in a scenario.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Essence {
    /// The events of each turn, with their main fields.
    pub(crate) events: Vec<Value>,
    /// For each turn, whether the caller received an error.
    pub(crate) raised: Vec<Value>,
    /// The messages of the replies.
    pub(crate) folded: Vec<Value>,
    /// The requests to the models.
    pub(crate) asked: Vec<Value>,
}

/// The behaviour of our agent while a scenario runs.
#[derive(Default)]
pub(crate) struct Playing {
    turns: Vec<Vec<String>>,
    raised: Vec<bool>,
    fold: Fold,
}

impl Playing {
    pub(crate) fn begin_turn(&mut self) {
        self.turns.push(Vec::new());
        self.raised.push(false);
    }

    pub(crate) fn refused(&mut self) {
        *self.raised.last_mut().unwrap() = true;
    }

    pub(crate) fn take(&mut self, mut event: AgentEvent, scripted: &Scripted) {
        match &mut event.kind {
            EventKind::ToolResultTextDelta(delta) if !scripted.lock().unwrap().contains(delta.delta.as_ref()) => {
                delta.delta = Cow::Borrowed(PROSE);
            }
            EventKind::HintBlock(hint) => hint.hint = PROSE.into(),
            _ => {}
        }
        let outcome = self.fold.apply(&event);
        assert_eq!(outcome.reason(), None, "events of an agent can be applied: {}", event.to_json());
        let is_input = matches!(
            event.kind,
            EventKind::UserConfirmResult(_) | EventKind::ExternalExecutionResult(_) | EventKind::UserInterrupt(_)
        );
        if !is_input && !matches!(event.kind, EventKind::Custom(_)) {
            let written: Value = serde_json::from_str(&event.to_json()).unwrap();
            self.turns.last_mut().unwrap().push(event_line(&written));
        }
    }

    pub(crate) fn essence(&self, asked: &[RecordedRequest]) -> Essence {
        Essence {
            events: self.turns.iter().map(|turn| json!(turn)).collect(),
            raised: self.raised.iter().map(|raised| json!(raised)).collect(),
            folded: self
                .fold
                .messages()
                .map(|message| folded(&serde_json::from_str(&message.to_json()).unwrap()))
                .collect(),
            asked: asked.iter().map(asked_with).collect(),
        }
    }
}

impl Essence {
    /// Returns the recorded behaviour of the package.
    pub(crate) fn recorded(record: &Value) -> Self {
        let turns = record["turns"].as_array().unwrap();
        let events =
            |turn: &Value| json!(turn["events"].as_array().unwrap().iter().map(event_line).collect::<Vec<_>>());
        let asked = |asked: &Value| {
            let tools = asked["tools"].as_array().unwrap().iter().map(|tool| tool.as_str().unwrap());
            json!({"tools": tools.collect::<BTreeSet<_>>(), "tool_choice": asked["tool_choice"]})
        };
        Self {
            events: turns.iter().map(events).collect(),
            raised: turns.iter().map(|turn| json!(!turn["raised"].is_null())).collect(),
            folded: record["folded"].as_array().unwrap().iter().map(folded).collect(),
            asked: record["asked"].as_array().unwrap().iter().map(asked).collect(),
        }
    }
}

/// Formats an event as one line: its type, its call and its outcome.
fn event_line(event: &Value) -> String {
    let details = ["tool_call_id", "state", "finished_reason"];
    let words = std::iter::once(&event["type"]).chain(details.iter().map(|key| &event[*key]));
    let calls = event["tool_calls"].as_array().into_iter().flatten().map(|call| &call["id"]);
    words.chain(calls).filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
}

fn asked_with(asked: &RecordedRequest) -> Value {
    let choice = asked.tool_choice.as_ref().map(|choice| {
        let known = [("none", ToolChoice::none()), ("auto", ToolChoice::auto()), ("required", ToolChoice::required())];
        let name = known.iter().find(|(_, known)| known == choice).map(|(name, _)| *name);
        let called = asked.tools.iter().map(String::as_str).find(|tool| ToolChoice::named(*tool) == *choice);
        name.or(called).unwrap_or_else(|| panic!("unknown tool choice {choice:?}"))
    });
    // The order of the tools does not matter.
    json!({"tools": asked.tools.iter().collect::<BTreeSet<_>>(), "tool_choice": choice})
}

/// Returns a message with the keys that the package has.
fn folded(written: &Value) -> Value {
    let content = written["content"].as_array().unwrap().iter().map(block);
    json!({
        "content": content.collect::<Vec<_>>(),
        "usage": kept(&written["usage"], &["input_tokens", "output_tokens", "cache_input_tokens", "cache_creation_input_tokens"]),
        "finished_reason": written["finished_reason"],
    })
}

fn block(block: &Value) -> Value {
    let keys: &[&str] = match block["type"].as_str().unwrap() {
        "text" => &["type", "text"],
        "thinking" => &["type", "thinking"],
        "hint" => &["type", "hint", "source"],
        "data" => &["type", "source", "name"],
        "tool_call" => &["type", "id", "name", "input", "state", "suggested_rules"],
        "tool_result" => &["type", "id", "name", "output", "state", "metadata"],
        other => panic!("unknown block type {other}"),
    };
    let mut kept = kept(block, keys);
    if block["type"] == "hint" {
        // A label is JSON in a string, so its formatting may differ.
        let label = kept["source"].as_str().and_then(|label| serde_json::from_str(label).ok());
        kept["source"] = label.unwrap_or_default();
    }
    if let Some(output) = kept.get_mut("output").and_then(Value::as_array_mut) {
        for item in output {
            *item = match item["type"].as_str() {
                Some("text") => self::kept(item, &["type", "text"]),
                _ => self::kept(item, &["type", "source", "name"]),
            };
        }
    }
    kept
}

fn kept(value: &Value, keys: &[&str]) -> Value {
    let Some(object) = value.as_object() else { return value.clone() };
    let kept: Map<String, Value> =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), object.get(*key)?.clone()))).collect();
    Value::Object(kept)
}
