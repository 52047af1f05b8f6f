//! Random model output.

use recount_agent::ChatModel;
use recount_agent::scripted::{Answer, FnModel, Piece, ScriptedModel};
use recount_message::{DataBlock, ErrorType, Object};
use recount_model::decode::{CallError, CallErrorKind};

use crate::random::Random;
use crate::tools::NAMES;

/// Arguments, most of which are valid for a tool.
const INPUTS: &[&str] = &["{}", "{}", r#"{"x":"1"}"#, r#"{"x":1}"#, "", r#"{"x": "bro"#, "[1]", "nonsense"];

/// A model that returns a summary or fails, depending on the length of its input.
pub(crate) fn summariser() -> impl ChatModel {
    FnModel::new(|messages, _| {
        let length: usize = messages.iter().map(|message| message.text_or_empty().len()).sum();
        match length % 5 {
            0 => ScriptedModel::new().fails("the summary fails on purpose"),
            _ => ScriptedModel::new().says("The earlier conversation."),
        }
    })
}

pub(crate) fn script(random: &mut Random) -> ScriptedModel {
    let answers = random.below(14);
    (0..answers).fold(ScriptedModel::new(), |model, _| model.answer(answer(random)))
}

fn answer(random: &mut Random) -> Answer {
    let mut answer = Answer::new();
    for _ in 0..random.below(6) {
        answer = answer.chunk((0..random.below(3)).map(|_| piece(random)));
        if random.chance(4) {
            let kind = *random.pick(&[CallErrorKind::Provider, CallErrorKind::Unreachable, CallErrorKind::Truncated]);
            return answer.fail_with(CallError::new(kind, ErrorType::Upstream, "the model fails on purpose"));
        }
    }
    if random.chance(80) { answer.tokens(10, 5) } else { answer }
}

fn piece(random: &mut Random) -> Piece {
    match random.below(10) {
        0 | 1 => Piece::Text("some text ".to_owned()),
        2 => Piece::Thinking { thinking: "a thought ".to_owned(), extra: Object::from([("signature", "sig")]) },
        3 => Piece::Data(DataBlock::from_bytes(b"GIF89a").with_id("picture")),
        _ => call(random),
    }
}

fn call(random: &mut Random) -> Piece {
    let name = (*random.pick(NAMES)).to_owned();
    let input = if name == "helper" { r#"{"task":"Help."}"# } else { *random.pick(INPUTS) }.to_owned();
    // Few ids, so that calls reuse them.
    Piece::Call { id: format!("c{}", random.below(5)), name, input }
}
