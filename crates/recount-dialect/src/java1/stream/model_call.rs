//! Model calls: their chunks, and the complete message, which is authoritative.

use recount_message::{
    ContentBlock, ExceedMaxItersEvent, Json, ModelCallEndEvent, ModelCallStartEvent, ModelFinishedReason, Msg, Object,
    TextBlockDeltaEvent, TextBlockEndEvent, TextBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent,
    ThinkingBlockStartEvent, ToolCallDeltaEvent,
};

use super::MessageBlock;
use super::chunks::ChunkedText;
use super::output::Output;
use super::reply::{LastMessage, Reply};
use crate::preserved;

/// An open model call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ModelCall {
    /// The id of the last message.
    pub(super) message_id: String,
    pub(super) text: Option<StreamedText>,
    pub(super) thinking: Option<StreamedText>,
    /// The open block. Natively only one of text and thinking is open at a time.
    pub(super) open: Option<ProseKind>,
    /// The calls that it began, by their index in the reply.
    pub(super) calls: Vec<(usize, ChunkedText)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProseKind {
    Text,
    Thinking,
}

/// Text or thinking that arrives in chunks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct StreamedText {
    pub(super) id: String,
    pub(super) chunks: ChunkedText,
    pub(super) extra: Object,
}

impl ModelCall {
    fn prose(&mut self, kind: ProseKind) -> &mut Option<StreamedText> {
        match kind {
            ProseKind::Text => &mut self.text,
            ProseKind::Thinking => &mut self.thinking,
        }
    }
}

impl Reply {
    /// Starts a model call unless one is open. Inserts missing results first, because Java calls the model only after all
    /// calls have results.
    pub(super) fn call_model(&mut self, is_summary: bool, message_id: &str, out: &mut Output) {
        self.waits = false;
        if self.model_call.is_none() {
            self.add_missing_results(out);
            if is_summary && !self.is_summary {
                self.is_summary = true;
                out.emit(ExceedMaxItersEvent::new(self.reply_id(), self.name.clone()));
            }
            out.emit(ModelCallStartEvent::new(self.reply_id(), ""));
        }
        message_id.clone_into(&mut self.model_call.get_or_insert_default().message_id);
    }

    /// Adds a chunk of a block.
    pub(super) fn add_chunk(&mut self, given: &MessageBlock<'_>, is_cumulative: bool, out: &mut Output) {
        match given.block {
            ContentBlock::Text(block) => {
                self.add_prose_chunk(ProseKind::Text, &block.text, &block.extra, is_cumulative, out);
            }
            ContentBlock::Thinking(block) => {
                self.add_prose_chunk(ProseKind::Thinking, &block.thinking, &block.extra, is_cumulative, out);
            }
            ContentBlock::ToolCall(_) => self.add_call_chunk(&given.raw, is_cumulative, out),
            // Other blocks arrive with the complete message.
            _ => {}
        }
    }

    fn add_prose_chunk(&mut self, kind: ProseKind, chunk: &str, extra: &Object, is_cumulative: bool, out: &mut Output) {
        if chunk.is_empty() {
            return;
        }
        let id = self.prose_id(kind);
        let Some(prose) = self.model_call.get_or_insert_default().prose(kind) else { return };
        for (name, value) in extra.iter().filter(|(name, _)| *name != preserved::KEY) {
            prose.extra.insert(name, value.clone());
        }
        let delta = prose.chunks.add(chunk, is_cumulative);
        self.emit_prose(kind, &id, &delta, out);
    }

    /// Returns the block id of the text or thinking, creating it if necessary.
    fn prose_id(&mut self, kind: ProseKind) -> String {
        if let Some(prose) = self.model_call.get_or_insert_default().prose(kind) {
            return prose.id.clone();
        }
        let id = self.next_block_id();
        *self.model_call.get_or_insert_default().prose(kind) =
            Some(StreamedText { id: id.clone(), ..StreamedText::default() });
        id
    }

    fn emit_prose(&mut self, kind: ProseKind, id: &str, delta: &str, out: &mut Output) {
        if delta.is_empty() {
            return;
        }
        self.open_prose(kind, id, out);
        let (reply_id, block_id, delta) = (self.reply_id(), id.to_owned(), delta.to_owned());
        match kind {
            ProseKind::Text => out.emit(TextBlockDeltaEvent::new(reply_id, block_id, delta)),
            ProseKind::Thinking => out.emit(ThinkingBlockDeltaEvent::new(reply_id, block_id, delta)),
        }
    }

    fn open_prose(&mut self, kind: ProseKind, id: &str, out: &mut Output) {
        let open = self.model_call.get_or_insert_default().open;
        if open == Some(kind) {
            return;
        }
        self.close_prose(None, &Object::new(), out);
        self.model_call.get_or_insert_default().open = Some(kind);
        let (reply_id, block_id) = (self.reply_id(), id.to_owned());
        match kind {
            ProseKind::Text => out.emit(TextBlockStartEvent::new(reply_id, block_id)),
            ProseKind::Thinking => out.emit(ThinkingBlockStartEvent::new(reply_id, block_id)),
        }
    }

