//! What a front end is told of a stream, wherever its reader joins or comes back: for the library itself to judge.

use recount_dialect::FrontEnd;
use recount_message::{AgentEvent, Event, Fold, Json, Object};

/// A line with the frames of each event, and for every place what a reader gets first who joins or comes back there.
pub fn told(front_end: FrontEnd, case: &str, events: &[AgentEvent]) -> String {
    const SESSION: &str = "s";
    let mut fold = Fold::new();
    let (mut steps, mut preludes, mut resumed) = (Vec::new(), Vec::new(), Vec::new());
    let mut look = |fold: &Fold| {
        preludes.push(list(&front_end.prelude(SESSION, fold)));
        resumed.push(list(&front_end.resumed(SESSION, fold)));
    };
    for event in events {
        look(&fold);
        steps.push(list(&front_end.frames(SESSION, &fold, event)));
        let _ = fold.apply(event);
    }
    look(&fold);
    let mut line = Object::from([("case", case)]);
    line.insert("steps", steps);
    line.insert("preludes", preludes);
    line.insert("resumed", resumed);
    line.to_json()
}

/// A recorded scenario: its name and its events, with the inputs where it has them.
///
/// # Errors
///
/// When the line is no scenario.
pub fn scenario(line: &str) -> Result<(String, Vec<AgentEvent>), recount_message::DecodeError> {
    let scenario = Object::parse(line)?;
    let name = scenario.get("case").and_then(Json::to_text).unwrap_or_default();
    let events = scenario.get("wire").filter(|wire| !wire.is_null()).or_else(|| scenario.get("events"));
    let events = events.and_then(Json::to_list).unwrap_or_default();
    let read = |event: &Json| Event::from_json(event.as_str()).map(Event::into_owned);
    Ok((name, events.iter().map(read).collect::<Result<_, _>>()?))
}

fn list(frames: &[String]) -> Json {
    frames.iter().map(|frame| Json::from(frame.as_str())).collect::<Vec<_>>().into()
}
