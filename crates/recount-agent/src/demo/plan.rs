//! The answer of the demo model to a conversation.

use recount_message::{DataBlock, Msg, Object, Role, ToolResultBlock, ToolResultState};
use recount_model::client::CallOptions;
use recount_model::format::ToolChoice;
use serde_json::value::RawValue;

use super::prose;

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Thinking(String),
    Text(String),
    Image,
    Call { name: String, input: String },
}

/// A harmless command that runs on every platform.
const COMMAND: &str = "for n in 1 2 3; do expr $n '*' $n; sleep 0.2; done";

/// The access that the command requests without needing it. Without a request, the user would not be asked.
const ACCESS: &str = "write";

/// The reason that the user is shown.
const REASON: &str = "to show how a command asks";

/// Returns the answer to a conversation.
pub(super) fn plan(messages: &[Msg], options: &CallOptions) -> Vec<Part> {
    let last_user = messages.iter().rposition(|message| message.role() == Role::User);
    let (before, since) = messages.split_at(last_user.unwrap_or_default());
    let results: Vec<&ToolResultBlock> = since.iter().flat_map(Msg::blocks::<ToolResultBlock>).collect();
    if !results.is_empty() {
        return vec![Part::Text(results.into_iter().map(describe_result).collect())];
    }
    let Some(question) = since.first().filter(|_| last_user.is_some()) else {
        return vec![Part::Text(prose::introduction("", true))];
    };
    let text = question.text_or_empty();
    let keywords = Keywords::parse(&text, options);
    let mut parts = Vec::new();
    if keywords.think {
        parts.push(Part::Thinking(prose::thoughts(&keywords.words())));
    }
    let media: Vec<&DataBlock> = question.blocks().collect();
    if !media.is_empty() {
        parts.push(Part::Text(prose::received(&media)));
    }
    if keywords.long {
        parts.push(Part::Text(prose::five_hundred_words()));
    }
    if keywords.image {
        parts.extend([Part::Image, Part::Text(prose::PICTURE.to_owned())]);
    }
    match keywords.call {
        Some(RequestedCall::Call { name, input }) => {
            parts.extend([Part::Text(prose::before_call(&name)), Part::Call { name, input }]);
        }
        Some(RequestedCall::Missing) => parts.push(Part::Text(prose::NO_SHELL.to_owned())),
        None if !keywords.long && !keywords.image => {
            let is_first = before.iter().all(|message| message.role() != Role::Assistant);
            parts.push(Part::Text(prose::introduction(&text, is_first)));
        }
        None => {}
    }
    parts
}

/// The keywords of a message.
struct Keywords {
    think: bool,
    image: bool,
    long: bool,
    call: Option<RequestedCall>,
}

enum RequestedCall {
    Call {
        name: String,
        input: String,
    },
    /// The agent does not have the tool.
    Missing,
}

impl Keywords {
    fn parse(text: &str, options: &CallOptions) -> Self {
        let words: Vec<String> =
            text.split(|char: char| !char.is_alphanumeric() && char != '_').map(str::to_lowercase).collect();
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
        let may_call = options.tool_choice != Some(ToolChoice::none());
        let requested = || {
            named_call(text, options).or_else(|| {
                has(&["tool", "tools", "shell"]).then(|| {
                    let is_offered = options.tools.iter().any(|tool| tool.name() == "shell");
                    let mut input = Object::from([("command", COMMAND)]);
                    input.insert("access", vec![ACCESS.to_owned()]);
                    input.insert("reason", REASON);
                    let input = input.to_json();
                    if is_offered {
                        RequestedCall::Call { name: "shell".to_owned(), input }
                    } else {
                        RequestedCall::Missing
                    }
                })
            })
        };
        Self {
            think: has(&["think", "thinking"]),
            image: has(&["image", "images"]),
            long: has(&["long"]),
            call: if may_call { requested() } else { None },
        }
    }

    fn words(&self) -> Vec<&'static str> {
        let found = [(self.think, "think"), (self.long, "long"), (self.image, "image"), (self.call.is_some(), "tool")];
        found.into_iter().filter(|(is_found, _)| *is_found).map(|(_, word)| word).collect()
    }
}

