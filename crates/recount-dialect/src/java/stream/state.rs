//! What a stream must remember, as a document.

use recount_message::{AgentEvent, DecodeError, DecodeErrorKind, Event, FinishedReason, Json, Object};

use super::blocks::{Block, BlockKind, TextPrint};
use super::calls::Call;
use super::exact::ExactReply;
use super::reply::Reply;
use super::results::Stage;
use super::{Agent, JavaStream};

/// The version of the document.
const VERSION: u64 = 1;

impl JavaStream {
    /// What must be kept in order to go on later. It holds nothing of replies that have ended but for a few ids.
    pub(crate) fn state(&self) -> Object {
        let mut document = Writer::default();
        document.object.insert("version", VERSION);
        document.text("time", &self.time);
        document.list("ended", &self.ended, |id| Json::from(id.as_str()));
        document.list("agents", &self.agents, |agent| write_agent(agent).into());
        document.list("exact", &self.exact, |reply| write_exact(reply).into());
        document.object
    }

    /// Goes on from what was kept.
    ///
    /// # Errors
    ///
    /// When the document is not one that [`state`](Self::state) has written.
    pub(crate) fn from_state(state: &Object) -> Result<Self, DecodeError> {
        let document = Reader(state);
        if document.count("version")? != VERSION {
            return Err(DecodeError::new(DecodeErrorKind::UnknownValue, "unknown version").within("version"));
        }
        Ok(Self {
            time: document.text("time")?,
            ended: document.list("ended", read_text)?,
            agents: document.list("agents", |json| read_agent(&object(json)?))?,
            exact: document.list("exact", |json| read_exact(&object(json)?))?,
        })
    }
}

fn write_agent(agent: &Agent) -> Object {
    let mut document = Writer::default();
    document.text("source", &agent.source);
    if let Some(reply) = &agent.reply {
        document.object.insert("reply", write_reply(reply));
    }
    document.object
}

fn read_agent(agent: &Object) -> Result<Agent, DecodeError> {
    let document = Reader(agent);
    Ok(Agent {
        source: document.text("source")?,
        reply: document.optional("reply", |json| read_reply(&object(json)?))?,
    })
}

fn write_exact(reply: &ExactReply) -> Object {
    let mut document = Writer::default();
    document.text("id", &reply.id);
    document.list("calls", &reply.calls, |(id, name)| Json::from([id.as_str(), name.as_str()]));
    document.object
}

fn read_exact(reply: &Object) -> Result<ExactReply, DecodeError> {
    let document = Reader(reply);
    let call = |json: &Json| match json.to_list().unwrap_or_default().as_slice() {
        [id, name] => Ok((read_text(id)?, read_text(name)?)),
        _ => Err(wrong("an id and a name")),
    };
    Ok(ExactReply { id: document.text("id")?, calls: document.list("calls", call)? })
}

fn write_reply(reply: &Reply) -> Object {
    let mut document = Writer::default();
    document.text("id", &reply.id);
    document.text("session_id", &reply.session_id);
    document.text("name", &reply.name);
    document.text("invocation", &reply.invocation);
    document.flag("waits", reply.waits);
    document.flag("result", reply.has_result);
    document.flag("calling_model", reply.is_calling_model);
    document.flag("usage_told", reply.is_usage_told);
    document.flag("exceeded", reply.has_exceeded);
    document.flag("interrupted", reply.is_interrupted);
    document.text("reason", reply.reason.map(FinishedReason::as_str).unwrap_or_default());
    if let Some(output) = &reply.structured_output {
        document.object.insert("structured_output", output.clone());
    }
    if !reply.metadata.is_empty() {
        document.object.insert("metadata", reply.metadata.clone());
    }
    if reply.text != TextPrint::default() {
        document.object.insert("text", [reply.text.length, reply.text.hash]);
    }
    document.object.insert("begun", reply.begun);
    document.list("blocks", &reply.blocks, |block| write_block(block).into());
    document.list("calls", &reply.calls, |call| write_call(call).into());
    document.list("answered", &reply.answered, |id| Json::from(id.as_str()));
    document.flag("asked", reply.has_asked);
    document.flag("confirmed", reply.is_confirmed);
    document.object
}

fn read_reply(reply: &Object) -> Result<Reply, DecodeError> {
    let document = Reader(reply);
    let text = document.list("text", read_count)?;
    Ok(Reply {
        id: document.text("id")?,
        session_id: document.text("session_id")?,
        name: document.text("name")?,
        invocation: document.text("invocation")?,
        waits: document.flag("waits")?,
        has_result: document.flag("result")?,
        is_calling_model: document.flag("calling_model")?,
        is_usage_told: document.flag("usage_told")?,
        has_exceeded: document.flag("exceeded")?,
        is_interrupted: document.flag("interrupted")?,
        reason: document.optional("reason", |json| word(json, FinishedReason::from_word))?,
        structured_output: document.optional("structured_output", object)?,
        metadata: document.optional("metadata", object)?.unwrap_or_default(),
        text: match text.as_slice() {
            [length, hash] => TextPrint { length: *length, hash: *hash },
            _ => TextPrint::default(),
        },
        begun: document.count("begun")?,
        blocks: document.list("blocks", |json| read_block(&object(json)?))?,
        calls: document.list("calls", |json| read_call(&object(json)?))?,
        answered: document.list("answered", read_text)?,
        has_asked: document.flag("asked")?,
        is_confirmed: document.flag("confirmed")?,
    })
}

