//! Tool calls and their results.

use std::borrow::Cow;

use super::blocks::source_parts;
use super::{ReplyWriter, extra_extension};
use crate::block::{
    DataBlock, MediaBlock, Payload, PermissionRule, SourceError, ToolCallBlock, ToolCallState, ToolResultState,
};
use crate::event::{
    AgentEvent, CustomEvent, RequireExternalExecutionEvent, RequireUserConfirmEvent, ToolCallDeltaEvent,
    ToolCallEndEvent, ToolCallStartEvent, ToolResultDataDeltaEvent, ToolResultEndEvent, ToolResultStartEvent,
    ToolResultTextDeltaEvent,
};
use crate::{Json, Object};

/// Handle of a tool call without a result. [`ReplyWriter::tool_result`] consumes it, so a call has only one result.
///
/// ```
/// use recount_message::{ReplyWriter, Stamps, ToolCall, ToolResultState};
///
/// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
/// let calls: Vec<ToolCall> = ["c1", "c2"].into_iter().map(|id| reply.tool_call(id, "search")).collect();
/// for call in calls {
///     let result = reply.tool_result(call);
///     reply.end_result(result, ToolResultState::Success);
/// }
/// assert!(reply.message().tool_pairs().all(|(_, result)| result.is_some()));
/// ```
#[derive(Debug)]
#[must_use]
pub struct ToolCall {
    id: String,
    name: String,
}

impl ToolCall {
    /// Returns the id of the call in this reply.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// assert_eq!(reply.tool_call("c1", "search").id(), "c1");
    /// // Some providers reuse ids.
    /// assert_eq!(reply.tool_call("c1", "search").id(), "c1_2");
    /// ```
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name of the tool.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// assert_eq!(reply.tool_call("c1", "search").name(), "search");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Handle of an open tool result. [`ReplyWriter::end_result`] consumes it.
///
/// ```
/// use recount_message::{OpenResult, ReplyWriter, Stamps, ToolResultState};
///
/// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
/// let call = reply.tool_call("c1", "build");
/// let output: OpenResult = reply.tool_result(call);
/// reply.result_text(&output, "compiling …\n");
/// reply.result_text(&output, "done\n");
/// reply.end_result(output, ToolResultState::Success);
/// assert_eq!(reply.message().result_of("c1").unwrap().output.text().as_deref(), Some("compiling …\ndone\n"));
/// ```
#[derive(Debug)]
#[must_use]
pub struct OpenResult {
    call_id: String,
}

impl<S: FnMut(AgentEvent)> ReplyWriter<S> {
    /// Starts a tool call. Any number of calls can be open at the same time.
    ///
    /// If a call of this reply already uses the id, the new call gets a different one (`id_2`), and the block has the original
    /// id in the extra field `provider_id`.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, ToolCallBlock};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let weather = reply.tool_call("c1", "get_weather");
    /// let time = reply.tool_call("c2", "get_time");
    /// reply.tool_input(&weather, r#"{"city":"#);
    /// reply.tool_input(&time, "{}");
    /// reply.tool_input(&weather, r#""Beijing"}"#);
    /// let inputs: Vec<&str> = reply.message().blocks::<ToolCallBlock>().map(|call| call.input.as_str()).collect();
    /// assert_eq!(inputs, [r#"{"city":"Beijing"}"#, "{}"]);
    /// ```
    pub fn tool_call(&mut self, id: &str, name: impl Into<String>) -> ToolCall {
        let call = ToolCall { id: self.unused_id::<ToolCallBlock>(id), name: name.into() };
        let mut extra = Object::new();
        if call.id != id {
            extra.insert("provider_id", id);
        }
        self.end_prose();
        let start = ToolCallStartEvent {
            reply_id: self.id(),
            tool_call_id: Cow::Owned(call.id.clone()),
            tool_call_name: Cow::Owned(call.name.clone()),
        };
        self.emit(start);
        self.open_calls.push((call.id.clone(), extra));
        call
    }