/// Parses the name of a tool that is followed by its arguments.
fn named_call(text: &str, options: &CallOptions) -> Option<RequestedCall> {
    let (before, _) = text.split_once('{')?;
    let name = before.trim_end().rsplit(char::is_whitespace).next()?;
    let tool = options.tools.iter().find(|tool| tool.name() == name)?;
    let arguments = text.get(before.len()..)?;
    let input = serde_json::Deserializer::from_str(arguments).into_iter::<Box<RawValue>>().next()?.ok()?;
    Some(RequestedCall::Call { name: tool.name().to_owned(), input: input.get().to_owned() })
}

/// Describes the result of a call.
fn describe_result(result: &ToolResultBlock) -> String {
    let name = &result.name;
    match result.state {
        ToolResultState::Success => {
            prose::output("The tool", name, "returned:", &result.output.text().unwrap_or_default())
        }
        ToolResultState::Denied => format!("`{name}` was not allowed, so nothing has run.\n"),
        ToolResultState::Interrupted => format!("`{name}` was interrupted, so its effect is unknown.\n"),
        _ => prose::output("The tool", name, "failed and returned:", &result.output.text().unwrap_or_default()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use recount_model::format::Tool;

    use super::*;

    fn planned(text: &str) -> Vec<Part> {
        let options = CallOptions::new().tools([Tool::new("shell"), Tool::new("notes__add")]);
        plan(&[Msg::user("Alice", text)], &options)
    }

    fn kinds(text: &str) -> Vec<&'static str> {
        let kind = |part: &Part| match part {
            Part::Thinking(_) => "thinking",
            Part::Text(_) => "text",
            Part::Image => "image",
            Part::Call { .. } => "call",
        };
        planned(text).iter().map(kind).collect()
    }

    #[test]
    fn keywords_can_be_combined() {
        for (text, wanted) in [
            ("Hello", &["text"][..]),
            ("Use a tool, please.", &["text", "call"]),
            ("SHELL", &["text", "call"]),
            ("an image", &["image", "text"]),
            ("a long story", &["text"]),
            ("Think!", &["thinking", "text"]),
            ("Imagine a longer toolbox and rethink.", &["text"]),
            ("think of a long image with a tool", &["thinking", "text", "image", "text", "text", "call"]),
        ] {
            assert_eq!(kinds(text), wanted, "{text}");
        }
    }

    #[test]
    fn long_has_five_hundred_words() {
        let Some(Part::Text(text)) = planned("long").into_iter().next() else { return assert_eq!(1, 0, "no text") };
        assert_eq!(text.split_whitespace().count(), 500);
    }

    #[test]
    fn tool_is_called_by_name_with_json_arguments() {
        let call = |text| planned(text).pop().unwrap();
        let wanted = Part::Call { name: "notes__add".to_owned(), input: r#"{"text": "{a}"}"#.to_owned() };
        assert_eq!(call(r#"notes__add {"text": "{a}"} if you please"#), wanted);
        let shell = Part::Call { name: "shell".to_owned(), input: r#"{"command":"ls"}"#.to_owned() };
        assert_eq!(call(r#"Run shell {"command":"ls"}"#), shell);
        assert!(matches!(call(r#"other {"a": 1}"#), Part::Text(_)));
        assert!(matches!(call(r#"notes__add {"a": "#), Part::Text(_)));
    }

    #[test]
    fn missing_tool_is_not_called() {
        let parts = plan(&[Msg::user("Alice", "shell")], &CallOptions::new());
        assert_eq!(parts, [Part::Text(prose::NO_SHELL.to_owned())]);
        let silent = CallOptions::new().tools([Tool::new("shell")]).tool_choice(ToolChoice::none());
        assert!(matches!(plan(&[Msg::user("Alice", "shell")], &silent)[..], [Part::Text(_)]));
    }

    #[test]
    fn result_is_described() {
        let result = ToolResultBlock::success("c1", "shell", "1\n4\n9\n");
        let denied = ToolResultBlock::new("c1", "shell", "no", ToolResultState::Denied);
        let answer = |result: ToolResultBlock| {
            let messages = [Msg::user("Alice", "tool"), Msg::assistant("demo", [result.into()])];
            plan(&messages, &CallOptions::new())
        };
        assert_eq!(answer(result), [Part::Text("The tool `shell` returned:\n\n```\n1\n4\n9\n```\n".to_owned())]);
        assert_eq!(answer(denied), [Part::Text("`shell` was not allowed, so nothing has run.\n".to_owned())]);
    }
}
