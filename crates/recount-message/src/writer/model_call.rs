//! Model calls: start, end and token usage.

use super::ReplyWriter;
use crate::Object;
use crate::event::{AgentEvent, ModelCallEndEvent, ModelCallStartEvent, ModelFinishedReason};
use crate::msg::Usage;

impl<S: FnMut(AgentEvent)> ReplyWriter<S> {
    /// Starts a model call. Ends an open one first.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut events = Vec::new();
    /// let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s1", "Friday");
    /// reply.model_call("some-model");
    /// drop(reply);
    /// let types: Vec<&str> = events.iter().map(|event| event.type_name()).collect();
    /// assert_eq!(types, ["REPLY_START", "MODEL_CALL_START", "MODEL_CALL_END", "REPLY_END"]);
    /// ```
    pub fn model_call(&mut self, model_name: impl Into<String>) {
        self.close_model_call(None, ModelFinishedReason::Completed);
        let reply_id = self.id();
        self.emit(ModelCallStartEvent { reply_id, model_name: model_name.into().into() });
        self.model_call_open = true;
    }

    /// Resumes the model call that was in progress when the reply was paused, so that this writer ends it. The message does not
    /// contain that information.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.model_call("some-model");
    /// let left = reply.pause();
    ///
    /// let mut events = Vec::new();
    /// let mut reply = ReplyWriter::resume(|event| events.push(event), Stamps::repeatable(), "s1", left);
    /// reply.resume_model_call();
    /// reply.cut_model_call(None);
    /// let _ = reply.pause();
    /// drop(reply);
    /// assert_eq!(events[0].type_name(), "MODEL_CALL_END");
    /// ```
    pub fn resume_model_call(&mut self) {
        self.model_call_open = true;
    }

    /// Ends the model call. `None` as the usage means that the provider did not report it.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, Usage};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// for usage in [Some(Usage::new(100, 20)), None, Some(Usage::new(150, 30))] {
    ///     reply.model_call("some-model");
    ///     reply.end_model_call(usage);
    /// }
    /// assert_eq!(reply.message().usage(), Some(&Usage::new(250, 50)));
    /// ```
    pub fn end_model_call(&mut self, usage: Option<Usage>) {
        self.close_model_call(usage, ModelFinishedReason::Completed);
    }

    /// Ends the model call as interrupted.
    ///
    /// ```
    /// use recount_message::{ReplyWriter, Stamps, TextBlock};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// reply.model_call("some-model");
    /// reply.text("Once upon a");
    /// reply.interrupt_model_call(None);
    /// assert!(reply.message().first::<TextBlock>().unwrap().finished_at.is_some());
    /// assert_eq!(reply.message().usage(), None);
    /// ```
    pub fn interrupt_model_call(&mut self, usage: Option<Usage>) {
        self.close_model_call(usage, ModelFinishedReason::Interrupted);
    }

    pub(super) fn close_model_call(&mut self, usage: Option<Usage>, finished_reason: ModelFinishedReason) {
        self.end_prose();
        for (id, extra) in std::mem::take(&mut self.open_calls) {
            self.write_call_end(id, extra);
        }
        for id in std::mem::take(&mut self.open_data) {
            self.write_data_end(id, Object::new());
        }
        if !std::mem::take(&mut self.model_call_open) {
            return;
        }
        let reply_id = self.id();
        let extensions = if usage.is_none() { Object::from([("usage", "unknown")]) } else { Object::new() };
        let usage = usage.unwrap_or_default();
        self.emit_with_extensions(
            ModelCallEndEvent {
                reply_id,
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                cache_input_tokens: usage.cache_input_tokens,
                cache_creation_input_tokens: usage.cache_creation_input_tokens,
                finished_reason,
            },
            &extensions,
        );
    }
}
