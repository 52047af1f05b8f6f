//! The frames that a front end receives for a stream, for every position at which a reader can join or reconnect.

use recount_dialect::FrontEnd;
use recount_message::{AgentEvent, Event, Fold, Json, Object};

/// Returns one JSON line with the frames of each event, and for every position the frames that a joining and a reconnecting
/// reader receive first.
pub fn frames_line(front_end: FrontEnd, case: &str, events: &[AgentEvent]) -> String {
    const SESSION: &str = "s";
    let mut fold = Fold::new();
    let (mut steps, mut preludes, mut resumed) = (Vec::new(), Vec::new(), Vec::new());
    let mut record = |fold: &Fold| {
        preludes.push(list(&front_end.prelude(SESSION, fold)));
        resumed.push(list(&front_end.resume_frames(SESSION, fold)));
    };
    for event in events {
        record(&fold);
        steps.push(list(&front_end.frames(SESSION, &fold, event)));
        let _ = fold.apply(event);
    }
    record(&fold);
    let mut line = Object::from([("case", case)]);
    line.insert("steps", steps);
    line.insert("preludes", preludes);
    line.insert("resumed", resumed);
    line.to_json()
}

/// Parses a recorded scenario and returns its name and its events, including the inputs if they were recorded.
///
/// # Errors
///
/// Returns an error if the line is not a JSON object or holds an invalid event.
pub fn scenario(line: &str) -> Result<(String, Vec<AgentEvent>), recount_message::DecodeError> {
    let scenario = Object::parse(line)?;
    let name = scenario.get("case").and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
    let events = scenario.get("wire").filter(|wire| !wire.is_null()).or_else(|| scenario.get("events"));
    let events = events.and_then(Json::to_array).unwrap_or_default();
    let read = |event: &Json| Event::from_json(event.as_raw()).map(Event::into_owned);
    Ok((name, events.iter().map(read).collect::<Result<_, _>>()?))
}

fn list(frames: &[String]) -> Json {
    frames.iter().map(|frame| Json::from(frame.as_str())).collect::<Vec<_>>().into()
}
