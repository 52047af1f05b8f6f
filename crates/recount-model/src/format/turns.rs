//! Normalization of a conversation, so that every provider accepts it: each call is followed by its result, and all ids
//! are allowed.
//!
//! A history written by an agent is normalized already and stays unchanged. A history that was assembled by hand,
//! imported or interrupted may not be, and providers reject a call without a result:
//!
//! - Results follow directly after the calls of their round, even if the history has a hint or another message in
//!   between, or one message per result.
//! - A call without a result gets a placeholder result. A result without a call becomes text.
//! - Blocks that were incomplete when their model call failed (`cut`) are dropped.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use recount_message::{
    ContentBlock, DataBlock, Json, MediaBlock, Msg, Object, Payload, Role, ThinkingBlock, ToolCallBlock,
    ToolResultBlock,
};

use super::names::{CallIds, NameRule};
use super::warning::{FormatWarning, FormatWarningKind};

/// A normalized message.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) role: Role,
    pub(crate) name: &'a str,
    /// The id of the message, for warnings.
    pub(crate) id: &'a str,
    /// Whether the message contains calls or results in the original history.
    pub(crate) has_tools: bool,
    pub(crate) items: Vec<Item<'a>>,
}

/// A block of a message.
#[derive(Debug)]
pub(crate) enum Item<'a> {
    /// The text, and the extra fields of its block.
    Text(Cow<'a, str>, Option<&'a Object>),
    Thinking(&'a ThinkingBlock),
    Data(&'a DataBlock),
    Hint(Vec<PayloadPart<'a>>),
    Call(Call<'a>),
    Result(CallResult<'a>),
}

/// A part of a hint or of a tool result.
#[derive(Debug)]
pub(crate) enum PayloadPart<'a> {
    Text(Cow<'a, str>),
    Data(&'a DataBlock),
}

/// A call, with an id and a name that the provider allows.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) id: String,
    pub(crate) name: Cow<'a, str>,
    pub(crate) input: &'a str,
    /// The original id, for warnings.
    pub(crate) own_id: &'a str,
    pub(crate) extra: &'a Object,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct CallResult<'a> {
    /// The id under which the call is sent.
    pub(crate) id: String,
    pub(crate) name: Cow<'a, str>,
    pub(crate) output: Vec<PayloadPart<'a>>,
}

/// The ids and names that a provider allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallRules {
    pub(crate) id: NameRule,
    pub(crate) name: NameRule,
}

/// Normalizes messages.
pub(crate) fn turns<'a>(messages: &'a [Msg], rules: CallRules, warnings: &mut Vec<FormatWarning>) -> Vec<Turn<'a>> {
    let pairs = CallPairs::of(messages);
    let ids = pairs.calls.iter().map(|pair| pair.call.id.as_str());
    let ids = CallIds::new(rules.id, ids);
    let mut builder =
        TurnBuilder { ids, rules, pairs: pairs.calls.into(), orphans: pairs.orphans, results: 0, warnings };
    messages.iter().map(|message| builder.turn(message)).collect()
}

/// A call and its result, if any.
struct CallPair<'a> {
    call: &'a ToolCallBlock,
    result: Option<&'a ToolResultBlock>,
    /// The index of the result among all results.
    order: usize,
}

/// Assigns results to calls. A result belongs to the first open call with its id, in the latest round that has one. So
/// providers may number their ids from zero in each round.
#[derive(Default)]
struct CallPairs<'a> {
    /// In the order of the calls.
    calls: Vec<CallPair<'a>>,
    /// The indexes of results without a call, among all results.
    orphans: HashSet<usize>,
}

