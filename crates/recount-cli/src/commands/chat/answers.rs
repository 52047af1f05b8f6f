//! Prompts the user for the confirmations and results that a reply waits for.

use anyhow::Result;
use recount_message::jiff::Timestamp;
use recount_message::{AgentEvent, ConfirmResult, Event, ExternalExecutionResultEvent, Json, Object};
use recount_message::{ToolCallBlock, ToolResultBlock, UserConfirmResultEvent};

use super::editor::{Editor, Line};
use super::session_view::PendingRequests;
use super::terminal::{BOLD, DIMMED, PLAIN, Paint, WARNING, format_notice};
use crate::permission::{rules_line, rules_to_offer, unstated_request};
use crate::visible::visible_line;

/// The outcome of a prompt.
pub(super) enum PromptOutcome {
    Events(Vec<AgentEvent>),
    /// Ctrl-C: interrupt the reply.
    Stop,
    /// Ctrl-D: leave. The reply keeps waiting.
    Leave,
    /// The deadline passed without an answer.
    Expired,
}

/// The reason given to the model if a call is denied because no user is present.
const NO_USER: &str = "nobody is there to be asked whether it may. Do without it, or say that it has to be allowed: by a rule in the \
                      agent's configuration, by `--allow`, or by asking in a terminal.";

/// Prompts for every confirmation and result in `pending`. Stops at the first prompt that is not answered.
pub(super) async fn prompt(
    editor: &mut Editor,
    paint: Paint,
    pending: &[PendingRequests],
    print: fn(&str),
) -> Result<PromptOutcome> {
    let mut answers = Vec::new();
    for pending in pending {
        let mut confirmed = Vec::new();
        for (call, reason) in &pending.confirmations {
            let (sub_agent, expires_at) = (pending.sub_agent.as_deref(), pending.expires_at);
            let prompt = Prompt { call, sub_agent, reason: reason.as_deref(), expires_at };
            match prompt_confirmation(editor, paint, &prompt, print).await? {
                Ok(answer) => confirmed.push(answer),
                Err(outcome) => return Ok(outcome),
            }
        }
        let mut results = Vec::new();
        for call in &pending.results {
            let prompt = Prompt { call, sub_agent: pending.sub_agent.as_deref(), reason: None, expires_at: None };
            match prompt_result(editor, paint, &prompt, print).await? {
                Ok(result) => results.push(result),
                Err(outcome) => return Ok(outcome),
            }
        }
        answers.extend(events(pending, confirmed, results));
    }
    Ok(PromptOutcome::Events(answers))
}

/// A prompt about one call.
struct Prompt<'a> {
    call: &'a ToolCallBlock,
    /// The sub-agent that made the call. `None` for the main agent.
    sub_agent: Option<&'a str>,
    reason: Option<&'a str>,
    /// The deadline of the answer. `None` if there is no limit.
    expires_at: Option<Timestamp>,
}

impl Prompt<'_> {
    /// Formats the prompt line: the question, the tool, the sub-agent and the reason.
    fn line(&self, paint: Paint, what: &str) -> String {
        let agent = self.sub_agent.map(|name| format!(" for {}", visible_line(name))).unwrap_or_default();
        let reason = self.reason.map(|reason| format!(" ({})", visible_line(reason))).unwrap_or_default();
        let name = visible_line(&self.call.name);
        format_notice(&[(WARNING, what), (PLAIN, " "), (BOLD, &name), (PLAIN, &agent), (PLAIN, &reason)], paint)
    }
}

/// Creates the answers for a session without a user. Confirmations are allowed or denied; calls that need an external
/// result fail.
pub(super) fn automatic(pending: &PendingRequests, allow: bool) -> Vec<AgentEvent> {
    let answer = |(call, _): &(ToolCallBlock, Option<String>)| {
        if allow {
            return ConfirmResult::allow(call.clone());
        }
        let mut denied = ConfirmResult::deny(call.clone());
        denied.extra.insert("reason", NO_USER);
        denied
    };
    let confirmed = pending.confirmations.iter().map(answer).collect();
    let results = pending.results.iter().map(|call| call.error("nobody is there to run this")).collect();
    events(pending, confirmed, results)
}

fn events(pending: &PendingRequests, confirmed: Vec<ConfirmResult>, results: Vec<ToolResultBlock>) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    if !confirmed.is_empty() {
        events.push(Event::new(UserConfirmResultEvent::new(&pending.reply_id, confirmed)));
    }
    if !results.is_empty() {
        events.push(Event::new(ExternalExecutionResultEvent::new(&pending.reply_id, results)));
    }
    events
}