    /// Returns the newest call with an id if it has no result. Use it after a reply was resumed.
    ///
    /// ```
    /// use recount_message::{Msg, ReplyFold, ReplyWriter, Stamps, ToolCallBlock, ToolResultBlock};
    ///
    /// let blocks = (
    ///     ToolCallBlock::new("c1", "search", "{}"),
    ///     ToolResultBlock::success("c1", "search", "3 hits"),
    ///     ToolCallBlock::new("c2", "fetch", "{}"),
    /// );
    /// let fold = ReplyFold::from_message(Msg::assistant("Friday", blocks));
    /// let reply = ReplyWriter::resume(|_event| {}, Stamps::default(), "s1", fold);
    /// assert!(reply.unanswered_call("c1").is_none());
    /// assert_eq!(reply.unanswered_call("c2").unwrap().name(), "fetch");
    /// ```
    pub fn unanswered_call(&self, id: &str) -> Option<ToolCall> {
        let (call, result) = self.message().newest_pair(id)?;
        result.is_none().then(|| ToolCall { id: call.id.clone(), name: call.name.clone() })
    }

    /// Writes a piece of the arguments of a call. Has no effect if they are complete.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "search");
    /// reply.tool_input(&call, r#"{"query":"#);
    /// reply.tool_input(&call, r#""tea"}"#);
    /// assert_eq!(reply.message().call("c1").unwrap().input, r#"{"query":"tea"}"#);
    /// ```
    pub fn tool_input(&mut self, call: &ToolCall, delta: impl Into<String>) {
        if !self.open_calls.iter().any(|(id, _)| *id == call.id) {
            return;
        }
        let delta = ToolCallDeltaEvent {
            reply_id: self.id(),
            tool_call_id: Cow::Owned(call.id.clone()),
            delta: Cow::Owned(delta.into()),
        };
        self.emit(delta);
    }

    /// Adds a field of the provider to a call whose arguments are not complete.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "search");
    /// reply.tool_call_extra(&call, "thought_signature", "CpoB…");
    /// reply.end_tool_call(&call);
    /// assert!(reply.message().call("c1").unwrap().extra.contains_key("thought_signature"));
    /// ```
    pub fn tool_call_extra(&mut self, call: &ToolCall, key: impl Into<String>, value: impl Into<Json>) {
        if let Some((_, extra)) = self.open_calls.iter_mut().find(|(id, _)| *id == call.id) {
            extra.insert(key, value);
        }
    }

    /// Ends the arguments of a call.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "search");
    /// reply.tool_input(&call, "{}");
    /// reply.end_tool_call(&call);
    /// reply.tool_input(&call, "too late");
    /// assert_eq!(reply.message().call("c1").unwrap().input, "{}");
    /// ```
    pub fn end_tool_call(&mut self, call: &ToolCall) {
        if let Some(at) = self.open_calls.iter().position(|(id, _)| *id == call.id) {
            let (id, extra) = self.open_calls.remove(at);
            self.write_call_end(id, extra);
        }
    }

    pub(super) fn write_call_end(&mut self, id: String, extra: Object) {
        let reply_id = self.id();
        self.emit_with_extensions(ToolCallEndEvent { reply_id, tool_call_id: Cow::Owned(id) }, &extra_extension(extra));
    }

    /// Sets the state of a call to allowed, for calls that a rule allows. Confirmations of the user are written as events.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, ToolCallState};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "search");
    /// reply.allow(&call);
    /// assert_eq!(reply.message().call("c1").unwrap().state, ToolCallState::Allowed);
    /// ```
    pub fn allow(&mut self, call: &ToolCall) {
        let reply_id = self.reply_id().to_owned();
        self.emit(CustomEvent::call(reply_id, &call.id, ToolCallState::Allowed));
    }

    /// Asks the user to confirm a call, and suggests permission rules.
    ///
    /// ```
    /// use recount_message::{PermissionBehavior, PermissionRule, ReplyWriter, Stamps, ToolCallState};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "shell");
    /// let rule = PermissionRule::new("shell", Some("git log:*"), PermissionBehavior::Allow).with_source("suggested");
    /// reply.ask(&call, vec![rule]);
    /// let asked = reply.message().call("c1").unwrap();
    /// assert_eq!((asked.state, asked.suggested_rules.len()), (ToolCallState::Asking, 1));
    /// ```
    pub fn ask(&mut self, call: &ToolCall, suggested_rules: Vec<PermissionRule>) {
        self.ask_with_extensions(call, suggested_rules, &Object::new());
    }

    /// Asks the user to confirm a call for a reason. The event has the extension `reason`.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut events = Vec::new();
    /// let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "shell");
    /// reply.ask_with_reason(&call, vec![], "it changes files");
    /// drop(reply);
    /// let asked = events.iter().find(|event| event.type_name() == "REQUIRE_USER_CONFIRM").unwrap();
    /// assert_eq!(asked.extension("reason").unwrap().as_str(), Some("it changes files"));
    /// ```
    pub fn ask_with_reason(
        &mut self,
        call: &ToolCall,
        suggested_rules: Vec<PermissionRule>,
        reason: impl Into<String>,
    ) {
        self.ask_with_extensions(call, suggested_rules, &Object::from([("reason", reason.into())]));
    }