impl<'a> CallPairs<'a> {
    fn of(messages: &'a [Msg]) -> Self {
        let mut pairs = Self::default();
        let mut open: HashMap<&str, Vec<OpenCall>> = HashMap::new();
        let mut cut: HashMap<&str, usize> = HashMap::new();
        let mut results = 0;
        for (message, block) in messages.iter().enumerate().flat_map(|(at, m)| m.content().iter().map(move |b| (at, b)))
        {
            match block {
                ContentBlock::ToolCall(call) if is_cut(&call.extra) => *cut.entry(&call.id).or_default() += 1,
                ContentBlock::ToolCall(call) => {
                    // A round ends with its message or with the first result.
                    let round = (message, results);
                    open.entry(&call.id).or_default().push(OpenCall { call: pairs.calls.len(), round });
                    pairs.calls.push(CallPair { call, result: None, order: 0 });
                }
                ContentBlock::ToolResult(result) => {
                    let call = open.get_mut(result.id.as_str()).and_then(OpenCall::next);
                    if let Some(pair) = call.and_then(|call| pairs.calls.get_mut(call)) {
                        pair.result = Some(result);
                        pair.order = results;
                    } else if let Some(count) = cut.get_mut(result.id.as_str()).filter(|count| **count > 0) {
                        // The result of a dropped call is dropped too.
                        *count -= 1;
                    } else {
                        pairs.orphans.insert(results);
                    }
                    results += 1;
                }
                _ => {}
            }
        }
        pairs
    }
}

/// A call that has no result yet.
struct OpenCall {
    /// The index of the call.
    call: usize,
    round: (usize, usize),
}

impl OpenCall {
    /// Removes and returns the call for the next result.
    fn next(open: &mut Vec<Self>) -> Option<usize> {
        let latest = open.last()?.round;
        let at = open.iter().position(|open| open.round == latest)?;
        Some(open.remove(at).call)
    }
}

/// Whether a block was incomplete when its model call failed.
fn is_cut(extra: &Object) -> bool {
    extra.get("cut").is_some_and(|cut| cut.as_bool() == Some(true))
}

struct TurnBuilder<'a, 'n> {
    ids: CallIds,
    rules: CallRules,
    /// The pairs of the calls that follow.
    pairs: VecDeque<CallPair<'a>>,
    orphans: HashSet<usize>,
    /// The number of results passed so far.
    results: usize,
    warnings: &'n mut Vec<FormatWarning>,
}

/// The result of a call of the current round.
struct PendingResult<'a> {
    order: usize,
    result: CallResult<'a>,
}

