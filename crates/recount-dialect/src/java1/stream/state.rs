//! Saving and restoring the state of a stream.

use recount_message::{DecodeError, Json, Object};

use super::Java1Stream;
use super::chunks::ChunkedText;
use super::model_call::{ModelCall, ProseKind, StreamedText};
use super::reply::{Call, LastMessage, Reply};
use crate::state_document::{StateReader, StateWriter, read_object, read_text};

/// The version of the document.
const VERSION: u64 = 1;

impl Java1Stream {
    /// Returns the state to resume from later.
    pub(crate) fn state(&self) -> Object {
        let mut document = StateWriter::default();
        document.object.insert("version", VERSION);
        document.text("time", &self.time);
        document.object.insert("count", self.count);
        document.flag("repeats", self.is_cumulative);
        document.texts("ended", &self.ended);
        if let Some(reply) = &self.reply {
            document.object.insert("reply", write_reply(reply));
        }
        document.object
    }

    /// Creates a stream that resumes from a saved state.
    ///
    /// # Errors
    ///
    /// Returns an error if the document was not written by [`state`](Self::state).
    pub(crate) fn from_state(state: &Object) -> Result<Self, DecodeError> {
        let document = StateReader(state);
        document.require_version(VERSION)?;
        Ok(Self {
            reply: document.optional("reply", |json| read_reply(&read_object(json)?))?,
            ended: document.texts("ended")?,
            time: document.text("time")?,
            count: document.count("count")?,
            is_cumulative: document.flag("repeats")?,
        })
    }
}

fn write_reply(reply: &Reply) -> Object {
    let mut document = StateWriter::default();
    document.text("id", &reply.id);
    document.text("name", &reply.name);
    document.object.insert("blocks", reply.block_count);
    document.list("calls", &reply.calls, |call| write_call(call).into());
    if let Some(call) = &reply.model_call {
        document.object.insert("model_call", write_model_call(call));
    }
    document.text("last", &reply.last.message_id);
    document.texts("texts", &reply.last.texts);
    document.flag("waits", reply.waits);
    document.flag("summary", reply.is_summary);
    document.object
}

fn read_reply(reply: &Object) -> Result<Reply, DecodeError> {
    let document = StateReader(reply);
    Ok(Reply {
        id: document.text("id")?,
        name: document.text("name")?,
        block_count: document.count("blocks")?,
        calls: document.list("calls", |json| read_call(&read_object(json)?))?,
        model_call: document.optional("model_call", |json| read_model_call(&read_object(json)?))?,
        last: LastMessage { message_id: document.text("last")?, texts: document.texts("texts")? },
        waits: document.flag("waits")?,
        is_summary: document.flag("summary")?,
    })
}

fn write_call(call: &Call) -> Object {
    let mut document = StateWriter::default();
    document.text("given", &call.java_id);
    document.text("id", &call.id);
    document.text("name", &call.name);
    document.flag("ended", call.has_ended);
    document.flag("answered", call.has_result);
    document.flag("submitted", call.is_submitted);
    document.text("so_far", &call.partial_result);
    document.object
}

fn read_call(call: &Object) -> Result<Call, DecodeError> {
    let document = StateReader(call);
    Ok(Call {
        java_id: document.text("given")?,
        id: document.text("id")?,
        name: document.text("name")?,
        has_ended: document.flag("ended")?,
        has_result: document.flag("answered")?,
        is_submitted: document.flag("submitted")?,
        partial_result: document.text("so_far")?,
    })
}

fn write_model_call(call: &ModelCall) -> Object {
    let mut document = StateWriter::default();
    document.text("message_id", &call.message_id);
    for (name, prose) in [("text", &call.text), ("thinking", &call.thinking)] {
        if let Some(prose) = prose {
            document.object.insert(name, write_prose(prose));
        }
    }
    match call.open {
        Some(ProseKind::Text) => document.text("open", "text"),
        Some(ProseKind::Thinking) => document.text("open", "thinking"),
        None => {}
    }
    document.list("calls", &call.calls, |(index, chunks)| {
        let mut call = write_chunks(chunks);
        call.object.insert("index", *index as u64);
        call.object.into()
    });
    document.object
}

fn read_model_call(call: &Object) -> Result<ModelCall, DecodeError> {
    let document = StateReader(call);
    Ok(ModelCall {
        message_id: document.text("message_id")?,
        text: document.optional("text", |json| read_prose(&read_object(json)?))?,
        thinking: document.optional("thinking", |json| read_prose(&read_object(json)?))?,
        open: match &*document.text("open")? {
            "text" => Some(ProseKind::Text),
            "thinking" => Some(ProseKind::Thinking),
            _ => None,
        },
        calls: document.list("calls", |json| {
            let call = read_object(json)?;
            let index = usize::try_from(StateReader(&call).count("index")?).unwrap_or(usize::MAX);
            Ok((index, read_chunks(&call)?))
        })?,
    })
}

fn write_prose(prose: &StreamedText) -> Object {
    let mut document = write_chunks(&prose.chunks);
    document.text("id", &prose.id);
    document.free("extra", &prose.extra);
    document.object
}

fn read_prose(prose: &Object) -> Result<StreamedText, DecodeError> {
    let document = StateReader(prose);
    Ok(StreamedText { id: document.text("id")?, chunks: read_chunks(prose)?, extra: document.free("extra")? })
}

fn write_chunks(chunks: &ChunkedText) -> StateWriter {
    let mut document = StateWriter::default();
    document.text("told", &chunks.emitted);
    for (name, rest) in [("going_on", &chunks.incremental), ("repeating", &chunks.cumulative)] {
        if let Some(rest) = rest {
            // An empty rest differs from a missing one.
            document.object.insert(name, Json::from(rest.as_str()));
        }
    }
    document
}

fn read_chunks(chunks: &Object) -> Result<ChunkedText, DecodeError> {
    let document = StateReader(chunks);
    Ok(ChunkedText {
        emitted: document.text("told")?,
        incremental: document.optional("going_on", read_text)?,
        cumulative: document.optional("repeating", read_text)?,
    })
}