    fn ask_with_extensions(&mut self, call: &ToolCall, suggested_rules: Vec<PermissionRule>, extensions: &Object) {
        self.end_tool_call(call);
        let Some(mut block) = self.message().call(&call.id).cloned() else { return };
        block.state = ToolCallState::Asking;
        block.suggested_rules = suggested_rules;
        let reply_id = self.id();
        self.emit_with_extensions(RequireUserConfirmEvent { reply_id, tool_calls: vec![block] }, extensions);
    }

    /// Submits calls for external execution.
    ///
    /// ```
    /// use recount_message::{Event, ExternalExecutionResultEvent, ReplyWriter, Stamps, ToolCallState};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "open_door");
    /// reply.submit(&[&call]);
    /// let waiting = reply.message().call("c1").unwrap().clone();
    /// assert_eq!(waiting.state, ToolCallState::Submitted);
    ///
    /// let answer = ExternalExecutionResultEvent::new(reply.reply_id(), [waiting.success("opened")]);
    /// let _ = reply.record(Event::new(answer));
    /// assert!(reply.unanswered_call("c1").is_none());
    /// ```
    pub fn submit(&mut self, calls: &[&ToolCall]) {
        calls.iter().for_each(|call| self.end_tool_call(call));
        let tool_calls: Vec<ToolCallBlock> = calls
            .iter()
            .filter_map(|call| self.message().call(&call.id).cloned())
            .map(|call| call.with_state(ToolCallState::Submitted))
            .collect();
        let reply_id = self.id();
        self.emit(RequireExternalExecutionEvent { reply_id, tool_calls });
    }

    /// Starts the result of a call. Writes nothing if the call already has a result.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, ToolResultState};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "search");
    /// let _result = reply.tool_result(call);
    /// assert_eq!(reply.message().result_of("c1").unwrap().state, ToolResultState::Running);
    /// ```
    pub fn tool_result(&mut self, call: ToolCall) -> OpenResult {
        self.tool_result_with(call, Object::new())
    }

    /// Starts the result of a call with extra fields.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "search");
    /// let _result = reply.tool_result_with(call, [("repaired", "a missing brace")]);
    /// assert!(reply.message().result_of("c1").unwrap().extra.contains_key("repaired"));
    /// ```
    pub fn tool_result_with(&mut self, call: ToolCall, extra: impl Into<Object>) -> OpenResult {
        self.end_tool_call(&call);
        let ToolCall { id, name } = call;
        if self.unanswered_call(&id).is_some() {
            self.write_result_start(&id, &name, extra.into());
            self.open_results.push(id.clone());
        }
        OpenResult { call_id: id }
    }

    /// Returns the open result of a call. Use it after a reply was resumed: the result of an externally executed call starts
    /// when the call is submitted.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, ToolResultState};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "open_door");
    /// let _result = reply.tool_result(call);
    ///
    /// let mut reply = ReplyWriter::resume(|_event| {}, Stamps::repeatable(), "s1", reply.pause());
    /// let result = reply.open_result("c1").unwrap();
    /// reply.result_text(&result, "opened");
    /// reply.end_result(result, ToolResultState::Success);
    /// assert!(reply.open_result("c1").is_none());
    /// ```
    pub fn open_result(&self, call_id: &str) -> Option<OpenResult> {
        let open = self.open_results.iter().find(|open| *open == call_id)?;
        Some(OpenResult { call_id: open.clone() })
    }

    fn is_open(&self, result: &OpenResult) -> bool {
        self.open_results.contains(&result.call_id)
    }

    pub(super) fn write_result_start(&mut self, id: &str, name: &str, extra: Object) {
        let start = ToolResultStartEvent {
            reply_id: self.id(),
            tool_call_id: Cow::Owned(id.to_owned()),
            tool_call_name: Cow::Owned(name.to_owned()),
        };
        self.emit_with_extensions(start, &extra_extension(extra));
    }

