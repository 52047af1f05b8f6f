//! What a stream must remember, as a document.

use recount_message::{DecodeError, DecodeErrorKind, Json, Object};

use super::Java1Stream;
use super::model_call::{Kind, ModelCall, Prose};
use super::pieces::Pieces;
use super::reply::{Call, Reply, Said};

/// The version of the document.
const VERSION: u64 = 1;

impl Java1Stream {
    /// What must be kept in order to go on later.
    pub(crate) fn state(&self) -> Object {
        let mut state = Object::from([("version", VERSION)]);
        put(&mut state, "time", &self.time);
        state.insert("count", self.count);
        flag(&mut state, "repeats", self.repeats);
        list(&mut state, "ended", self.ended.iter().map(|id| Json::from(id.as_str())));
        if let Some(reply) = &self.reply {
            state.insert("reply", write_reply(reply));
        }
        state
    }

    /// Goes on from what was kept.
    ///
    /// # Errors
    ///
    /// When the document is not one that [`state`](Self::state) has written.
    pub(crate) fn from_state(state: &Object) -> Result<Self, DecodeError> {
        if count(state, "version")? != VERSION {
            return Err(DecodeError::new(DecodeErrorKind::UnknownValue, "unknown version").within("version"));
        }
        Ok(Self {
            reply: optional(state, "reply", read_reply)?,
            ended: items(state, "ended", |id| id.to_text().ok_or_else(|| wrong("a string")))?,
            time: text(state, "time")?,
            count: count(state, "count")?,
            repeats: is(state, "repeats"),
        })
    }
}

fn write_reply(reply: &Reply) -> Object {
    let mut state = Object::new();
    put(&mut state, "id", &reply.id);
    put(&mut state, "name", &reply.name);
    state.insert("blocks", reply.blocks);
    list(&mut state, "calls", reply.calls.iter().map(|call| write_call(call).into()));
    if let Some(call) = &reply.model_call {
        state.insert("model_call", write_model_call(call));
    }
    put(&mut state, "last", &reply.last.message_id);
    list(&mut state, "texts", reply.last.texts.iter().map(|text| Json::from(text.as_str())));
    flag(&mut state, "waits", reply.waits);
    flag(&mut state, "summary", reply.is_summary);
    state
}

fn read_reply(state: &Object) -> Result<Reply, DecodeError> {
    Ok(Reply {
        id: text(state, "id")?,
        name: text(state, "name")?,
        blocks: count(state, "blocks")?,
        calls: items(state, "calls", |call| read_call(&object(call)?))?,
        model_call: optional(state, "model_call", read_model_call)?,
        last: Said {
            message_id: text(state, "last")?,
            texts: items(state, "texts", |text| text.to_text().ok_or_else(|| wrong("a string")))?,
        },
        waits: is(state, "waits"),
        is_summary: is(state, "summary"),
    })
}

fn write_call(call: &Call) -> Object {
    let mut state = Object::new();
    put(&mut state, "given", &call.given);
    put(&mut state, "id", &call.id);
    put(&mut state, "name", &call.name);
    flag(&mut state, "ended", call.has_ended);
    flag(&mut state, "answered", call.is_answered);
    flag(&mut state, "submitted", call.is_submitted);
    put(&mut state, "so_far", &call.so_far);
    state
}

fn read_call(state: &Object) -> Result<Call, DecodeError> {
    Ok(Call {
        given: text(state, "given")?,
        id: text(state, "id")?,
        name: text(state, "name")?,
        has_ended: is(state, "ended"),
        is_answered: is(state, "answered"),
        is_submitted: is(state, "submitted"),
        so_far: text(state, "so_far")?,
    })
}

