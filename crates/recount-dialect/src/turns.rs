//! Splitting a turn into several messages, and merging it again.
//!
//! Natively a turn of an agent is one message that includes calls and results. Java has one message for each model call
//! and one for each result: ASSISTANT, TOOL, ASSISTANT.

use std::iter::once;

use recount_message::{ContentBlock, Json, Msg, MsgParts, Object, Role, ToolCallBlock, ToolResultBlock, Usage};

use crate::preserved;

/// The mark of a message that is a part of a split turn: the index of the part and the number of parts.
const PART: &str = "part";

/// The mark of a merged message: the fields of its parts without their blocks.
const PARTS: &str = "parts";

/// Splits a turn into the messages of a format that keeps calls and results apart.
///
/// ```
/// use recount_dialect::split_turn;
/// use recount_message::{Msg, Role, ToolCallBlock};
///
/// let call = ToolCallBlock::new("c1", "get_weather", "{}");
/// let result = call.success("Sunny");
/// let turn = Msg::assistant("Friday", (call, result, "It is sunny."));
/// let roles: Vec<Role> = split_turn(&turn).iter().map(Msg::role).collect();
/// assert_eq!(roles, [Role::Assistant, Role::Tool, Role::Assistant]);
/// ```
pub fn split_turn(message: &Msg) -> Vec<Msg> {
    if message.role() != Role::Assistant {
        return vec![message.clone()];
    }
    if let Some(parts) = original_parts(message) {
        return parts;
    }
    let runs = runs(message.content());
    if runs.len() < 2 {
        return vec![message.clone()];
    }
    let whole = message.clone().into_parts();
    // The fields of the turn as a whole belong to its last assistant message.
    let main = runs.iter().rposition(|run| role_of(run) == Role::Assistant).unwrap_or_default();
    let count = runs.len();
    runs.into_iter()
        .enumerate()
        .map(|(index, run)| {
            let mut part = if index == main { whole.clone() } else { part_without_summary(&whole, index) };
            part.role = role_of(&run);
            let mut mark = Object::from([("of", whole.id.as_str())]);
            mark.insert("index", index);
            mark.insert("count", count);
            mark.insert("main", main);
            let mut marks = preserved::marks(&part.metadata);
            marks.insert(PART, mark);
            preserved::set_marks(&mut part.metadata, marks);
            Msg::from_parts_lenient(MsgParts { content: run, ..part })
        })
        .collect()
}

/// Returns an empty message of the same turn, without the fields of the turn as a whole.
fn part_without_summary(whole: &MsgParts, index: usize) -> MsgParts {
    MsgParts {
        name: whole.name.clone(),
        content: Vec::new(),
        role: Role::Assistant,
        id: format!("{}.part{index}", whole.id),
        metadata: Object::new(),
        created_at: whole.created_at.clone(),
        usage: None,
        finished_at: None,
        finished_reason: None,
        structured_output: None,
        error: None,
        extra: Object::new(),
    }
}

/// Returns the blocks of each message: every result on its own, and the blocks between two results together.
fn runs(content: &[ContentBlock]) -> Vec<Vec<ContentBlock>> {
    let mut runs: Vec<Vec<ContentBlock>> = Vec::new();
    for block in content {
        let is_result = matches!(block, ContentBlock::ToolResult(_));
        match runs.last_mut() {
            Some(run) if !is_result && role_of(run) == Role::Assistant => run.push(block.clone()),
            _ => runs.push(vec![block.clone()]),
        }
    }
    runs
}

fn role_of(run: &[ContentBlock]) -> Role {
    if matches!(run, [ContentBlock::ToolResult(_)]) { Role::Tool } else { Role::Assistant }
}

/// Returns the messages that a turn was merged from, if merging them still gives this turn.
fn original_parts(message: &Msg) -> Option<Vec<Msg>> {
    let marks = preserved::marks(message.metadata());
    let parts = marks.get(PARTS)?.to_array()?;
    let mut blocks = message.content().iter();
    let mut before = Vec::with_capacity(parts.len());
    for part in parts {
        let mut fields = part.to_object()?;
        let count: usize = fields.remove("blocks")?.as_raw().parse().ok()?;
        let part_fields = Msg::from_json(&fields.to_json()).ok()?.into_parts();
        let content: Vec<ContentBlock> = blocks.by_ref().take(count).cloned().collect();
        if content.len() < count {
            return None;
        }
        before.push(Msg::from_parts_lenient(MsgParts { content, ..part_fields }));
    }
    let (first, rest) = before.split_first()?;
    (blocks.next().is_none() && merged(first, rest) == *message).then_some(before)
}

/// Merges the messages of a turn.
///
/// ```
/// use recount_dialect::{TurnMerger, split_turn};
/// use recount_message::{Msg, ToolCallBlock};
///
/// let call = ToolCallBlock::new("c1", "get_weather", "{}");
/// let result = call.success("Sunny");
/// let turn = Msg::assistant("Friday", (call, result, "It is sunny."));
///
/// let mut merger = TurnMerger::new();
/// let mut merged: Vec<Msg> = split_turn(&turn).into_iter().flat_map(|part| merger.push(part)).collect();
/// merged.extend(merger.finish());
/// assert_eq!(merged, [turn]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct TurnMerger {
    /// The messages of the turn that is not complete yet.
    pending: Vec<Msg>,
}

