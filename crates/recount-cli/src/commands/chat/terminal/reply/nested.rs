//! Renders the replies of sub-agents, behind a bar.

use recount_message::{Event, EventKind, Json, Msg};

use super::super::paint::{DIMMED, Paint};
use super::super::wrap::width_of;
use super::{MIN_WIDTH, ReplyView};
use crate::commands::chat::session_view::is_sub_agent_reply;
use crate::visible::visible_line;

const BAR: &str = "┆ ";

/// The reply of a sub-agent that is in progress.
#[derive(Debug)]
pub(super) struct Nested {
    reply_id: String,
    name: String,
    view: ReplyView,
}

impl Nested {
    /// Returns whether this is the given reply or contains it.
    fn has(&self, reply_id: &str) -> bool {
        self.reply_id == reply_id || self.view.nested.iter().any(|nested| nested.has(reply_id))
    }

    /// Prefixes lines with the bar. If several sub-agents run, each line also has the name.
    fn with_bar(&self, lines: Vec<String>, has_others: bool, paint: Paint) -> Vec<String> {
        let edge = if has_others { format!("{BAR}{}: ", self.name) } else { BAR.to_owned() };
        let behind = |line: String| {
            if line.is_empty() { paint.on(DIMMED, edge.trim_end()) } else { paint.on(DIMMED, &edge) + &line }
        };
        lines.into_iter().map(behind).collect()
    }
}

impl ReplyView {
    /// Handles an event of a sub-agent. Returns whether it was one.
    pub(super) fn nested_event(&mut self, event: &Event<'_>) -> bool {
        if let EventKind::ReplyStart(start) = &event.kind
            && let Some(parent) = event.extension("parent").and_then(|parent| parent.as_str().map(str::to_owned))
        {
            match self.nested.iter().position(|nested| nested.has(&parent)) {
                Some(at) => self.in_nested(at, |view| view.event(event)),
                None => {
                    let metadata = event.extension("metadata").and_then(|metadata| metadata.to_object());
                    let call_id = metadata
                        .and_then(|metadata| metadata.get("tool_call_id").and_then(Json::as_str).map(str::to_owned));
                    self.begin_nested(&start.reply_id, &start.name, call_id.unwrap_or_default());
                }
            }
            return true;
        }
        let Some(at) = event.reply_id().and_then(|id| self.nested.iter().position(|nested| nested.has(id))) else {
            return false;
        };
        self.in_nested(at, |view| view.event(event));
        if let EventKind::ReplyEnd(end) = &event.kind
            && self.nested.get(at).is_some_and(|nested| nested.reply_id == end.reply_id)
        {
            self.end_nested(at);
        }
        true
    }

    /// Renders the replies of the sub-agents that worked on a call in the history.
    pub(super) fn nested_messages(&mut self, reply_id: &str, call_id: &str, parts: &[&Msg]) {
        for part in parts.iter().filter(|part| is_sub_agent_reply(part, reply_id, call_id)) {
            self.begin_nested(part.id(), part.name(), call_id.to_owned());
            let at = self.nested.len() - 1;
            self.in_nested(at, |view| view.message(part, parts));
            if part.finished_at().is_some() {
                self.end_nested(at);
            }
        }
    }

    /// Returns the live lines of all running sub-agents.
    pub(super) fn nested_live(&mut self) -> Vec<String> {
        let (width, paint, has_others) = (self.nested_width(), self.paint, self.nested.len() > 1);
        let live = self.nested.iter_mut().flat_map(|nested| {
            nested.view.width = width;
            let live = nested.view.live();
            nested.with_bar(live, has_others, paint)
        });
        live.collect()
    }

    fn begin_nested(&mut self, reply_id: &str, name: &str, call_id: String) {
        self.end_prose();
        self.delegated_calls.insert(call_id);
        let name = visible_line(name).into_owned();
        self.show(self.paint.on(DIMMED, &format!("↳ {name} begins")));
        let view = Self::new(self.paint, self.width);
        self.nested.push(Nested { reply_id: reply_id.to_owned(), name, view });
    }

    fn end_nested(&mut self, at: usize) {
        let Nested { name, .. } = self.nested.remove(at);
        self.done.push(self.paint.on(DIMMED, &format!("↳ {name} is done")));
        self.has_shown = true;
    }

    /// Renders into a nested reply, and moves its finished lines to this reply.
    fn in_nested(&mut self, at: usize, show: impl FnOnce(&mut Self)) {
        let (width, paint) = (self.nested_width(), self.paint);
        let has_others = self.nested.len() > 1;
        let Some(nested) = self.nested.get_mut(at) else { return };
        nested.view.width = width;
        show(&mut nested.view);
        let done = nested.view.take_done(width);
        self.done.extend(nested.with_bar(done, has_others, paint));
    }

    fn nested_width(&self) -> usize {
        let longest = self.nested.iter().map(|nested| width_of(&nested.name) + 2).max();
        let label = longest.filter(|_| self.nested.len() > 1).unwrap_or_default();
        self.width.saturating_sub(width_of(BAR) + label).max(MIN_WIDTH)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use recount_message::{AgentEvent, ReplyEnd, ReplyStart, ReplyWriter, Stamps};

    use super::*;

    #[test]
    fn parallel_sub_agents_are_labelled() {
        let events: RefCell<Vec<AgentEvent>> = RefCell::default();
        let reply = |name: &str, id: &str, parent: Option<(&str, &str)>| {
            let mut start = ReplyStart::new("s1", name).with_reply_id(id);
            if let Some((reply_id, call_id)) = parent {
                start = start.with_parent(reply_id).with_metadata([("tool_call_id", call_id)]);
            }
            let sink = |event| events.borrow_mut().push(event);
            ReplyWriter::start_with(sink, Stamps::repeatable(), start)
        };
        let mut lead = reply("lead", "r1", None);
        lead.text("Let us see.");
        let mut scout = reply("scout", "r2", Some(("r1", "c1")));
        let mut guide = reply("guide", "r3", Some(("r1", "c2")));
        guide.text("To the left.");
        scout.text("I see nothing, and I have looked everywhere.");
        scout.end(ReplyEnd::completed());
        guide.end(ReplyEnd::completed());
        lead.text("Found.");
        lead.end(ReplyEnd::completed());

        let mut view = ReplyView::new(Paint { has_color: false }, 31);
        let mut shown = Vec::new();
        for event in events.borrow().iter() {
            view.event(event);
            shown.extend(view.lines(31).0);
        }
        let expected = "\
Let us see.

↳ scout begins

↳ guide begins
┆ scout: I see nothing, and I
┆ scout: have looked
┆ scout: everywhere.
↳ scout is done
┆ To the left.
↳ guide is done

Found.";
        assert_eq!(shown.join("\n"), expected);
    }
}
