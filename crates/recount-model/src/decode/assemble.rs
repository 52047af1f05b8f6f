//! Writes response parts as events. Shared by all providers.

use std::borrow::Cow;

use recount_message::{AgentEvent, Base64Source, DataBlock, Json, OpenData, ReplyWriter, ToolCall, UrlSource};
use serde::de::IgnoredAny;

use super::DecodeOptions;
use super::call_end::{CallEnd, StopReason};
use super::error::{CallError, CallErrorKind};
use super::prompt_calls::{PromptCalls, PromptPart};
use super::response_part::{BlockKey, CallPart, CallSlot, DataSource, ResponsePart, Tokens};
use super::think_tags::{ThinkPart, ThinkTags};

/// Marks a block that was incomplete when the model call ended.
const CUT: &str = "cut";

/// The name of a call for which the provider sent none.
const UNNAMED: &str = "unknown";

/// Writes the parts of one response.
#[derive(Debug)]
pub(super) struct Assembler {
    think_tags: ThinkTags,
    prompt_calls: Option<PromptCalls>,
    /// The open text or thinking block.
    prose: Option<(Prose, BlockKey)>,
    /// The key of the last text. Part of it may be buffered because it could be the start of a tag.
    text_key: BlockKey,
    calls: Vec<Call>,
    audio: Option<OpenData>,
    blocks: usize,
    max_blocks: usize,
    tokens: Tokens,
    stop_reason: Option<StopReason>,
    provider_stop_reason: Option<String>,
    refused: bool,
    response_id: Option<String>,
    model: Option<String>,
    done: bool,
    /// `sent` is set by any chunk, `understood` by a chunk with content.
    sent: bool,
    understood: bool,
    error: Option<CallError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prose {
    Text,
    Thinking,
}

/// A tool call in the response.
#[derive(Debug)]
struct Call {
    slot: CallSlot,
    id: Option<String>,
    name: Option<String>,
    /// The input and extra fields that arrived before the call was started.
    held_input: String,
    held_extra: Vec<(&'static str, Json)>,
    begun: Option<ToolCall>,
}

type Written = Result<(), CallError>;

impl Assembler {
    pub(super) fn new(options: &DecodeOptions) -> Self {
        Self {
            think_tags: ThinkTags::new(options.think_tags),
            prompt_calls: options.prompt_tools.then(PromptCalls::new),
            prose: None,
            text_key: BlockKey::ONLY,
            calls: Vec::new(),
            audio: None,
            blocks: 0,
            max_blocks: options.max_blocks,
            tokens: Tokens::default(),
            stop_reason: None,
            provider_stop_reason: None,
            refused: false,
            response_id: None,
            model: None,
            done: false,
            sent: false,
            understood: false,
            error: None,
        }
    }

    /// Records that a chunk has arrived.
    pub(super) fn mark_received(&mut self) {
        self.sent = true;
    }

    /// Whether the provider has ended the response.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn error(&self) -> Option<&CallError> {
        self.error.as_ref()
    }

    /// Fails the call. Only the first error is kept.
    pub(super) fn fail(&mut self, error: CallError) {
        self.error.get_or_insert(error);
    }

    /// Whether the response has ended or the model has given a stop reason.
    pub(super) fn has_ended(&self) -> bool {
        self.done || self.stop_reason.is_some()
    }

    /// Whether any block was written.
    pub(super) fn has_output(&self) -> bool {
        self.blocks > 0
    }

    /// Writes a part. Does nothing after an error.
    pub(super) fn apply<S: FnMut(AgentEvent)>(&mut self, part: ResponsePart<'_>, reply: &mut ReplyWriter<S>) {
        if self.error.is_some() {
            return;
        }
        self.understood |= !matches!(part, ResponsePart::Done);
        if let Err(error) = self.write(part, reply) {
            self.fail(error);
        }
    }

