//! The effects of events on messages.

use super::index::{Kind, Lookup, Streamed};
use super::outcome::{Outcome, Reason};
use crate::base64_text;
use crate::block::{
    Base64Source, ContentBlock, DataBlock, HintBlock, MediaBlock, Payload, Source, TextBlock, ThinkingBlock,
    ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState, UrlSource,
};
use crate::event::{
    ConfirmResult, DataBlockDeltaEvent, DataBlockStartEvent, Event, EventKind, Folded, HintBlockEvent,
    ModelCallEndEvent, ReplyEndEvent, TextBlockEndEvent, ToolResultDataDeltaEvent, ToolResultStartEvent,
};
use crate::msg::Msg;
use crate::{Object, Role, Usage, extensions};

/// Creates the message of a REPLY_START.
pub(super) fn begin(event: &Event<'_>, reply_id: &str, name: &str) -> Msg {
    let mut message = Msg::bare(Role::Assistant, name.to_owned(), Vec::new())
        .with_id(reply_id)
        .with_created_at(event.created_at.to_string());
    if let Some(metadata) = event.extension_object("metadata") {
        message.metadata = metadata;
    }
    if let Some(parent) = event.extension("parent") {
        extensions::set(&mut message.metadata, "parent", parent);
    }
    message
}

/// A message to which events are applied, and the lookup of its blocks.
pub(super) struct Target<'m, L> {
    pub(super) message: &'m mut Msg,
    pub(super) lookup: &'m mut L,
}