async fn prompt_confirmation(
    editor: &mut Editor,
    paint: Paint,
    prompt: &Prompt<'_>,
    print: fn(&str),
) -> Result<Result<ConfirmResult, PromptOutcome>> {
    let call = prompt.call;
    let rules = rules_to_offer(call);
    print(&prompt.line(paint, "? May it run:"));
    if let Some(request) = unstated_request(call, prompt.reason) {
        print(&format_notice(&[(WARNING, &format!("  {request}"))], paint));
    }
    if !rules.is_empty() {
        print(&format_notice(&[(PLAIN, &format!("  always: {}", rules_line(&rules)))], paint));
    }
    let always = if rules.is_empty() { "" } else { "  a always" };
    let until = prompt.expires_at.map(time_left).unwrap_or_default();
    print(&format_notice(&[(DIMMED, &format!("  y once{always}  n no  e edit{until}"))], paint));
    loop {
        let line = match prompt.expires_at {
            None => editor.answer("allow? ", "").await?,
            Some(time) => editor.answer_until("allow? ", time).await?,
        };
        let line = match line {
            Line::Text(line) => line,
            Line::Interrupted => return Ok(Err(PromptOutcome::Stop)),
            Line::End => return Ok(Err(PromptOutcome::Leave)),
            Line::Expired => return Ok(Err(PromptOutcome::Expired)),
        };
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" | "once" => return Ok(Ok(ConfirmResult::allow(call.clone()))),
            "a" | "always" if !rules.is_empty() => {
                return Ok(Ok(ConfirmResult::allow(call.clone()).with_rules(rules)));
            }
            "n" | "no" => return Ok(Ok(ConfirmResult::deny(call.clone()))),
            // The rules match the original arguments, so none are sent with edited ones.
            "e" | "edit" => match edit_call(editor, call, print).await? {
                Some(call) => return Ok(Ok(ConfirmResult::allow(call))),
                None => print("nothing was changed"),
            },
            _ if rules.is_empty() => print("y, n or e"),
            _ => print("y, a, n or e"),
        }
    }
}

/// Lets the user edit the arguments of a call. Returns `None` if the new arguments are invalid.
async fn edit_call(editor: &mut Editor, call: &ToolCallBlock, print: fn(&str)) -> Result<Option<ToolCallBlock>> {
    let object = Object::parse(&call.input).ok();
    let command = object.as_ref().and_then(|object| object.get("command")).and_then(Json::as_str).map(str::to_owned);
    // A multi-line command cannot be edited on one line.
    let command = command.filter(|command| !command.contains('\n'));
    let shown = command.clone().unwrap_or_else(|| call.input.clone());
    let Line::Text(line) = editor.answer("edit> ", &shown).await? else { return Ok(None) };
    let mut changed = call.clone();
    changed.input = match (command, object) {
        (Some(_), Some(mut object)) => {
            object.insert("command", line.as_str());
            object.to_json()
        }
        _ => match Object::parse(&line) {
            Ok(object) => object.to_json(),
            Err(error) => {
                print(&format!("that is no JSON object: {error}"));
                return Ok(None);
            }
        },
    };
    Ok(Some(changed))
}

async fn prompt_result(
    editor: &mut Editor,
    paint: Paint,
    prompt: &Prompt<'_>,
    print: fn(&str),
) -> Result<Result<ToolResultBlock, PromptOutcome>> {
    let call = prompt.call;
    print(&prompt.line(paint, "? What is the result of:"));
    print(&format_notice(&[(DIMMED, "  an empty line says that it failed")], paint));
    Ok(match editor.answer("result> ", "").await? {
        Line::Text(line) if line.trim().is_empty() => Ok(call.error("the user has no result")),
        Line::Text(line) => Ok(call.success(line)),
        Line::Interrupted => Err(PromptOutcome::Stop),
        Line::End => Err(PromptOutcome::Leave),
        Line::Expired => Err(PromptOutcome::Expired),
    })
}

/// Formats the time left until the deadline, in seconds or minutes.
fn time_left(expires_at: Timestamp) -> String {
    let seconds = expires_at.duration_since(Timestamp::now()).as_secs().max(0);
    let left = if seconds < 120 { format!("{seconds} seconds") } else { format!("{} minutes", seconds / 60) };
    format!("  (within {left})")
}