    fn write<S: FnMut(AgentEvent)>(&mut self, part: ResponsePart<'_>, reply: &mut ReplyWriter<S>) -> Written {
        match part {
            ResponsePart::Response { id, model } => {
                update_latest(&mut self.response_id, id);
                update_latest(&mut self.model, model);
            }
            ResponsePart::Thinking { key, delta } => {
                self.disable_tags(reply)?;
                self.thinking(key, delta.into_owned(), reply)?;
            }
            ResponsePart::ThinkingExtra { key, name, value } => {
                self.disable_tags(reply)?;
                self.open(Prose::Thinking, key, reply)?;
                reply.thinking_extra(name, value);
            }
            ResponsePart::Text { key, delta } => self.text(key, delta, reply)?,
            ResponsePart::TextExtra { key, name, value } => {
                self.flush_text(reply)?;
                self.open(Prose::Text, key, reply)?;
                reply.text_extra(name, value);
            }
            ResponsePart::Refusal { key, delta } => {
                self.refused = true;
                self.flush_text(reply)?;
                self.plain_text(key, delta.into_owned(), reply)?;
                reply.text_extra("refusal", true);
            }
            ResponsePart::ProseEnd { key } => {
                if self.text_key == key {
                    self.flush_text(reply)?;
                }
                if self.prose.is_some_and(|(_, open)| open == key) {
                    self.end_prose(reply);
                }
            }
            ResponsePart::Call(part) => self.call(part, reply)?,
            ResponsePart::CallExtra { slot, name, value } => {
                let call = self.call_in(slot);
                match &call.begun {
                    Some(begun) => reply.tool_call_extra(begun, name, value),
                    None => call.held_extra.push((name, value)),
                }
            }
            ResponsePart::CallEnd { slot, default_input } => self.end_call(slot, &default_input, reply)?,
            ResponsePart::Data { media_type, source } => self.data(media_type.into_owned(), source, reply)?,
            ResponsePart::Audio { media_type, bytes } => self.audio(media_type, &bytes, reply)?,
            ResponsePart::Usage(tokens) => self.tokens.update(tokens),
            ResponsePart::StopReason { stop_reason, reason } => {
                self.stop_reason = Some(stop_reason);
                self.provider_stop_reason = Some(reason.into_owned());
            }
            ResponsePart::Done => self.done = true,
            ResponsePart::Error(error) => return Err(error),
        }
        Ok(())
    }

    fn count_block(&mut self) -> Written {
        if self.blocks >= self.max_blocks {
            return Err(CallError::too_many_blocks(self.max_blocks));
        }
        self.blocks += 1;
        Ok(())
    }

    /// Opens a block of this kind and key, unless it is open already.
    fn open<S: FnMut(AgentEvent)>(&mut self, kind: Prose, key: BlockKey, reply: &mut ReplyWriter<S>) -> Written {
        if self.prose == Some((kind, key)) {
            return Ok(());
        }
        self.end_prose(reply);
        self.count_block()?;
        self.prose = Some((kind, key));
        Ok(())
    }

    fn end_prose<S: FnMut(AgentEvent)>(&mut self, reply: &mut ReplyWriter<S>) {
        self.prose = None;
        reply.end_prose();
    }

    fn thinking<S: FnMut(AgentEvent)>(&mut self, key: BlockKey, delta: String, reply: &mut ReplyWriter<S>) -> Written {
        if !delta.is_empty() {
            self.open(Prose::Thinking, key, reply)?;
            reply.thinking(delta);
        }
        Ok(())
    }

    /// Writes text without searching it for tags.
    fn plain_text<S: FnMut(AgentEvent)>(
        &mut self,
        key: BlockKey,
        delta: String,
        reply: &mut ReplyWriter<S>,
    ) -> Written {
        if !delta.is_empty() {
            self.open(Prose::Text, key, reply)?;
            reply.text(delta);
        }
        Ok(())
    }

    fn text<S: FnMut(AgentEvent)>(
        &mut self,
        key: BlockKey,
        delta: Cow<'_, str>,
        reply: &mut ReplyWriter<S>,
    ) -> Written {
        if self.think_tags.is_off() && self.prompt_calls.is_none() {
            return self.plain_text(key, delta.into_owned(), reply);
        }
        if self.text_key != key {
            self.flush_text(reply)?;
            self.text_key = key;
        }
        let mut think_parts = Vec::new();
        self.think_tags.push(&delta, &mut think_parts);
        self.write_think_parts(think_parts, reply)
    }

    fn write_think_parts<S: FnMut(AgentEvent)>(
        &mut self,
        think_parts: Vec<ThinkPart>,
        reply: &mut ReplyWriter<S>,
    ) -> Written {
        for part in think_parts {
            match part {
                ThinkPart::Thinking(thinking) => self.thinking(self.text_key, thinking, reply)?,
                ThinkPart::Text(text) => {
                    let mut parts = Vec::new();
                    match &mut self.prompt_calls {
                        Some(calls) => calls.push(&text, &mut parts),
                        None => parts.push(PromptPart::Text(text)),
                    }
                    self.write_prompt_parts(parts, reply)?;
                }
            }
        }
        Ok(())
    }

    fn write_prompt_parts<S: FnMut(AgentEvent)>(
        &mut self,
        parts: Vec<PromptPart>,
        reply: &mut ReplyWriter<S>,
    ) -> Written {
        for part in parts {
            match part {
                PromptPart::Text(text) => self.plain_text(self.text_key, text, reply)?,
                PromptPart::Call { name, input, cut } => self.prompt_call(name, input, cut, reply)?,
            }
        }
        Ok(())
    }

