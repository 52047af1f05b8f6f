//! Invariants that hold at any time.

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_message::check::{Checker, Severity};
use recount_message::{AgentEvent, EventKind, Msg};

use crate::log::Log;

/// Asserts the invariants of an agent and its log while no reply is in progress.
pub(crate) fn check(agent: &Agent, log: &Log) {
    let events = log.events();
    // Law 2: the agent's messages are equal to the log's, byte for byte.
    let fold = log.fold();
    // The replies of sub-agents are in the log, but not in the agent's conversation.
    let own = fold.messages().filter(|message| message.parent().is_none());
    let folded: Vec<String> = own.map(Msg::to_json).collect();
    let held: Vec<String> = agent.messages().iter().map(Msg::to_json).collect();
    assert_eq!(held, folded, "the agent's messages are the fold of its events");

    let mut ends = BTreeMap::<String, u32>::new();
    for event in &events {
        match &event.kind {
            EventKind::ReplyStart(start) => drop(ends.entry(start.reply_id.to_string()).or_default()),
            EventKind::ReplyEnd(end) => *ends.entry(end.reply_id.to_string()).or_default() += 1,
            _ => {}
        }
    }
    let open = agent.open_reply();
    for (reply_id, times) in &ends {
        let is_open = fold.open_reply(reply_id).is_some();
        assert!(!is_open || open.is_some(), "the reply {reply_id} is open, but not known to the agent");
        assert_eq!(*times, u32::from(!is_open), "ends of the reply {reply_id}");
    }
    for message in fold.messages().filter(|message| ends.get(message.id()) == Some(&1)) {
        ended(message);
    }
    if open.is_none() {
        well_formed(&events);
    }
}

/// Law 8: every call of a reply that has ended has exactly one result, and all blocks are ended.
fn ended(message: &Msg) {
    assert!(message.finished_reason().is_some());
    for block in message.content() {
        assert!(block.finished_at().is_some(), "{} is open in {}", block.id(), message.to_json());
    }
    let calls: Vec<&str> = message.tool_pairs().map(|(call, _)| call.id.as_str()).collect();
    for (call, result) in message.tool_pairs() {
        assert!(result.is_some(), "{} has no result in {}", call.id, message.to_json());
        assert_eq!(calls.iter().filter(|id| **id == call.id).count(), 1, "calls with the id {}", call.id);
    }
    let results = message.blocks::<recount_message::ToolResultBlock>().count();
    assert_eq!(results, calls.len(), "results and calls in {}", message.to_json());
}

fn well_formed(events: &[AgentEvent]) {
    let mut checker = Checker::new();
    let mut findings: Vec<_> = events.iter().flat_map(|event| checker.event(event)).collect();
    findings.extend(checker.finish());
    // A block that had ended before a crash is reopened to be marked as cut, which only produces a note.
    findings.retain(|finding| finding.severity == Severity::Error);
    if !findings.is_empty() {
        let lines: Vec<String> = events.iter().map(AgentEvent::to_json).collect();
        panic!("{findings:?}\n{}", lines.join("\n"));
    }
}