impl<'a> TurnBuilder<'a, '_> {
    fn turn(&mut self, message: &'a Msg) -> Turn<'a> {
        let mut items = Vec::with_capacity(message.content().len());
        let mut pending: Vec<PendingResult<'a>> = Vec::new();
        let mut hints = Vec::new();
        let mut has_tools = false;
        for block in message.content() {
            match block {
                ContentBlock::Text(block) if !is_cut(&block.extra) => {
                    items.push(Item::Text(Cow::Borrowed(&block.text), Some(&block.extra)));
                }
                ContentBlock::Thinking(block) if !is_cut(&block.extra) => items.push(Item::Thinking(block)),
                ContentBlock::Data(block) if !is_cut(&block.extra) => items.push(Item::Data(block)),
                ContentBlock::Text(_) | ContentBlock::Thinking(_) | ContentBlock::Data(_) => {}
                ContentBlock::Hint(block) => {
                    let hint = Item::Hint(self.payload_parts(&block.hint, &block.id));
                    if pending.is_empty() { items.push(hint) } else { hints.push(hint) }
                }
                ContentBlock::ToolCall(block) => {
                    has_tools = true;
                    if !is_cut(&block.extra) {
                        let (call, result) = self.call(block);
                        items.push(Item::Call(call));
                        pending.push(result);
                    }
                }
                ContentBlock::ToolResult(block) => {
                    has_tools = true;
                    end_round(&mut items, &mut pending, &mut hints);
                    self.orphan(block, &mut items);
                }
                ContentBlock::Unknown(block) => {
                    items.push(Item::Text(self.unknown(block.id(), block.type_name(), message.id()), None));
                }
                _ => {}
            }
        }
        end_round(&mut items, &mut pending, &mut hints);
        // Other content of a tool message has no sender in the conversation.
        let role = if message.role() == Role::Tool { Role::User } else { message.role() };
        Turn { role, name: message.name(), id: message.id(), has_tools, items }
    }

    fn call(&mut self, block: &'a ToolCallBlock) -> (Call<'a>, PendingResult<'a>) {
        let pair = self.pairs.pop_front();
        let id = self.ids.next(&block.id);
        let name = self.tool_name(&block.name, &block.id);
        let (order, output) = match pair.and_then(|pair| Some((pair.order, pair.result?))) {
            Some((order, result)) => (order, self.payload_parts(&result.output, &result.id)),
            None => {
                self.warnings.push(FormatWarning::new(&block.id, FormatWarningKind::MissingResult));
                (usize::MAX, vec![PayloadPart::Text(Cow::Borrowed(NO_RESULT))])
            }
        };
        // A result has the name of its call, regardless of its own.
        let result = CallResult { id: id.clone(), name: name.clone(), output };
        let call = Call { id, name, input: &block.input, own_id: &block.id, extra: &block.extra };
        (call, PendingResult { order, result })
    }

    /// Handles a result in its original position. Results with a call were moved to it already.
    fn orphan(&mut self, block: &'a ToolResultBlock, items: &mut Vec<Item<'a>>) {
        let place = self.results;
        self.results += 1;
        if self.orphans.contains(&place) {
            self.warnings.push(FormatWarning::new(&block.id, FormatWarningKind::OrphanResult));
            let tool = if block.name.is_empty() { "a tool".to_owned() } else { format!("the tool {}", block.name) };
            let mut parts = vec![PayloadPart::Text(format!("[result of {tool}]").into())];
            parts.extend(self.payload_parts(&block.output, &block.id));
            items.push(Item::Hint(parts));
        }
    }

    fn tool_name(&mut self, name: &'a str, id: &str) -> Cow<'a, str> {
        if self.rules.name.accepts(name) {
            return Cow::Borrowed(name);
        }
        let sent = if name.is_empty() { Cow::Borrowed("unknown") } else { self.rules.name.sanitized(name) };
        self.warnings
            .push(FormatWarning::new(id, FormatWarningKind::RenamedTool { sent_as: sent.clone().into_owned() }));
        sent
    }

    fn payload_parts(&mut self, payload: &'a Payload, owner: &str) -> Vec<PayloadPart<'a>> {
        match payload {
            Payload::Text(text) => vec![PayloadPart::Text(Cow::Borrowed(text))],
            Payload::Blocks(blocks) => blocks.iter().filter_map(|block| self.payload_part(block, owner)).collect(),
            _ => Vec::new(),
        }
    }

    fn payload_part(&mut self, block: &'a MediaBlock, owner: &str) -> Option<PayloadPart<'a>> {
        match block {
            MediaBlock::Text(block) => Some(PayloadPart::Text(Cow::Borrowed(&block.text))),
            MediaBlock::Data(block) => Some(PayloadPart::Data(block)),
            MediaBlock::Unknown(block) => Some(PayloadPart::Text(self.unknown(block.id(), block.type_name(), owner))),
            _ => None,
        }
    }

    fn unknown(&mut self, id: Option<&str>, type_name: &str, owner: &str) -> Cow<'a, str> {
        let text = format!("[a block of type {}, not supported by this provider]", Json::from(type_name));
        let kind = FormatWarningKind::UnknownBlock { type_name: type_name.to_owned() };
        self.warnings.push(FormatWarning::new(id.unwrap_or(owner), kind));
        Cow::Owned(text)
    }
}

const NO_RESULT: &str =
    "<system-reminder>The tool call was not finished, and its outcome is unknown.</system-reminder>";

/// Ends a round: adds the results in their order, then the hints that came before them.
fn end_round<'a>(items: &mut Vec<Item<'a>>, pending: &mut Vec<PendingResult<'a>>, hints: &mut Vec<Item<'a>>) {
    pending.sort_by_key(|pending| pending.order);
    items.extend(pending.drain(..).map(|pending| Item::Result(pending.result)));
    items.append(hints);
}