    /// Writes a call that was parsed from the text. It is complete unless the text was truncated.
    fn prompt_call<S: FnMut(AgentEvent)>(
        &mut self,
        name: String,
        input: String,
        cut: bool,
        reply: &mut ReplyWriter<S>,
    ) -> Written {
        self.count_block()?;
        self.prose = None;
        let id = reply.new_id();
        let call = reply.tool_call(&id, name.clone());
        if !input.is_empty() {
            reply.tool_input(&call, input);
        }
        if cut {
            reply.tool_call_extra(&call, CUT, true);
        }
        reply.end_tool_call(&call);
        // Providers count slots up from zero, so this slot is free.
        let slot = CallSlot(u64::MAX - self.calls.len() as u64);
        let (id, name) = (Some(id), Some(name));
        self.calls.push(Call { slot, id, name, held_input: String::new(), held_extra: Vec::new(), begun: Some(call) });
        Ok(())
    }

    /// Writes the text that was buffered as a possible start of a tag.
    fn flush_text<S: FnMut(AgentEvent)>(&mut self, reply: &mut ReplyWriter<S>) -> Written {
        let mut think_parts = Vec::new();
        self.think_tags.flush(&mut think_parts);
        self.write_think_parts(think_parts, reply)?;
        if let Some(calls) = &mut self.prompt_calls {
            let mut parts = Vec::new();
            calls.flush(&mut parts);
            self.write_prompt_parts(parts, reply)?;
        }
        Ok(())
    }

    /// Stops the search for think tags: the provider sends thinking in a separate field.
    fn disable_tags<S: FnMut(AgentEvent)>(&mut self, reply: &mut ReplyWriter<S>) -> Written {
        if self.think_tags.is_off() && self.prompt_calls.is_none() {
            return Ok(());
        }
        self.flush_text(reply)?;
        self.think_tags = ThinkTags::Off;
        Ok(())
    }

    fn call_in(&mut self, slot: CallSlot) -> &mut Call {
        let at = self.calls.iter().rposition(|call| call.slot == slot).unwrap_or_else(|| {
            self.calls.push(Call {
                slot,
                id: None,
                name: None,
                held_input: String::new(),
                held_extra: Vec::new(),
                begun: None,
            });
            self.calls.len() - 1
        });
        &mut self.calls[at]
    }

    fn call<S: FnMut(AgentEvent)>(&mut self, part: CallPart<'_>, reply: &mut ReplyWriter<S>) -> Written {
        if self.calls.len() > self.max_blocks {
            return Err(CallError::too_many_blocks(self.max_blocks));
        }
        let call = self.call_in(part.slot);
        keep_first(&mut call.id, part.id);
        keep_first(&mut call.name, part.name);
        match &call.begun {
            Some(_) if part.input.is_empty() => Ok(()),
            Some(begun) => {
                reply.tool_input(begun, part.input);
                Ok(())
            }
            None => {
                call.held_input.push_str(&part.input);
                if call.id.is_some() && call.name.is_some() { self.begin_call(part.slot, reply) } else { Ok(()) }
            }
        }
    }

    /// Starts a call with the data that has arrived so far.
    fn begin_call<S: FnMut(AgentEvent)>(&mut self, slot: CallSlot, reply: &mut ReplyWriter<S>) -> Written {
        self.flush_text(reply)?;
        self.count_block()?;
        self.prose = None;
        let call = self.call_in(slot);
        let id = call.id.clone().unwrap_or_else(|| reply.new_id());
        let begun = reply.tool_call(&id, call.name.clone().unwrap_or_else(|| UNNAMED.to_owned()));
        for (name, value) in call.held_extra.drain(..) {
            reply.tool_call_extra(&begun, name, value);
        }
        if !call.held_input.is_empty() {
            reply.tool_input(&begun, std::mem::take(&mut call.held_input));
        }
        call.begun = Some(begun);
        Ok(())
    }

    /// Ends the input of a call. Providers send this event for truncated input too, so a call with invalid JSON stays
    /// open until the stop reason is known.
    fn end_call<S: FnMut(AgentEvent)>(
        &mut self,
        slot: CallSlot,
        default_input: &str,
        reply: &mut ReplyWriter<S>,
    ) -> Written {
        if !self.calls.iter().any(|call| call.slot == slot) {
            return Ok(());
        }
        if self.call_in(slot).begun.is_none() {
            self.begin_call(slot, reply)?;
        }
        let Some(begun) = &self.call_in(slot).begun else { return Ok(()) };
        if input_of(begun, reply).is_empty() && !default_input.is_empty() {
            reply.tool_input(begun, default_input);
        }
        let input = input_of(begun, reply);
        if input.is_empty() || is_json(input) {
            reply.end_tool_call(begun);
        }
        Ok(())
    }