impl<L: Lookup> Target<'_, L> {
    /// Applies an event of this reply.
    #[inline]
    pub(super) fn apply(&mut self, event: &Event<'_>) -> Outcome {
        if self.message.finished_at.is_some() {
            return Outcome::Ignored(Reason::ReplyEnded(self.message.id.clone()));
        }
        match &event.kind {
            EventKind::TextBlockDelta(kind) => {
                self.open::<TextBlock>(&kind.block_id).map(|block| block.text.push_str(&kind.delta)).into()
            }
            EventKind::ThinkingBlockDelta(kind) => {
                self.open::<ThinkingBlock>(&kind.block_id).map(|block| block.thinking.push_str(&kind.delta)).into()
            }
            EventKind::ToolCallDelta(kind) => {
                self.open::<ToolCallBlock>(&kind.tool_call_id).map(|block| block.input.push_str(&kind.delta)).into()
            }
            EventKind::DataBlockDelta(kind) => self.data_delta(kind).into(),
            EventKind::ToolResultTextDelta(kind) => {
                self.result_text(&kind.tool_call_id, &kind.delta, &event.created_at).into()
            }
            EventKind::ToolResultDataDelta(kind) => self.result_data(kind, event).into(),
            EventKind::TextBlockStart(kind) => self
                .start(&kind.block_id, |id| TextBlock::stamped(id, event.created_at.to_string(), String::new()))
                .into(),
            EventKind::ThinkingBlockStart(kind) => self
                .start(&kind.block_id, |id| ThinkingBlock::stamped(id, event.created_at.to_string(), String::new()))
                .into(),
            EventKind::DataBlockStart(kind) => self.data_start(kind, event).into(),
            EventKind::ToolCallStart(kind) => self
                .start(&kind.tool_call_id, |id| {
                    let name = kind.tool_call_name.to_string();
                    ToolCallBlock::stamped(id, event.created_at.to_string(), name, String::new())
                })
                .into(),
            EventKind::ToolResultStart(kind) => self.result_start(kind, event).into(),
            EventKind::TextBlockEnd(kind) => self.text_end(kind, event).into(),
            EventKind::ThinkingBlockEnd(kind) => self
                .end::<ThinkingBlock>(&kind.block_id, event)
                .map(|block| add_extra(&mut block.extra, event, ThinkingBlock::declares))
                .into(),
            EventKind::DataBlockEnd(kind) => self
                .end::<DataBlock>(&kind.block_id, event)
                .map(|block| add_extra(&mut block.extra, event, DataBlock::declares))
                .into(),
            EventKind::ToolCallEnd(kind) => self
                .end::<ToolCallBlock>(&kind.tool_call_id, event)
                .map(|block| add_extra(&mut block.extra, event, ToolCallBlock::declares))
                .into(),
            EventKind::ToolResultEnd(kind) => self.result_end(&kind.tool_call_id, kind.state, event).into(),
            EventKind::HintBlock(kind) => {
                self.hint(kind, event);
                Outcome::Applied
            }
            EventKind::ModelCallStart(_) => {
                self.message.call_floor.0 = self.message.content.len();
                Outcome::Applied
            }
            EventKind::ModelCallEnd(kind) => {
                self.model_call_end(kind, event);
                Outcome::Applied
            }
            EventKind::RequireUserConfirm(kind) => Outcome::of_items(kind.tool_calls.iter().map(|asked| {
                let call = self.call(&asked.id)?;
                call.state = ToolCallState::Asking;
                call.suggested_rules.clone_from(&asked.suggested_rules);
                Ok(())
            })),
            EventKind::RequireExternalExecution(kind) => Outcome::of_items(
                kind.tool_calls
                    .iter()
                    .map(|call| self.call(&call.id).map(|call| call.state = ToolCallState::Submitted)),
            ),
            EventKind::UserConfirmResult(kind) => {
                Outcome::of_items(kind.confirm_results.iter().map(|answer| self.confirmed(answer)))
            }
            EventKind::ExternalExecutionResult(kind) => {
                Outcome::of_items(kind.execution_results.iter().map(|result| self.external_result(result, event)))
            }
            EventKind::ReplyEnd(kind) => {
                self.reply_end(kind, event);
                Outcome::Applied
            }
            // Other events have the effects of these.
            EventKind::ReplyStart(_) | EventKind::ExceedMaxIters(_) | EventKind::UserInterrupt(_) => Outcome::Applied,
            EventKind::Custom(_) => Outcome::NotForMessage,
            EventKind::Unknown(_) => unknown(event),
        }
    }

    /// Applies a CUSTOM event of Recount.
    pub(super) fn apply_folded(&mut self, folded: Folded) -> Outcome {
        if self.message.finished_at.is_some() {
            return Outcome::Ignored(Reason::ReplyEnded(self.message.id.clone()));
        }
        match folded {
            Folded::Block { block: ContentBlock::ToolResult(result), .. } => self.push_result(result).into(),
            Folded::Block { block, .. } => {
                self.push(block);
                Outcome::Applied
            }
            Folded::Call { tool_call_id, state, .. } => self.call(&tool_call_id).map(|call| call.state = state).into(),
            Folded::Message(_) => Outcome::NotForMessage,
        }
    }

    fn push(&mut self, block: impl Into<ContentBlock>) {
        self.message.content.push(block.into());
        self.lookup.block_added(&self.message.content);
    }

    #[inline]
    fn find(&mut self, kind: Kind, id: &str) -> Option<usize> {
        self.lookup.find(&self.message.content, kind, id)
    }

    #[inline]
    fn at<B: Streamed>(&mut self, index: usize) -> Option<&mut B> {
        self.message.content.get_mut(index).and_then(B::of_mut)
    }

    /// Returns the open block with an id.
    #[inline]
    fn open<B: Streamed>(&mut self, id: &str) -> Result<&mut B, Reason> {
        let index = self.find(B::KIND, id);
        let block = index.and_then(|index| self.at::<B>(index)).ok_or_else(|| Reason::UnknownBlock(id.to_owned()))?;
        if block.finished_at_mut().is_some() {
            return Err(Reason::BlockEnded(id.to_owned()));
        }
        Ok(block)
    }

    /// Starts a block, or reopens an ended block of the same model call.
    fn start<B: Streamed + Into<ContentBlock>>(
        &mut self,
        id: &str,
        new: impl FnOnce(String) -> B,
    ) -> Result<(), Reason> {
        let floor = self.message.call_floor.0;
        if let Some(index) = self.find(B::KIND, id)
            && let Some(block) = self.at::<B>(index)
        {
            if block.finished_at_mut().is_none() {
                return Err(Reason::BlockOpen(id.to_owned()));
            }
            if index >= floor {
                *block.finished_at_mut() = None;
                return Ok(());
            }
        }
        self.push(new(id.to_owned()));
        Ok(())
    }

    fn end<B: Streamed>(&mut self, id: &str, event: &Event<'_>) -> Result<&mut B, Reason> {
        let block = self.open::<B>(id)?;
        *block.finished_at_mut() = Some(event.created_at.to_string());
        Ok(block)
    }

    fn text_end(&mut self, kind: &TextBlockEndEvent<'_>, event: &Event<'_>) -> Result<(), Reason> {
        let block = self.end::<TextBlock>(&kind.block_id, event)?;
        if let Some(text) = &kind.text {
            block.text = text.to_string();
        }
        add_extra(&mut block.extra, event, TextBlock::declares);
        Ok(())
    }

    fn data_start(&mut self, kind: &DataBlockStartEvent<'_>, event: &Event<'_>) -> Result<(), Reason> {
        self.start(&kind.block_id, |id| {
            let source = Base64Source::from_base64("", &*kind.media_type);
            let mut block = DataBlock::stamped(id, event.created_at.to_string(), source);
            block.name = kind.name.as_deref().map(str::to_owned);
            block
        })
    }

    fn data_delta(&mut self, kind: &DataBlockDeltaEvent<'_>) -> Result<(), Reason> {
        let block = self.open::<DataBlock>(&kind.block_id)?;
        if let Some(url) = kind.url.as_deref().filter(|url| !url.is_empty()) {
            block.source = UrlSource::unchecked(url, &*kind.media_type).into();
        }
        match &kind.data {
            Some(data) => append_data(block, data),
            None => Ok(()),
        }
    }

    fn hint(&mut self, kind: &HintBlockEvent<'_>, event: &Event<'_>) {
        let mut block = HintBlock::stamped(&*kind.block_id, &*event.created_at, kind.hint.clone());
        block.source = kind.source.as_deref().map(str::to_owned);
        add_extra(&mut block.extra, event, HintBlock::declares);
        self.push(block);
    }

    fn model_call_end(&mut self, kind: &ModelCallEndEvent<'_>, event: &Event<'_>) {
        if event.extension_text("usage").as_deref() == Some("unknown") {
            return;
        }
        let usage = Usage {
            cache_input_tokens: kind.cache_input_tokens,
            cache_creation_input_tokens: kind.cache_creation_input_tokens,
            ..Usage::new(kind.input_tokens, kind.output_tokens)
        };
        *self.message.usage.get_or_insert_default() += &usage;
    }

    /// Returns the newest tool call with an id.
    fn call(&mut self, id: &str) -> Result<&mut ToolCallBlock, Reason> {
        let index = self.find(Kind::ToolCall, id);
        index.and_then(|index| self.at(index)).ok_or_else(|| Reason::UnknownCall(id.to_owned()))
    }

    /// Returns the index of the result of the newest call with an id.
    fn answer(&mut self, call_id: &str) -> Result<Option<usize>, Reason> {
        let call = self.find(Kind::ToolCall, call_id).ok_or_else(|| Reason::UnknownCall(call_id.to_owned()))?;
        Ok(self.find(Kind::ToolResult, call_id).filter(|&result| result > call))
    }

    /// Appends a complete result and finishes its call.
    fn push_result(&mut self, result: ToolResultBlock) -> Result<(), Reason> {
        if self.answer(&result.id)?.is_some() {
            return Err(Reason::ResultExists(result.id));
        }
        self.call(&result.id)?.state = ToolCallState::Finished;
        self.push(result);
        Ok(())
    }

    fn result_start(&mut self, kind: &ToolResultStartEvent<'_>, event: &Event<'_>) -> Result<(), Reason> {
        if self.answer(&kind.tool_call_id)?.is_some_and(|answer| answer < self.message.call_floor.0) {
            return Err(Reason::ResultExists(kind.tool_call_id.to_string()));
        }
        self.start(&kind.tool_call_id, |id| {
            let (name, time) = (kind.tool_call_name.to_string(), event.created_at.to_string());
            let output = Payload::Blocks(Vec::new());
            let mut block = ToolResultBlock::stamped(id, time, name, output, ToolResultState::Running);
            add_extra(&mut block.extra, event, ToolResultBlock::declares);
            block
        })
    }

    /// Returns the blocks of an open result. A string is converted to a text block.
    fn result_items(&mut self, call_id: &str) -> Result<&mut Vec<MediaBlock>, Reason> {
        let result = self.open::<ToolResultBlock>(call_id)?;
        if let Payload::Text(text) = &mut result.output {
            let text = std::mem::take(text);
            let block = TextBlock::stamped(format!("{call_id}.0"), result.created_at.clone(), text);
            result.output = Payload::Blocks(vec![block.into()]);
        }
        match &mut result.output {
            Payload::Blocks(items) => Ok(items),
            Payload::Text(_) => Err(Reason::UnknownBlock(call_id.to_owned())),
        }
    }

    fn result_text(&mut self, call_id: &str, delta: &str, time: &str) -> Result<(), Reason> {
        let items = self.result_items(call_id)?;
        if let Some(MediaBlock::Text(block)) = items.last_mut() {
            block.text.push_str(delta);
        } else {
            let id = format!("{call_id}.{}", items.len());
            items.push(TextBlock::stamped(id, time.to_owned(), delta.to_owned()).into());
        }
        Ok(())
    }

    fn result_data(&mut self, kind: &ToolResultDataDeltaEvent<'_>, event: &Event<'_>) -> Result<(), Reason> {
        let call_id = &*kind.tool_call_id;
        self.open::<ToolResultBlock>(call_id)?;
        let Some(result) = self.find(Kind::ToolResult, call_id) else {
            return Err(Reason::UnknownBlock(call_id.to_owned()));
        };
        let id = match &kind.block_id {
            Some(id) => id.to_string(),
            None => format!("{call_id}.{}", self.item_count(result)),
        };
        if let Some(item) = self.lookup.find_item(&self.message.content, result, &id)
            && let Some(block) = self.data_item(result, item)
        {
            match (&kind.data, &kind.url, &block.source) {
                (Some(data), _, Source::Base64(_)) => return append_data(block, data),
                (None, Some(url), _) => {
                    block.source = UrlSource::unchecked(&**url, &*kind.media_type).into();
                    return Ok(());
                }
                // Bytes cannot be appended to a URL, so they become a separate item.
                (Some(_), _, Source::Url(_)) | (None, None, _) => {}
            }
        }
        let source: Source = match &kind.url {
            Some(url) => UrlSource::unchecked(&**url, &*kind.media_type).into(),
            None => Base64Source::from_base64("", &*kind.media_type).into(),
        };
        let mut block = DataBlock::stamped(id, event.created_at.to_string(), source);
        block.name = event.extension_text("name");
        add_extra(&mut block.extra, event, DataBlock::declares);
        if let Some(data) = &kind.data {
            append_data(&mut block, data)?;
        }
        self.result_items(call_id)?.push(block.into());
        self.lookup.item_added(&self.message.content, result);
        Ok(())
    }

    /// Returns the number of items of the result at an index. A string counts as one item.
    fn item_count(&mut self, result: usize) -> usize {
        match self.at::<ToolResultBlock>(result).map(|result| &result.output) {
            Some(Payload::Blocks(items)) => items.len(),
            Some(Payload::Text(_)) => 1,
            None => 0,
        }
    }

    fn data_item(&mut self, result: usize, item: usize) -> Option<&mut DataBlock> {
        match &mut self.at::<ToolResultBlock>(result)?.output {
            Payload::Blocks(items) => match items.get_mut(item)? {
                MediaBlock::Data(block) => Some(block),
                MediaBlock::Text(_) | MediaBlock::Unknown(_) => None,
            },
            Payload::Text(_) => None,
        }
    }

    fn result_end(&mut self, call_id: &str, state: ToolResultState, event: &Event<'_>) -> Result<(), Reason> {
        let result = self.end::<ToolResultBlock>(call_id, event)?;
        result.state = state;
        result.metadata = event.metadata.clone();
        // A message that was not built from events can have a result without its call.
        if let Ok(call) = self.call(call_id) {
            call.state = ToolCallState::Finished;
        }
        Ok(())
    }

    fn confirmed(&mut self, answer: &ConfirmResult) -> Result<(), Reason> {
        let call = self.call(&answer.tool_call.id)?;
        if call.state != ToolCallState::Asking {
            return Err(Reason::NotAsking(call.id.clone()));
        }
        if answer.confirmed {
            call.state = ToolCallState::Allowed;
            call.input.clone_from(&answer.tool_call.input);
        } else {
            call.state = ToolCallState::Finished;
        }
        Ok(())
    }

    fn external_result(&mut self, result: &ToolResultBlock, event: &Event<'_>) -> Result<(), Reason> {
        if let Some(answer) = self.answer(&result.id)?
            && self.message.content.get(answer).is_some_and(|answer| answer.finished_at().is_none())
        {
            // The result has started, so this event is an input. The producer writes it as deltas.
            return Ok(());
        }
        let mut result = result.clone();
        result.finished_at.get_or_insert_with(|| event.created_at.to_string());
        self.push_result(result)
    }

    /// Ends the reply and its open blocks. This happens once per reply, so it may visit every block.
    fn reply_end(&mut self, kind: &ReplyEndEvent<'_>, event: &Event<'_>) {
        for block in &mut self.message.content {
            block.finish(&event.created_at);
        }
        let message = &mut self.message;
        message.finished_at = Some(event.created_at.to_string());
        message.finished_reason = Some(kind.finished_reason);
        message.error.clone_from(&kind.error);
        if let Some(output) = event.extension_object("structured_output") {
            message.structured_output = Some(output);
        }
        if let Some(metadata) = event.extension_object("metadata") {
            message.metadata.merge(&metadata);
        }
    }
}

/// Returns the outcome of an event of an undeclared type.
pub(super) fn unknown(event: &Event<'_>) -> Outcome {
    if event.extra.contains_key("reply_id") {
        Outcome::Ignored(Reason::UnknownType(event.type_name().to_owned()))
    } else {
        Outcome::NotForMessage
    }
}

/// Appends base64 to the data in a block.
fn append_data(block: &mut DataBlock, data: &str) -> Result<(), Reason> {
    let Source::Base64(source) = &mut block.source else {
        return Err(Reason::DataAtUrl(block.id.clone()));
    };
    base64_text::append(&mut source.data, data)
        .map_err(|problem| Reason::BadData { block_id: block.id.clone(), problem })
}

/// Adds the extra fields in an extension of an event to a block, except for declared fields.
#[inline]
fn add_extra(extra: &mut Object, event: &Event<'_>, is_declared: fn(&str) -> bool) {
    let Some(fields) = event.extension_object("extra") else { return };
    for (key, value) in fields.iter().filter(|(key, _)| !is_declared(key)) {
        extra.insert(key, value.clone());
    }
}