impl TurnMerger {
    /// Creates a merger without pending messages.
    ///
    /// ```
    /// use recount_dialect::TurnMerger;
    /// use recount_message::Msg;
    ///
    /// let hello = Msg::user("Alice", "Hello");
    /// assert_eq!(TurnMerger::new().push(hello.clone()), [hello]);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next message and returns the messages that are complete.
    ///
    /// ```
    /// use recount_dialect::TurnMerger;
    /// use recount_message::{Msg, ToolCallBlock};
    ///
    /// let call = Msg::assistant("Friday", ToolCallBlock::new("c1", "get_weather", "{}"));
    /// // The result of this call has not arrived yet.
    /// assert!(TurnMerger::new().push(call).is_empty());
    /// ```
    pub fn push(&mut self, message: Msg) -> Vec<Msg> {
        let mut complete = if self.continues_turn(&message) { Vec::new() } else { self.finish() };
        self.pending.push(message);
        if self.is_complete() {
            complete.extend(self.finish());
        }
        complete
    }

    /// Returns the remaining messages. Call it after the last message.
    ///
    /// ```
    /// use recount_dialect::TurnMerger;
    ///
    /// assert!(TurnMerger::new().finish().is_empty());
    /// ```
    pub fn finish(&mut self) -> Vec<Msg> {
        let pending = std::mem::take(&mut self.pending);
        match pending.as_slice() {
            [first, rest @ ..] if !rest.is_empty() => vec![merged(first, rest)],
            _ => pending,
        }
    }

    /// Returns whether a message belongs to the pending turn.
    fn continues_turn(&self, message: &Msg) -> bool {
        let Some(last) = self.pending.last() else { return false };
        match (part_of(last), part_of(message)) {
            (Some(before), Some(next)) => next.of == before.of && next.index == before.index + 1,
            (None, None) => match message.role() {
                Role::Tool => message.blocks::<ToolResultBlock>().all(|result| self.has_call(&result.id)),
                Role::Assistant => {
                    last.role() == Role::Tool && self.pending.iter().all(|part| is_same_agent(part, message))
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn has_call(&self, id: &str) -> bool {
        self.pending.iter().any(|part| part.call(id).is_some())
    }

    /// Returns whether the pending turn cannot be continued.
    fn is_complete(&self) -> bool {
        let Some(last) = self.pending.last() else { return true };
        if let Some(part) = part_of(last) {
            return part.index + 1 >= part.count || self.pending.len() != part.index + 1;
        }
        match last.role() {
            Role::Assistant => !last.has::<ToolCallBlock>(),
            Role::Tool => self.pending.len() == 1,
            _ => true,
        }
    }
}

/// Returns whether a message can be from the same agent. A tool message has the agent's name or a name of its own.
fn is_same_agent(part: &Msg, message: &Msg) -> bool {
    part.role() == Role::Tool || part.name() == message.name()
}

/// The position of a message in a split turn.
struct Part {
    of: String,
    index: usize,
    count: usize,
    main: usize,
}

fn part_of(message: &Msg) -> Option<Part> {
    let mark = preserved::marks(message.metadata()).get(PART)?.to_object()?;
    let number = |name| mark.get(name)?.as_raw().parse().ok();
    Some(Part {
        of: mark.get("of")?.as_str()?.to_owned(),
        index: number("index")?,
        count: number("count")?,
        main: number("main")?,
    })
}

/// Merges several messages into one.
fn merged(first: &Msg, rest: &[Msg]) -> Msg {
    let content = once(first).chain(rest).flat_map(|part| part.content().iter().cloned()).collect();
    let main = part_of(first).filter(|_| rest.iter().all(|part| part_of(part).is_some()));
    if let Some(main) = main.and_then(|part| once(first).chain(rest).nth(part.main)) {
        let mut whole = main.clone().into_parts();
        let mut marks = preserved::marks(&whole.metadata);
        marks.remove(PART);
        preserved::set_marks(&mut whole.metadata, marks);
        return Msg::from_parts_lenient(MsgParts { content, role: Role::Assistant, ..whole });
    }
    let part_fields: Vec<Json> = once(first).chain(rest).map(fields_without_blocks).collect();
    let last_message = rest.iter().rfind(|part| part.role() == Role::Assistant).unwrap_or(first);
    let (last_message, usage) = (last_message.clone().into_parts(), once(first).chain(rest).filter_map(Msg::usage));
    let (first, usage): (_, Vec<&Usage>) = (first.clone().into_parts(), usage.collect());
    let mut metadata = last_message.metadata;
    // Round-trip data of a single message stays with that message.
    let mut marks = Object::from([(PARTS, Json::from(part_fields))]);
    if let Some(absent) = preserved::marks(&first.metadata).get("absent") {
        marks.insert("absent", absent.clone());
    }
    preserved::set_marks(&mut metadata, marks);
    Msg::from_parts_lenient(MsgParts {
        content,
        role: Role::Assistant,
        metadata,
        usage: (!usage.is_empty()).then(|| usage.into_iter().cloned().sum()),
        finished_at: last_message.finished_at,
        finished_reason: last_message.finished_reason,
        structured_output: last_message.structured_output,
        error: last_message.error,
        ..first
    })
}

/// Returns the fields of a message without its blocks, and the number of blocks.
fn fields_without_blocks(message: &Msg) -> Json {
    let mut parts = message.clone().into_parts();
    let blocks = std::mem::take(&mut parts.content).len();
    let mut fields = Object::parse(&Msg::from_parts_lenient(parts).to_json()).unwrap_or_default();
    fields.insert("blocks", blocks);
    fields.into()
}
