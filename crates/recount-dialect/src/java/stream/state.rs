//! Saving and restoring the state of a stream.

use recount_message::{DecodeError, FinishedReason, Json, Object};

use super::blocks::{ContentKind, JavaBlock, TextFingerprint};
use super::calls::Call;
use super::exact::ExactReply;
use super::reply::Reply;
use super::results::ResultStage;
use super::{Agent, JavaStream};
use crate::state_document::{
    StateReader, StateWriter, event_json, read_count, read_event, read_object, read_text, read_word, wrong_type,
};

/// The version of the document.
const VERSION: u64 = 1;

impl JavaStream {
    /// Returns the state to resume from later. Of ended replies it holds only the last ids.
    pub(crate) fn state(&self) -> Object {
        let mut document = StateWriter::default();
        document.object.insert("version", VERSION);
        document.text("time", &self.time);
        document.texts("ended", &self.ended);
        document.list("agents", &self.agents, |agent| write_agent(agent).into());
        document.list("exact", &self.exact, |reply| write_exact(reply).into());
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
            time: document.text("time")?,
            ended: document.texts("ended")?,
            agents: document.list("agents", |json| read_agent(&read_object(json)?))?,
            exact: document.list("exact", |json| read_exact(&read_object(json)?))?,
        })
    }
}

fn write_agent(agent: &Agent) -> Object {
    let mut document = StateWriter::default();
    document.text("source", &agent.source);
    if let Some(reply) = &agent.reply {
        document.object.insert("reply", write_reply(reply));
    }
    document.object
}

fn read_agent(agent: &Object) -> Result<Agent, DecodeError> {
    let document = StateReader(agent);
    Ok(Agent {
        source: document.text("source")?,
        reply: document.optional("reply", |json| read_reply(&read_object(json)?))?,
    })
}

fn write_exact(reply: &ExactReply) -> Object {
    let mut document = StateWriter::default();
    document.text("id", &reply.id);
    document.list("calls", &reply.calls, |(id, name)| Json::from([id.as_str(), name.as_str()]));
    document.object
}

fn read_exact(reply: &Object) -> Result<ExactReply, DecodeError> {
    let document = StateReader(reply);
    let call = |json: &Json| match json.to_array().unwrap_or_default().as_slice() {
        [id, name] => Ok((read_text(id)?, read_text(name)?)),
        _ => Err(wrong_type("an id and a name")),
    };
    Ok(ExactReply { id: document.text("id")?, calls: document.list("calls", call)? })
}

fn write_reply(reply: &Reply) -> Object {
    let mut document = StateWriter::default();
    document.text("id", &reply.id);
    document.text("session_id", &reply.session_id);
    document.text("name", &reply.name);
    document.text("invocation", &reply.invocation);
    document.flag("waits", reply.waits);
    document.flag("result", reply.has_result);
    document.flag("calling_model", reply.is_calling_model);
    document.flag("usage_told", reply.is_usage_known);
    document.flag("exceeded", reply.has_exceeded);
    document.flag("interrupted", reply.is_interrupted);
    document.text("reason", reply.reason.map(FinishedReason::as_str).unwrap_or_default());
    if let Some(output) = &reply.structured_output {
        document.object.insert("structured_output", output.clone());
    }
    document.free("metadata", &reply.metadata);
    if reply.text != TextFingerprint::default() {
        document.object.insert("text", [reply.text.length, reply.text.hash]);
    }
    document.object.insert("begun", reply.id_count);
    document.list("blocks", &reply.blocks, |block| write_block(block).into());
    document.list("calls", &reply.calls, |call| write_call(call).into());
    document.texts("answered", &reply.resolved);
    document.flag("asked", reply.has_asked);
    document.flag("confirmed", reply.is_confirmed);
    document.object
}