    fn data<S: FnMut(AgentEvent)>(
        &mut self,
        media_type: String,
        source: DataSource<'_>,
        reply: &mut ReplyWriter<S>,
    ) -> Written {
        self.flush_text(reply)?;
        self.count_block()?;
        let id = reply.new_id();
        let written = match source {
            DataSource::Base64(data) => Ok(DataBlock::new(Base64Source::from_base64(data.into_owned(), media_type))),
            DataSource::Url(url) => UrlSource::new(url).map(|url| DataBlock::new(url.with_media_type(media_type))),
        };
        written.and_then(|block| reply.data_block(block.with_id(id))).map_err(|error| {
            self.blocks -= 1;
            CallError::malformed(format!("the response contains invalid data: {error}"))
        })
    }

    fn audio<S: FnMut(AgentEvent)>(&mut self, media_type: &str, bytes: &[u8], reply: &mut ReplyWriter<S>) -> Written {
        if self.audio.is_none() {
            self.flush_text(reply)?;
            self.count_block()?;
            self.audio = Some(reply.data(media_type, None));
        }
        if let Some(audio) = &self.audio {
            reply.data_bytes(audio, bytes);
        }
        Ok(())
    }

    /// Closes all blocks and returns how the call ended.
    pub(super) fn finish<S: FnMut(AgentEvent)>(mut self, reply: &mut ReplyWriter<S>) -> CallEnd {
        if let Err(error) = self.write_rest(reply) {
            self.fail(error);
        }
        if self.done && self.sent && !self.understood {
            self.fail(CallError::malformed("the response contains no chunk in the format of the provider"));
        } else if !self.has_ended() {
            self.fail(CallError::truncated());
        }
        let stop_reason = self.final_stop_reason();
        // Text that the user saw before cancelling stays in the conversation, because the user may refer to it.
        let is_incomplete = match &self.error {
            Some(error) => error.kind() != CallErrorKind::Cancelled || reply.is_thinking(),
            None => false,
        };
        if is_incomplete {
            reply.prose_extra(CUT, true);
        }
        reply.end_prose();
        for call in self.calls.iter().filter_map(|call| call.begun.as_ref()) {
            if self.error.is_some() || is_cut(stop_reason, input_of(call, reply)) {
                reply.tool_call_extra(call, CUT, true);
            }
            reply.end_tool_call(call);
        }
        if let Some(audio) = self.audio.take() {
            reply.end_data(audio);
        }
        CallEnd {
            stop_reason,
            provider_stop_reason: self.provider_stop_reason,
            usage: self.tokens.usage(),
            has_output: self.blocks > 0,
            error: self.error,
            response_id: self.response_id,
            model: self.model,
        }
    }

    /// Writes buffered text and starts the remaining calls.
    fn write_rest<S: FnMut(AgentEvent)>(&mut self, reply: &mut ReplyWriter<S>) -> Written {
        self.flush_text(reply)?;
        let waiting: Vec<CallSlot> =
            self.calls.iter().filter(|call| call.begun.is_none()).map(|call| call.slot).collect();
        waiting.into_iter().try_for_each(|slot| self.begin_call(slot, reply))
    }

    /// Returns the stop reason. Several providers report a plain stop for tool calls and refusals.
    fn final_stop_reason(&self) -> StopReason {
        match self.stop_reason.unwrap_or(StopReason::Unknown) {
            StopReason::Stop | StopReason::Unknown if self.refused => StopReason::Refusal,
            StopReason::Stop if !self.calls.is_empty() => StopReason::ToolCalls,
            stop_reason => stop_reason,
        }
    }
}

/// Updates a value with the latest one from the provider.
fn update_latest(target: &mut Option<String>, value: Option<Cow<'_, str>>) {
    if let Some(value) = value
        && target.as_deref() != Some(&*value)
    {
        *target = Some(value.into_owned());
    }
}

/// Sets a value if it is not set yet.
fn keep_first(target: &mut Option<String>, value: Option<Cow<'_, str>>) {
    if target.is_none() {
        *target = value.filter(|value| !value.is_empty()).map(Cow::into_owned);
    }
}

fn input_of<'r, S: FnMut(AgentEvent)>(call: &ToolCall, reply: &'r ReplyWriter<S>) -> &'r str {
    reply.message().call(call.id()).map_or("", |call| &call.input)
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether the input of a call was truncated by the end of the response. If the model stopped normally, the input is as
/// the model wrote it, valid or not.
fn is_cut(stop_reason: StopReason, input: &str) -> bool {
    match stop_reason {
        StopReason::Stop | StopReason::ToolCalls => false,
        StopReason::Unknown => !input.is_empty() && !is_json(input),
        StopReason::Length | StopReason::ContentFilter | StopReason::Refusal | StopReason::Other => !is_json(input),
    }
}