    /// Ends the open text or thinking. `text` replaces a text that differs from its chunks.
    fn close_prose(&mut self, text: Option<&str>, extra: &Object, out: &mut Output) {
        let reply_id = self.reply_id();
        let Some(call) = &mut self.model_call else { return };
        let Some(kind) = call.open.take() else { return };
        let Some(prose) = call.prose(kind) else { return };
        let block_id = prose.id.clone();
        match kind {
            ProseKind::Text => {
                let mut end = TextBlockEndEvent::new(reply_id, block_id);
                end.text = text.map(|text| text.to_owned().into());
                out.emit_with_extra(end, extra);
            }
            ProseKind::Thinking => out.emit_with_extra(ThinkingBlockEndEvent::new(reply_id, block_id), extra),
        }
    }

    fn add_call_chunk(&mut self, raw: &Object, is_cumulative: bool, out: &mut Output) {
        let text = |name: &str| raw.get(name).and_then(Json::as_str).map(str::to_owned).filter(|text| !text.is_empty());
        let (id, name) = (text("id"), text("name").filter(|name| !name.starts_with("__")));
        let known = self.model_call.as_ref().and_then(|call| match &id {
            Some(id) => {
                call.calls.iter().position(|(index, _)| self.calls.get(*index).is_some_and(|call| call.java_id == *id))
            }
            // A chunk without an id belongs to the last call. A call without an id gets one from the complete message.
            None if name.is_none() => call.calls.len().checked_sub(1),
            None => None,
        });
        let position = match (known, id, name) {
            (Some(position), ..) => position,
            (None, Some(id), Some(name)) => self.begin_streamed_call(&id, &name, out),
            _ => return,
        };
        let Some((index, chunks)) = self.model_call.as_mut().and_then(|call| call.calls.get_mut(position)) else {
            return;
        };
        let (index, delta) = match arguments_so_far(raw) {
            Some(chunk) => (*index, chunks.add(&chunk, is_cumulative)),
            None => return,
        };
        self.emit_arguments(index, &delta, out);
    }

    /// Starts a call whose arguments are streamed. Returns its index in the model call.
    fn begin_streamed_call(&mut self, java_id: &str, name: &str, out: &mut Output) -> usize {
        self.close_prose(None, &Object::new(), out);
        let index = self.begin_call(java_id, name, out);
        let call = self.model_call.get_or_insert_default();
        call.calls.push((index, ChunkedText::default()));
        call.calls.len() - 1
    }

    /// Emits arguments of a call.
    pub(super) fn emit_arguments(&self, index: usize, delta: &str, out: &mut Output) {
        if let Some(call) = self.calls.get(index).filter(|_| !delta.is_empty()) {
            let (reply_id, tool_call_id) = (self.reply_id(), call.id.clone());
            out.emit(ToolCallDeltaEvent::new(reply_id, tool_call_id, delta.to_owned()));
        }
    }