fn read_reply(reply: &Object) -> Result<Reply, DecodeError> {
    let document = StateReader(reply);
    let text = document.list("text", read_count)?;
    Ok(Reply {
        id: document.text("id")?,
        session_id: document.text("session_id")?,
        name: document.text("name")?,
        invocation: document.text("invocation")?,
        waits: document.flag("waits")?,
        has_result: document.flag("result")?,
        is_calling_model: document.flag("calling_model")?,
        is_usage_known: document.flag("usage_told")?,
        has_exceeded: document.flag("exceeded")?,
        is_interrupted: document.flag("interrupted")?,
        reason: document.optional("reason", |json| read_word(json, FinishedReason::from_name))?,
        structured_output: document.optional("structured_output", read_object)?,
        metadata: document.free("metadata")?,
        text: match text.as_slice() {
            [length, hash] => TextFingerprint { length: *length, hash: *hash },
            _ => TextFingerprint::default(),
        },
        id_count: document.count("begun")?,
        blocks: document.list("blocks", |json| read_block(&read_object(json)?))?,
        calls: document.list("calls", |json| read_call(&read_object(json)?))?,
        resolved: document.texts("answered")?,
        has_asked: document.flag("asked")?,
        is_confirmed: document.flag("confirmed")?,
    })
}

fn write_block(block: &JavaBlock) -> Object {
    let mut document = StateWriter::default();
    document.text("kind", block.kind.name());
    document.text("java_reply", &block.java_reply);
    document.text("java_block", &block.java_block);
    document.text("id", &block.id);
    document.text("media_type", &block.media_type);
    document.flag("open", block.is_open);
    document.flag("open_in_java", block.is_open_in_java);
    document.object
}

fn read_block(block: &Object) -> Result<JavaBlock, DecodeError> {
    let document = StateReader(block);
    let kind = |word: &str| ContentKind::ALL.into_iter().find(|kind| kind.name() == word);
    Ok(JavaBlock {
        kind: document.optional("kind", |json| read_word(json, kind))?.ok_or_else(|| DecodeError::missing("kind"))?,
        java_reply: document.text("java_reply")?,
        java_block: document.text("java_block")?,
        id: document.text("id")?,
        media_type: document.text("media_type")?,
        is_open: document.flag("open")?,
        is_open_in_java: document.flag("open_in_java")?,
    })
}

fn write_call(call: &Call) -> Object {
    let mut document = StateWriter::default();
    document.text("id", &call.id);
    document.text("java_id", &call.java_id);
    document.text("name", &call.name);
    document.event("held_end", call.held_end.as_ref());
    document.flag("ended", call.is_ended);
    document.flag("input", call.has_input);
    document.flag("complete", call.is_complete);
    document.flag("asked", call.is_asked);
    document.flag("denied", call.is_denied);
    document.flag("suspended", call.is_suspended);
    document.flag("submitted", call.is_submitted);
    document.text("stage", stage_name(call.stage));
    document.list("held", &call.held, event_json);
    document.event("running_end", call.running_end.as_ref());
    document.object
}

fn read_call(call: &Object) -> Result<Call, DecodeError> {
    let document = StateReader(call);
    let stage =
        |word: &str| [ResultStage::Held, ResultStage::Open].into_iter().find(|stage| stage_name(*stage) == word);
    Ok(Call {
        id: document.text("id")?,
        java_id: document.text("java_id")?,
        name: document.text("name")?,
        held_end: document.optional("held_end", read_event)?,
        is_ended: document.flag("ended")?,
        has_input: document.flag("input")?,
        is_complete: document.flag("complete")?,
        is_asked: document.flag("asked")?,
        is_denied: document.flag("denied")?,
        is_suspended: document.flag("suspended")?,
        is_submitted: document.flag("submitted")?,
        stage: document.optional("stage", |json| read_word(json, stage))?.unwrap_or_default(),
        held: document.list("held", read_event)?,
        running_end: document.optional("running_end", read_event)?,
    })
}

fn stage_name(stage: ResultStage) -> &'static str {
    match stage {
        ResultStage::None => "",
        ResultStage::Held => "held",
        ResultStage::Open => "open",
    }
}
