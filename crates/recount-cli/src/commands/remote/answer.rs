//! `recount answer`: lists and answers the tool calls that wait for the user.

use anyhow::{Context, Result, bail};
use clap::Args;
use recount_message::{
    AgentEvent, ConfirmResult, ContentBlock, Event, ExternalExecutionResultEvent, Msg, Object, ToolCallBlock,
    ToolCallState, UserConfirmResultEvent,
};

use super::{NEWEST_MESSAGES, Service, SessionArgs, block_on, messages, print};
use crate::commands::Status;
use crate::permission::{request_line, rules_line, rules_to_offer};
use crate::table::table;
use crate::view::awaited;
use crate::visible::visible_line;

/// Answer what a session waits for
///
/// Without an answer, lists the calls that wait: those that ask whether they may
/// run, and those that run elsewhere and wait for their result. An answer is for
/// all calls that it fits, unless --call names one. The first answer counts;
/// whoever comes later is told so.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    of: SessionArgs,
    #[command(flatten)]
    answer: Answer,
    /// Only the call with this id
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// With --allow: other arguments for the call, as a JSON object
    #[arg(long, value_name = "JSON", requires = "allow", conflicts_with_all = ["always", "deny", "result", "error"])]
    input: Option<String>,
    /// With --deny: why, for the model
    #[arg(long, value_name = "TEXT", requires = "deny")]
    reason: Option<String>,
    /// Print each call, or what the service answers, as a JSON object
    #[arg(long)]
    json: bool,
}

/// What is said about the calls.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct Answer {
    /// They may run, this time
    #[arg(long)]
    allow: bool,
    /// They may run, and so may what the suggested rules cover
    #[arg(long)]
    always: bool,
    /// They may not run
    #[arg(long)]
    deny: bool,
    /// The result of a call that ran elsewhere
    #[arg(long, value_name = "TEXT")]
    result: Option<String>,
    /// Why a call that ran elsewhere has failed
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  recount answer chat-7                        # lists what waits
  recount answer chat-7 --allow
  recount answer chat-7 --allow --call call_2 --input '{\"command\": \"ls\"}'
  recount answer chat-7 --deny --reason 'Use the staging server.'
  recount answer chat-7 --result \"$(cat measurements.csv)\"";

pub(crate) fn run(args: &AnswerArgs) -> Result<Status> {
    block_on(answer(args))
}

async fn answer(args: &AnswerArgs) -> Result<Status> {
    let service = Service::new(&args.of.session.url, &args.of.token)?;
    let replies = messages(&service.get(&args.of.session.path(NEWEST_MESSAGES)).await?);
    let name = &args.of.session.name;
    let is_listed = args.answer.is_none();
    let waiting: Vec<(&Msg, &ToolCallBlock)> = replies
        .iter()
        .flat_map(|reply| awaited(reply).map(move |call| (reply, call)))
        .filter(|(_, call)| args.call.as_ref().is_none_or(|id| call.id == *id))
        .filter(|(_, call)| is_listed || args.answer.fits(call))
        .collect();
    if is_listed {
        return list(args, &waiting);
    }
    if waiting.is_empty() {
        let which = args.call.as_ref().map_or_else(|| "no call".to_owned(), |id| format!("no call `{id}`"));
        let hint = match replies.iter().flat_map(awaited).next() {
            None => "nothing waits any more: somebody has answered, or the reply has ended",
            Some(call) if call.state == ToolCallState::Submitted => "a result is waited for: `--result` or `--error`",
            Some(_) => "permission is waited for: `--allow`, `--always` or `--deny`",
        };
        bail!("{which} of the session `{name}` waits for such an answer\nhint: {hint}");
    }
    if waiting.len() > 1 && (args.input.is_some() || args.answer.is_result()) {
        bail!("{} calls wait\nhint: `--call ID` says which one is meant", waiting.len());
    }
    let mut events = Vec::new();
    for reply in &replies {
        let calls = waiting.iter().filter(|(of, _)| of.id() == reply.id()).map(|(_, call)| *call);
        events.extend(args.event(reply, calls.collect())?);
    }
    let events: Vec<String> = events.iter().map(AgentEvent::to_json).collect();
    let response = service.post(&args.of.session.path("/events"), format!("[{}]", events.join(","))).await?;
    if args.json {
        print(&format!("{}\n", response.to_json()))?;
    } else {
        let calls: Vec<_> = waiting.iter().map(|(_, call)| visible_line(&call.name)).collect();
        print(&format!("answered: {}\n", calls.join(", ")))?;
        let rules = waiting.iter().filter(|_| args.answer.always).flat_map(|(_, call)| rules_to_offer(call));
        let rules: Vec<_> = rules.collect();
        if !rules.is_empty() {
            print(&format!("always: {}\n", rules_line(&rules)))?;
        }
    }
    Ok(Status::Clean)
}