    /// Writes text to a result.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "search");
    /// let result = reply.tool_result(call);
    /// reply.result_text(&result, "3 ");
    /// reply.result_text(&result, "hits");
    /// assert_eq!(reply.message().result_of("c1").unwrap().output.text().as_deref(), Some("3 hits"));
    /// ```
    pub fn result_text(&mut self, result: &OpenResult, delta: impl Into<String>) {
        let delta = ToolResultTextDeltaEvent {
            reply_id: self.id(),
            tool_call_id: Cow::Owned(result.call_id.clone()),
            delta: Cow::Owned(delta.into()),
        };
        if self.is_open(result) {
            self.emit(delta);
        }
    }

    /// Writes data to a result. Data with a known id continues that data.
    ///
    /// ```
    /// use recount_message::{DataBlock, MediaBlock, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "screenshot");
    /// let result = reply.tool_result(call);
    /// reply.result_data(&result, DataBlock::from_bytes(b"GIF89a").with_name("screen.gif"))?;
    /// let output = &reply.message().result_of("c1").unwrap().output;
    /// assert!(matches!(output.blocks(), [MediaBlock::Data(data)] if data.name.as_deref() == Some("screen.gif")));
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the data is not base64. Nothing is written then.
    pub fn result_data(&mut self, result: &OpenResult, block: DataBlock) -> Result<(), SourceError> {
        let DataBlock { id, source, name, extra, .. } = block;
        let (media_type, data, url) = source_parts(source)?;
        let delta = ToolResultDataDeltaEvent {
            reply_id: self.id(),
            tool_call_id: Cow::Owned(result.call_id.clone()),
            block_id: Some(Cow::Owned(id)),
            media_type: Cow::Owned(media_type),
            data: data.map(Cow::Owned),
            url: url.map(Cow::Owned),
        };
        let mut extensions = extra_extension(extra);
        if let Some(name) = name {
            extensions.insert("name", name);
        }
        if self.is_open(result) {
            self.emit_with_extensions(delta, &extensions);
        }
        Ok(())
    }

    /// Writes text and data to a result.
    ///
    /// ```
    /// use recount_message::{DataBlock, ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "plot");
    /// let result = reply.tool_result(call);
    /// reply.result_payload(&result, ("A chart:", DataBlock::from_bytes(b"GIF89a")))?;
    /// assert_eq!(reply.message().result_of("c1").unwrap().output.blocks().len(), 2);
    /// # Ok::<(), recount_message::SourceError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if data in it is not base64.
    pub fn result_payload(&mut self, result: &OpenResult, payload: impl Into<Payload>) -> Result<(), SourceError> {
        match payload.into() {
            Payload::Text(text) => self.result_text(result, text),
            Payload::Blocks(blocks) => {
                for block in blocks {
                    match block {
                        MediaBlock::Text(block) => self.result_text(result, block.text),
                        MediaBlock::Data(block) => self.result_data(result, block)?,
                        MediaBlock::Unknown(block) => self.result_text(result, block.fields.to_json()),
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends a result.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, ToolCallState, ToolResultState};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "search");
    /// let result = reply.tool_result(call);
    /// reply.end_result(result, ToolResultState::Error);
    /// assert_eq!(reply.message().result_of("c1").unwrap().state, ToolResultState::Error);
    /// assert_eq!(reply.message().call("c1").unwrap().state, ToolCallState::Finished);
    /// ```
    pub fn end_result(&mut self, result: OpenResult, state: ToolResultState) {
        self.end_result_with(result, state, Object::new());
    }

    /// Ends a result with metadata.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, ToolResultState};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let call = reply.tool_call("c1", "search");
    /// let result = reply.tool_result(call);
    /// reply.end_result_with(result, ToolResultState::Success, [("seconds", 0.2)]);
    /// assert_eq!(reply.message().result_of("c1").unwrap().metadata.to_json(), r#"{"seconds":0.2}"#);
    /// ```
    pub fn end_result_with(&mut self, result: OpenResult, state: ToolResultState, metadata: impl Into<Object>) {
        if !self.is_open(&result) {
            return;
        }
        let OpenResult { call_id } = result;
        self.open_results.retain(|open| *open != call_id);
        self.write_result_end(call_id, state, metadata.into());
    }

    pub(super) fn write_result_end(&mut self, id: String, state: ToolResultState, metadata: Object) {
        if self.has_ended() || self.is_paused {
            return;
        }
        let end = ToolResultEndEvent { reply_id: self.id(), tool_call_id: Cow::Owned(id), state };
        let event = AgentEvent::stamped(self.stamps.id(), self.stamps.time(), end).with_metadata(metadata);
        self.publish(event);
    }
}