fn write_model_call(call: &ModelCall) -> Object {
    let mut state = Object::new();
    put(&mut state, "message_id", &call.message_id);
    for (name, prose) in [("text", &call.text), ("thinking", &call.thinking)] {
        if let Some(prose) = prose {
            let mut written = write_pieces(&prose.pieces);
            put(&mut written, "id", &prose.id);
            if !prose.extra.is_empty() {
                written.insert("extra", prose.extra.clone());
            }
            state.insert(name, written);
        }
    }
    match call.open {
        Some(Kind::Text) => state.insert("open", "text"),
        Some(Kind::Thinking) => state.insert("open", "thinking"),
        None => {}
    }
    list(
        &mut state,
        "calls",
        call.calls.iter().map(|(index, pieces)| {
            let mut written = write_pieces(pieces);
            written.insert("index", *index as u64);
            written.into()
        }),
    );
    state
}

fn read_model_call(state: &Object) -> Result<ModelCall, DecodeError> {
    let prose = |state: &Object| {
        let extra = state.get("extra").map(object).transpose()?.unwrap_or_default();
        Ok(Prose { id: text(state, "id")?, pieces: read_pieces(state)?, extra })
    };
    Ok(ModelCall {
        message_id: text(state, "message_id")?,
        text: optional(state, "text", prose)?,
        thinking: optional(state, "thinking", prose)?,
        open: match &*text(state, "open")? {
            "text" => Some(Kind::Text),
            "thinking" => Some(Kind::Thinking),
            _ => None,
        },
        calls: items(state, "calls", |call| {
            let call = object(call)?;
            let index = usize::try_from(count(&call, "index")?).unwrap_or(usize::MAX);
            Ok((index, read_pieces(&call)?))
        })?,
    })
}

fn write_pieces(pieces: &Pieces) -> Object {
    let mut state = Object::new();
    put(&mut state, "told", &pieces.told);
    for (name, rest) in [("going_on", &pieces.going_on), ("repeating", &pieces.repeating)] {
        if let Some(rest) = rest {
            state.insert(name, rest.as_str());
        }
    }
    state
}

fn read_pieces(state: &Object) -> Result<Pieces, DecodeError> {
    let rest = |name: &str| state.get(name).map(|rest| rest.to_text().ok_or_else(|| wrong("a string"))).transpose();
    Ok(Pieces { told: text(state, "told")?, going_on: rest("going_on")?, repeating: rest("repeating")? })
}

fn put(state: &mut Object, name: &str, text: &str) {
    if !text.is_empty() {
        state.insert(name, text);
    }
}

fn flag(state: &mut Object, name: &str, is: bool) {
    if is {
        state.insert(name, true);
    }
}

fn list(state: &mut Object, name: &str, items: impl Iterator<Item = Json>) {
    let items: Vec<Json> = items.collect();
    if !items.is_empty() {
        state.insert(name, items);
    }
}

fn wrong(expected: &str) -> DecodeError {
    DecodeError::new(DecodeErrorKind::WrongType, format!("expected {expected}"))
}

fn text(state: &Object, name: &str) -> Result<String, DecodeError> {
    let Some(json) = state.get(name) else { return Ok(String::new()) };
    json.to_text().ok_or_else(|| wrong("a string").within(name))
}

fn count(state: &Object, name: &str) -> Result<u64, DecodeError> {
    let Some(json) = state.get(name) else { return Ok(0) };
    json.as_str().parse().map_err(|_| wrong("a whole number").within(name))
}

fn is(state: &Object, name: &str) -> bool {
    state.get(name).is_some_and(|json| json.as_str() == "true")
}

fn object(json: &Json) -> Result<Object, DecodeError> {
    json.to_object().ok_or_else(|| wrong("an object"))
}

fn optional<T>(
    state: &Object,
    name: &str,
    read: impl Fn(&Object) -> Result<T, DecodeError>,
) -> Result<Option<T>, DecodeError> {
    let Some(json) = state.get(name) else { return Ok(None) };
    object(json).and_then(|object| read(&object)).map(Some).map_err(|error| error.within(name))
}

fn items<T>(state: &Object, name: &str, read: impl Fn(&Json) -> Result<T, DecodeError>) -> Result<Vec<T>, DecodeError> {
    let Some(json) = state.get(name) else { return Ok(Vec::new()) };
    let items = json.to_list().ok_or_else(|| wrong("a list").within(name))?;
    items.iter().map(read).collect::<Result<_, _>>().map_err(|error| error.within(name))
}