impl Answer {
    fn is_none(&self) -> bool {
        !(self.allow || self.always || self.deny || self.is_result())
    }

    fn is_result(&self) -> bool {
        self.result.is_some() || self.error.is_some()
    }

    /// Whether a call waits for this kind of answer: a result or a permission.
    fn fits(&self, call: &ToolCallBlock) -> bool {
        self.is_result() == (call.state == ToolCallState::Submitted)
    }
}

impl AnswerArgs {
    /// Returns the event that answers calls of one reply. `None` if there are none.
    fn event(&self, reply: &Msg, calls: Vec<&ToolCallBlock>) -> Result<Option<AgentEvent>> {
        if calls.is_empty() {
            return Ok(None);
        }
        if self.answer.is_result() {
            let results = calls.iter().map(|call| match (&self.answer.result, &self.answer.error) {
                (Some(result), _) => call.success(result.as_str()),
                (None, why) => call.error(why.clone().unwrap_or_default()),
            });
            return Ok(Some(Event::new(ExternalExecutionResultEvent::new(reply.id(), results.collect::<Vec<_>>()))));
        }
        let results = calls.into_iter().map(|call| self.confirm_result(call)).collect::<Result<Vec<_>>>()?;
        Ok(Some(Event::new(UserConfirmResultEvent::new(reply.id(), results))))
    }

    fn confirm_result(&self, call: &ToolCallBlock) -> Result<ConfirmResult> {
        let mut call = call.clone();
        if self.answer.deny {
            let mut denied = ConfirmResult::deny(call);
            if let Some(reason) = &self.reason {
                denied.extra.insert("reason", reason.as_str());
            }
            return Ok(denied);
        }
        if let Some(input) = &self.input {
            call.input = Object::parse(input).context("`--input` is no JSON object")?.to_json();
        }
        if !self.answer.always {
            return Ok(ConfirmResult::allow(call));
        }
        let rules = rules_to_offer(&call);
        if rules.is_empty() {
            bail!("no rule is suggested for `{}`\nhint: `--allow` lets it run this time", visible_line(&call.name));
        }
        Ok(ConfirmResult::allow(call).with_rules(rules))
    }
}

/// Prints the waiting calls.
fn list(args: &AnswerArgs, waiting: &[(&Msg, &ToolCallBlock)]) -> Result<Status> {
    if args.json {
        let lines = waiting.iter().map(|(reply, call)| {
            let mut object = Object::new();
            object.insert("reply_id", reply.id());
            object.insert("agent", reply.name());
            object
                .insert("tool_call", Object::parse(&ContentBlock::from((*call).clone()).to_json()).unwrap_or_default());
            object.to_json() + "\n"
        });
        print(&lines.collect::<String>())?;
        return Ok(Status::Clean);
    }
    if waiting.is_empty() {
        print("nothing waits for an answer\n")?;
        return Ok(Status::Clean);
    }
    let mut rows = vec![["CALL", "AGENT", "TOOL", "WAITS FOR", "ARGUMENTS"].map(str::to_owned)];
    rows.extend(waiting.iter().map(|(reply, call)| {
        let waits_for = if call.state == ToolCallState::Submitted { "a result" } else { "permission" };
        [&call.id, reply.name(), &call.name, waits_for, &call.input].map(|text| visible_line(text).into_owned())
    }));
    let details =
        waiting.iter().filter(|(_, call)| call.state == ToolCallState::Asking).flat_map(|(_, call)| details(call));
    print(&(table(&rows) + &details.collect::<String>()))?;
    Ok(Status::Clean)
}

/// Returns the access that a call requests, and the rules that `--always` accepts: one line each.
fn details(call: &ToolCallBlock) -> Vec<String> {
    let rules = rules_to_offer(call);
    let rules = (!rules.is_empty()).then(|| format!("--always accepts: {}", rules_line(&rules)));
    let lines = [request_line(&call.name, &call.input), rules].into_iter().flatten();
    lines.map(|line| format!("{}: {line}\n", visible_line(&call.id))).collect()
}
