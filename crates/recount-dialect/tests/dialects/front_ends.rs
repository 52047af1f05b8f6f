//! Frames for front ends depend only on the fold, are always valid, and match the recorded vectors.
//! `conformance/frontends` tests them with the libraries themselves.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use recount_dialect::FrontEnd;
use recount_message::{Fold, Json, Object, Reason};
use recount_testkit::front_end_frames::scenario;
use recount_testkit::strategies::streams;

const SESSION: &str = "s";

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Every frame is an object with a type. An encoder gives the same frames after it was resumed from a checkpoint, and
    /// after it dropped the complete messages before the oldest open reply.
    #[test]
    fn frames_depend_only_on_the_fold(stream in streams()) {
        let mut whole = Fold::new();
        let mut truncated = Fold::new();
        for event in stream.iter() {
            let resumed = Fold::resume(whole.checkpoint());
            let mut after = whole.clone();
            // A log rejects events for a complete message.
            let is_late = matches!(after.apply(event).reason(), Some(Reason::MessageExists(_) | Reason::ReplyEnded(_) | Reason::NotAReply(_)));
            for front_end in FrontEnd::ALL {
                let frames = front_end.frames(SESSION, &whole, event);
                assert_eq!(&front_end.frames(SESSION, &resumed, event), &frames);
                if !is_late {
                    assert_eq!(&front_end.frames(SESSION, &truncated, event), &frames);
                }
                for frame in frames.iter().chain(&front_end.prelude(SESSION, &whole)) {
                    let object = Object::parse(frame).unwrap_or_else(|error| panic!("{front_end}: {error}: {frame}"));
                    assert!(object.get("type").and_then(Json::as_str).map(str::to_owned).is_some(), "{front_end}: {frame}");
                    assert!(!frame.contains('\n'));
                }
                assert_eq!(front_end.resume_frames(SESSION, &truncated), front_end.resume_frames(SESSION, &whole));
            }
            whole = after;
            let _ = truncated.apply(event);
            truncated.take_ended();
        }
    }
}

/// The frames of recorded agent streams for each front end.
#[test]
fn frames_of_recorded_streams_match_vectors() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let traces = fs::read_to_string(root.join("traces/agent.jsonl")).unwrap();
    for front_end in FrontEnd::ALL {
        let mut lines = String::new();
        for line in traces.lines() {
            let (case, events) = scenario(line).unwrap();
            let mut fold = Fold::new();
            let mut frames = Vec::new();
            for event in &events {
                frames.extend(front_end.frames(SESSION, &fold, event));
                let _ = fold.apply(event);
            }
            writeln!(lines, "{{\"case\":{},\"frames\":[{}]}}", Json::from(case), frames.join(",")).unwrap();
        }
        let path = root.join(format!("vectors/frontends/{front_end}.jsonl"));
        if std::env::var_os("UPDATE_VECTORS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &lines).unwrap();
        }
        let recorded = fs::read_to_string(&path).unwrap_or_default();
        for (found, expected) in lines.lines().zip(recorded.lines()) {
            assert_eq!(found, expected, "{front_end}; `UPDATE_VECTORS=1` updates the vectors");
        }
        assert_eq!(lines.lines().count(), recorded.lines().count(), "{front_end}");
    }
}