fn write_block(block: &Block) -> Object {
    let mut document = Writer::default();
    document.text("kind", block.kind.name());
    document.text("java_reply", &block.java_reply);
    document.text("java_block", &block.java_block);
    document.text("id", &block.id);
    document.text("media_type", &block.media_type);
    document.flag("open", block.is_open);
    document.flag("open_in_java", block.is_open_in_java);
    document.object
}

fn read_block(block: &Object) -> Result<Block, DecodeError> {
    let document = Reader(block);
    let kind = |word: &str| BlockKind::ALL.into_iter().find(|kind| kind.name() == word);
    Ok(Block {
        kind: document.optional("kind", |json| word(json, kind))?.ok_or_else(|| DecodeError::missing("kind"))?,
        java_reply: document.text("java_reply")?,
        java_block: document.text("java_block")?,
        id: document.text("id")?,
        media_type: document.text("media_type")?,
        is_open: document.flag("open")?,
        is_open_in_java: document.flag("open_in_java")?,
    })
}

fn write_call(call: &Call) -> Object {
    let mut document = Writer::default();
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
    let document = Reader(call);
    let stage = |word: &str| [Stage::Held, Stage::Open].into_iter().find(|stage| stage_name(*stage) == word);
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
        stage: document.optional("stage", |json| word(json, stage))?.unwrap_or_default(),
        held: document.list("held", read_event)?,
        running_end: document.optional("running_end", read_event)?,
    })
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::None => "",
        Stage::Held => "held",
        Stage::Open => "open",
    }
}

fn event_json(event: &AgentEvent) -> Json {
    Json::parse(&event.to_json()).unwrap_or_else(|_| Json::null())
}

/// An object that leaves out what is empty.
#[derive(Debug, Default)]
struct Writer {
    object: Object,
}

impl Writer {
    fn text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.object.insert(name, text);
        }
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.object.insert(name, true);
        }
    }

    fn event(&mut self, name: &str, event: Option<&AgentEvent>) {
        if let Some(event) = event {
            self.object.insert(name, event_json(event));
        }
    }

    fn list<T>(&mut self, name: &str, items: &[T], write: impl Fn(&T) -> Json) {
        if !items.is_empty() {
            self.object.insert(name, items.iter().map(write).collect::<Vec<_>>());
        }
    }
}

/// An object in which what is missing is empty.
#[derive(Debug, Clone, Copy)]
struct Reader<'o>(&'o Object);

impl Reader<'_> {
    fn optional<T>(
        self,
        name: &str,
        read: impl FnOnce(&Json) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        self.0.get(name).map(read).transpose().map_err(|error| error.within(name))
    }

    fn text(self, name: &str) -> Result<String, DecodeError> {
        self.optional(name, read_text).map(Option::unwrap_or_default)
    }

    fn count(self, name: &str) -> Result<u64, DecodeError> {
        self.optional(name, read_count).map(Option::unwrap_or_default)
    }

    fn flag(self, name: &str) -> Result<bool, DecodeError> {
        let read = |json: &Json| json.as_str().parse().map_err(|_| wrong("a boolean"));
        self.optional(name, read).map(Option::unwrap_or_default)
    }

    fn list<T>(self, name: &str, read: impl Fn(&Json) -> Result<T, DecodeError>) -> Result<Vec<T>, DecodeError> {
        let items = self.optional(name, |json| json.to_list().ok_or_else(|| wrong("a list")))?.unwrap_or_default();
        let read = |(index, json): (usize, &Json)| read(json).map_err(|error| error.at_index(index).within(name));
        items.iter().enumerate().map(read).collect()
    }
}

fn read_text(json: &Json) -> Result<String, DecodeError> {
    json.to_text().ok_or_else(|| wrong("a string"))
}

fn read_count(json: &Json) -> Result<u64, DecodeError> {
    json.as_str().parse().map_err(|_| wrong("a whole number"))
}

fn read_event(json: &Json) -> Result<AgentEvent, DecodeError> {
    Event::from_json(json.as_str()).map(Event::into_owned)
}

fn object(json: &Json) -> Result<Object, DecodeError> {
    json.to_object().ok_or_else(|| wrong("an object"))
}

fn word<T>(json: &Json, from_word: impl Fn(&str) -> Option<T>) -> Result<T, DecodeError> {
    let word = read_text(json)?;
    from_word(&word).ok_or_else(|| DecodeError::new(DecodeErrorKind::UnknownValue, format!("unknown value {word:?}")))
}

fn wrong(expected: &str) -> DecodeError {
    DecodeError::new(DecodeErrorKind::WrongType, format!("expected {expected}"))
}
