//! Asking the user what a reply waits for.

use anyhow::Result;
use recount_message::jiff::Timestamp;
use recount_message::{AgentEvent, ConfirmResult, Event, ExternalExecutionResultEvent, Json, Object};
use recount_message::{ToolCallBlock, ToolResultBlock, UserConfirmResultEvent};

use super::editor::{Editor, Line};
use super::reading::Waiting;
use super::terminal::{BOLD, CAREFUL, DIMMED, PLAIN, Paint, told};
use crate::permission::{rules_line, rules_to_offer, unstated_request};
use crate::visible::visible_line;

/// What the user has said.
pub(super) enum Answered {
    Events(Vec<AgentEvent>),
    /// Ctrl-C: the reply is to stop.
    Stop,
    /// Ctrl-D: the user leaves, and the reply waits on.
    Leave,
    /// Nobody has answered in time.
    Expired,
}

/// What is told of a call in a place where nobody can be asked.
const NOBODY: &str = "nobody is there to be asked whether it may. Do without it, or say that it has to be allowed: by a rule in the \
                      agent's configuration, by `--allow`, or by asking in a terminal.";

/// Asks for everything that replies wait for.
pub(super) async fn ask(editor: &mut Editor, paint: Paint, waiting: &[Waiting], tell: fn(&str)) -> Result<Answered> {
    let mut answers = Vec::new();
    for waiting in waiting {
        let mut confirmed = Vec::new();
        for (call, reason) in &waiting.confirmations {
            let (helper, expires_at) = (waiting.helper.as_deref(), waiting.expires_at);
            let question = Question { call, helper, reason: reason.as_deref(), expires_at };
            match confirmation(editor, paint, &question, tell).await? {
                Ok(answer) => confirmed.push(answer),
                Err(ended) => return Ok(ended),
            }
        }
        let mut results = Vec::new();
        for call in &waiting.results {
            let question = Question { call, helper: waiting.helper.as_deref(), reason: None, expires_at: None };
            match result(editor, paint, &question, tell).await? {
                Ok(result) => results.push(result),
                Err(ended) => return Ok(ended),
            }
        }
        answers.extend(events(waiting, confirmed, results));
    }
    Ok(Answered::Events(answers))
}

/// What is asked about a call.
struct Question<'a> {
    call: &'a ToolCallBlock,
    /// Who wants to know, if it is not the agent that the user talks to.
    helper: Option<&'a str>,
    reason: Option<&'a str>,
    /// Until when it can be answered, where that is limited.
    expires_at: Option<Timestamp>,
}

impl Question<'_> {
    /// The question: what is asked, about what, for whom and why.
    fn line(&self, paint: Paint, what: &str) -> String {
        let who = self.helper.map(|helper| format!(" for {}", visible_line(helper))).unwrap_or_default();
        let why = self.reason.map(|reason| format!(" ({})", visible_line(reason))).unwrap_or_default();
        let name = visible_line(&self.call.name);
        told(&[(CAREFUL, what), (PLAIN, " "), (BOLD, &name), (PLAIN, &who), (PLAIN, &why)], paint)
    }
}

/// Answers for somebody who is not there.
pub(super) fn unasked(waiting: &Waiting, allow: bool) -> Vec<AgentEvent> {
    let answer = |(call, _): &(ToolCallBlock, Option<String>)| {
        if allow {
            return ConfirmResult::allow(call.clone());
        }
        let mut refused = ConfirmResult::deny(call.clone());
        refused.extra.insert("reason", NOBODY);
        refused
    };
    let confirmed = waiting.confirmations.iter().map(answer).collect();
    let results = waiting.results.iter().map(|call| call.error("nobody is there to run this")).collect();
    events(waiting, confirmed, results)
}

fn events(waiting: &Waiting, confirmed: Vec<ConfirmResult>, results: Vec<ToolResultBlock>) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    if !confirmed.is_empty() {
        events.push(Event::new(UserConfirmResultEvent::new(&waiting.reply_id, confirmed)));
    }
    if !results.is_empty() {
        events.push(Event::new(ExternalExecutionResultEvent::new(&waiting.reply_id, results)));
    }
    events
}

async fn confirmation(
    editor: &mut Editor,
    paint: Paint,
    question: &Question<'_>,
    tell: fn(&str),
) -> Result<Result<ConfirmResult, Answered>> {
    let call = question.call;
    let rules = rules_to_offer(call);
    tell(&question.line(paint, "? May it run:"));
    if let Some(request) = unstated_request(call, question.reason) {
        tell(&told(&[(CAREFUL, &format!("  {request}"))], paint));
    }
    if !rules.is_empty() {
        tell(&told(&[(PLAIN, &format!("  always: {}", rules_line(&rules)))], paint));
    }
    let always = if rules.is_empty() { "" } else { "  a always" };
    let until = question.expires_at.map(left).unwrap_or_default();
    tell(&told(&[(DIMMED, &format!("  y once{always}  n no  e edit{until}"))], paint));
    loop {
        let line = match question.expires_at {
            None => editor.answer("allow? ", "").await?,
            Some(time) => editor.answer_until("allow? ", time).await?,
        };
        let line = match line {
            Line::Text(line) => line,
            Line::Interrupted => return Ok(Err(Answered::Stop)),
            Line::End => return Ok(Err(Answered::Leave)),
            Line::Expired => return Ok(Err(Answered::Expired)),
        };
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" | "once" => return Ok(Ok(ConfirmResult::allow(call.clone()))),
            "a" | "always" if !rules.is_empty() => {
                return Ok(Ok(ConfirmResult::allow(call.clone()).with_rules(rules)));
            }
            "n" | "no" => return Ok(Ok(ConfirmResult::deny(call.clone()))),
            // The rules are about the original arguments, so none are sent along with edited ones.
            "e" | "edit" => match edited(editor, call, tell).await? {
                Some(call) => return Ok(Ok(ConfirmResult::allow(call))),
                None => tell("nothing was changed"),
            },
            _ if rules.is_empty() => tell("y, n or e"),
            _ => tell("y, a, n or e"),
        }
    }
}

/// The call with other arguments, if the user has given some that can be read.
async fn edited(editor: &mut Editor, call: &ToolCallBlock, tell: fn(&str)) -> Result<Option<ToolCallBlock>> {
    let object = Object::parse(&call.input).ok();
    let command = object.as_ref().and_then(|object| object.get("command")).and_then(Json::as_str).map(str::to_owned);
    // What has several lines cannot be edited in one.
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
                tell(&format!("that is no JSON object: {error}"));
                return Ok(None);
            }
        },
    };
    Ok(Some(changed))
}

async fn result(
    editor: &mut Editor,
    paint: Paint,
    question: &Question<'_>,
    tell: fn(&str),
) -> Result<Result<ToolResultBlock, Answered>> {
    let call = question.call;
    tell(&question.line(paint, "? What is the result of:"));
    tell(&told(&[(DIMMED, "  an empty line says that it failed")], paint));
    Ok(match editor.answer("result> ", "").await? {
        Line::Text(line) if line.trim().is_empty() => Ok(call.error("the user has no result")),
        Line::Text(line) => Ok(call.success(line)),
        Line::Interrupted => Err(Answered::Stop),
        Line::End => Err(Answered::Leave),
        Line::Expired => Err(Answered::Expired),
    })
}

/// How much time is left.
fn left(expires_at: Timestamp) -> String {
    let seconds = expires_at.duration_since(Timestamp::now()).as_secs().max(0);
    let left = if seconds < 120 { format!("{seconds} seconds") } else { format!("{} minutes", seconds / 60) };
    format!("  (within {left})")
}
