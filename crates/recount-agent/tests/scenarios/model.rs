//! The model of a scenario.

use recount_agent::scripted::{Answer, Piece, ScriptedModel};
use recount_message::{Base64Source, DataBlock, ErrorType, Json, Object, UrlSource};
use recount_model::decode::{CallError, CallErrorKind};
use serde_json::{Map, Value};

use crate::gates::Gates;
use crate::script::{Block, Call, Chunk};

pub(crate) fn model(name: &str, script: &[Call], gates: &Gates) -> ScriptedModel {
    let model = ScriptedModel::new().named(name);
    script.iter().fold(model, |model, call| model.answer(answer(call, gates)))
}

fn answer(call: &Call, gates: &Gates) -> Answer {
    match call {
        Call::Text(text) => {
            let (begin, rest) = text.split_at(4);
            Answer::new().chunk([text_piece(begin)]).chunk([text_piece(rest)]).tokens(30, 5)
        }
        Call::Fails { fails } => Answer::new().fail(fails),
        Call::Whole { whole, usage } => {
            // A response in one piece contains its blocks in order.
            let answer = whole.iter().fold(Answer::new(), |answer, block| answer.chunk([piece(block)]));
            with_usage(answer, *usage)
        }
        Call::Chunks { chunks, usage, waits } => {
            let begin = waits.iter().fold(Answer::new(), |answer, gate| answer.wait(&gates.get(gate)));
            with_usage(chunks.iter().fold(begin, |answer, chunk| add(answer, chunk, gates)), *usage)
        }
    }
}

fn add(answer: Answer, chunk: &Chunk, gates: &Gates) -> Answer {
    match chunk {
        Chunk::Blocks(blocks) | Chunk::Last { last: blocks } => answer.chunk(blocks.iter().map(piece)),
        Chunk::Gate { gate } => answer.wait(&gates.get(gate)),
        Chunk::Breaks { breaks } => {
            answer.fail_with(CallError::new(CallErrorKind::Unreachable, ErrorType::Connection, breaks))
        }
    }
}

fn with_usage(answer: Answer, usage: Option<(u64, u64)>) -> Answer {
    usage.into_iter().fold(answer, |answer, (input, output)| answer.tokens(input, output))
}

fn text_piece(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

fn piece(block: &Block) -> Piece {
    match block {
        Block::Text { text } => text_piece(text),
        Block::Thinking { thinking, extra } => Piece::Thinking { thinking: thinking.clone(), extra: object(extra) },
        Block::Call { call, tool, input } => Piece::Call { id: call.clone(), name: tool.clone(), input: input.clone() },
        Block::Data { .. } | Block::Url { .. } => Piece::Data(data(block).unwrap()),
    }
}

/// Returns the data of a block. `None` if it has none.
pub(crate) fn data(block: &Block) -> Option<DataBlock> {
    let (made, id, name) = match block {
        Block::Data { data, media_type, id, name } => {
            (DataBlock::new(Base64Source::from_base64(data, media_type)), id, name)
        }
        Block::Url { url, media_type, id, name } => (DataBlock::new(UrlSource::unchecked(url, media_type)), id, name),
        Block::Call { .. } | Block::Thinking { .. } | Block::Text { .. } => return None,
    };
    let made = made.with_id(id);
    Some(match name {
        Some(name) => made.with_name(name),
        None => made,
    })
}

pub(crate) fn object(map: &Map<String, Value>) -> Object {
    Object::parse(&serde_json::to_string(map).unwrap()).unwrap()
}

pub(crate) fn json(value: &Value) -> Json {
    Json::parse(&value.to_string()).unwrap()
}