    /// Ends the model call with its complete message. Returns whether the chunks were cumulative, if that could be
    /// decided.
    pub(super) fn end_model_call(
        &mut self,
        message: &Msg,
        given: &[MessageBlock<'_>],
        out: &mut Output,
    ) -> Option<bool> {
        let mut detected = Vec::new();
        let open = self.model_call.get_or_insert_default().open;
        let order = if open == Some(ProseKind::Text) {
            [ProseKind::Text, ProseKind::Thinking]
        } else {
            [ProseKind::Thinking, ProseKind::Text]
        };
        for kind in order {
            let all = given.iter().filter_map(|given| match (kind, given.block) {
                (ProseKind::Text, ContentBlock::Text(block)) => Some((&block.text, &block.extra)),
                (ProseKind::Thinking, ContentBlock::Thinking(block)) => Some((&block.thinking, &block.extra)),
                _ => None,
            });
            for (index, (whole, extra)) in all.enumerate() {
                if index > 0 {
                    // Java streams one block of each kind. Further ones have no chunks.
                    *self.model_call.get_or_insert_default().prose(kind) = None;
                }
                detected.extend(self.end_prose(kind, whole, extra, out));
            }
        }
        self.close_prose(None, &Object::new(), out);
        for given in given {
            match given.block {
                ContentBlock::Text(_) | ContentBlock::Thinking(_) => {}
                ContentBlock::ToolCall(block) => {
                    detected.extend(self.end_streamed_call(&given.raw, &block.id, &block.name, &block.extra, out));
                }
                ContentBlock::ToolResult(result) => self.result(result, out),
                block => self.add(block, out),
            }
        }
        let texts = message.content().iter().filter_map(|block| match block {
            ContentBlock::Text(block) => Some(block.text.clone()),
            _ => None,
        });
        self.last = LastMessage { message_id: message.id().to_owned(), texts: texts.collect() };
        self.end_open_calls(out);
        let counted = message.usage();
        let end = ModelCallEndEvent::new(
            self.reply_id(),
            counted.map_or(0, |usage| usage.input_tokens),
            counted.map_or(0, |usage| usage.output_tokens),
        )
        .with_cache_input_tokens(counted.map_or(0, |usage| usage.cache_input_tokens));
        let event = out.event(end);
        out.push(if counted.is_some() { event } else { event.with_extension("usage", "unknown") });
        self.model_call = None;
        detected.into_iter().last()
    }

    /// Ends a text or thinking block with its complete text.
    fn end_prose(&mut self, kind: ProseKind, whole: &str, extra: &Object, out: &mut Output) -> Option<bool> {
        let is_new = self.model_call.get_or_insert_default().prose(kind).is_none();
        let id = self.prose_id(kind);
        let prose = self.model_call.get_or_insert_default().prose(kind).clone().unwrap_or_default();
        let mut all_extra = prose.extra;
        for (name, value) in extra.iter().filter(|(name, _)| *name != preserved::KEY) {
            all_extra.insert(name, value.clone());
        }
        let ending = prose.chunks.end(whole);
        self.emit_prose(kind, &id, &ending.rest, out);
        let is_replaced = ending.is_replaced && kind == ProseKind::Text;
        if is_new || is_replaced {
            self.open_prose(kind, &id, out);
        }
        if self.model_call.get_or_insert_default().open == Some(kind) {
            self.close_prose(is_replaced.then_some(whole), &all_extra, out);
        }
        ending.is_cumulative
    }

    /// Ends a call with its complete arguments.
    fn end_streamed_call(
        &mut self,
        raw: &Object,
        java_id: &str,
        name: &str,
        extra: &Object,
        out: &mut Output,
    ) -> Option<bool> {
        let calls = &self.model_call.get_or_insert_default().calls;
        let is_open =
            |index: usize| self.calls.get(index).is_some_and(|call| call.java_id == java_id && !call.has_ended);
        let known = calls.iter().position(|(index, _)| is_open(*index));
        let position = known.unwrap_or_else(|| self.begin_streamed_call(java_id, name, out));
        let (index, chunks) = self.model_call.get_or_insert_default().calls.get(position).cloned()?;
        let whole = arguments_so_far(raw).unwrap_or_else(|| "{}".to_owned());
        let ending = chunks.end(&whole);
        self.emit_arguments(index, &ending.rest, out);
        let extra: Object = extra
            .iter()
            .filter(|(name, _)| *name != preserved::KEY)
            .map(|(name, value)| (name, value.clone()))
            .collect();
        self.end_call(index, &extra, out);
        ending.is_cumulative
    }

    fn end_open_calls(&mut self, out: &mut Output) {
        let calls = std::mem::take(&mut self.model_call.get_or_insert_default().calls);
        for (index, _) in calls {
            self.end_call(index, &Object::new(), out);
        }
    }

    /// Ends a model call whose complete message did not arrive.
    pub(super) fn abort_model_call(&mut self, out: &mut Output) {
        let Some(call) = self.model_call.clone() else { return };
        let order = if call.open == Some(ProseKind::Text) {
            [ProseKind::Text, ProseKind::Thinking]
        } else {
            [ProseKind::Thinking, ProseKind::Text]
        };
        for kind in order {
            let prose = match kind {
                ProseKind::Text => &call.text,
                ProseKind::Thinking => &call.thinking,
            };
            if let Some(prose) = prose {
                self.emit_prose(kind, &prose.id, prose.chunks.remainder(), out);
                if self.model_call.get_or_insert_default().open == Some(kind) {
                    self.close_prose(None, &prose.extra, out);
                }
            }
        }
        for (index, chunks) in &call.calls {
            self.emit_arguments(*index, chunks.remainder(), out);
        }
        self.end_open_calls(out);
        let end = ModelCallEndEvent::new(self.reply_id(), 0, 0).with_finished_reason(ModelFinishedReason::Interrupted);
        let event = out.event(end).with_extension("usage", "unknown");
        out.push(event);
        self.model_call = None;
    }
}

/// Returns the arguments of a call so far: the text that the model wrote, otherwise the parsed input. Java writes `{}` if
/// there is no text.
fn arguments_so_far(raw: &Object) -> Option<String> {
    let content = raw
        .get("content")
        .and_then(Json::as_str)
        .map(str::to_owned)
        .filter(|content| !matches!(content.as_str(), "" | "{}"));
    let input = || raw.get("input").or_else(|| raw.get("arguments")).and_then(Json::to_object);
    content.or_else(|| input().filter(|input| !input.is_empty()).map(|input| input.to_json()))
}
