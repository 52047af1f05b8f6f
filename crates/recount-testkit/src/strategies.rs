//! Strategies for `proptest`, with shrinking.

use std::fmt;
use std::ops::Deref;

use proptest::collection::vec;
use proptest::prelude::{Just, any, prop_oneof};
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use recount_message::{AgentEvent, Fold, Msg};

use crate::legal::with_parts;
use crate::random::Random;
use crate::steps::{self, Step};
use crate::stream::Parts;
use crate::{Profile, illegal, json_text, legal, messages};

/// A stream, printed as one JSON text per line.
#[derive(Clone)]
pub struct Stream(Vec<AgentEvent>);

impl Deref for Stream {
    type Target = Vec<AgentEvent>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} events:", self.0.len())?;
        self.0.iter().try_for_each(|event| writeln!(f, "{}", event.to_json()))
    }
}

/// Generates legal streams. Shrinking removes replies, rounds and blocks, so that the stream stays legal.
pub fn legal_streams() -> impl Strategy<Value = Stream> {
    ShrinkingStreams(|seed| {
        let events = with_parts(Profile::Recount, seed);
        let removals = part_removals(&events);
        ShrinkableStream { events: events.into_iter().map(|(event, _)| event).collect(), removals }
    })
}

/// Generates illegal streams. Shrinking removes events.
pub fn illegal_streams() -> impl Strategy<Value = Stream> {
    ShrinkingStreams(|seed| {
        let events = illegal(seed);
        let removals = event_removals(events.len());
        ShrinkableStream { events, removals }
    })
}

/// Generates streams with few ids in any order.
pub fn step_streams() -> impl Strategy<Value = Stream> {
    step_bytes(48).prop_map(|bytes| Stream(steps::stream(&bytes)))
}

/// Generates any stream.
pub fn streams() -> impl Strategy<Value = Stream> {
    prop_oneof![1 => legal_streams(), 2 => illegal_streams(), 4 => step_streams()]
}

/// Generates an event mix and steps. Shrinking removes single steps.
fn step_bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    (any::<u8>(), vec(any::<Step>(), 0..most)).prop_map(|(theme, steps)| {
        let mut bytes = vec![theme];
        bytes.extend(steps.as_flattened());
        bytes
    })
}

/// Generates a message and events for it. The message need not be the result of a legal stream.
pub fn messages_and_events() -> impl Strategy<Value = (Msg, Stream)> {
    let message = vec(any::<[u8; 2]>(), 0..8).prop_map(|blocks| steps::message(&blocks));
    let events = step_bytes(24).prop_map(|bytes| Stream(steps::stream(&bytes)));
    (message, events)
}

/// Generates messages of every role.
pub fn any_messages() -> impl Strategy<Value = Vec<Msg>> {
    any::<u64>().prop_map(messages)
}

/// Generates valid JSON, invalid JSON, and JSON that is nested too deeply.
pub fn json_texts() -> impl Strategy<Value = String> {
    let sound = || any::<u64>().prop_map(|seed| json_text::json_text(&mut Random::new(seed)));
    let unsound = any::<u64>().prop_map(|seed| {
        let mut random = Random::new(seed);
        let text = json_text::json_text(&mut random);
        json_text::mutated(&mut random, &text)
    });
    let deep =
        (any::<u64>(), 120_usize..145).prop_map(|(seed, depth)| json_text::nested(&mut Random::new(seed), depth));
    prop_oneof![4 => sound(), 4 => unsound, 1 => deep, 1 => Just(String::new()), 2 => "\\PC{0,20}"]
}

/// Generates the JSON of events, messages and checkpoints, sometimes invalid.
pub fn document_texts() -> impl Strategy<Value = String> {
    (any::<u64>(), 0..3, any::<bool>()).prop_map(|(seed, what, is_broken)| {
        let mut random = Random::new(seed);
        let text = match what {
            0 => random.pick_ref(&legal(seed)).to_json(),
            1 => random.pick_ref(&messages(seed)).to_json(),
            _ => {
                let mut fold = Fold::new();
                fold.extend(legal(seed).iter().take(20));
                fold.checkpoint().to_json()
            }
        };
        if is_broken { json_text::mutated(&mut random, &text) } else { text }
    })
}

/// Generates a stream from a seed.
#[derive(Debug)]
struct ShrinkingStreams(fn(u64) -> ShrinkableStream);

/// A stream, and the sets of events that shrinking may remove, largest first.
#[derive(Debug)]
struct ShrinkableStream {
    events: Vec<AgentEvent>,
    removals: Vec<Vec<usize>>,
}

impl Strategy for ShrinkingStreams {
    type Tree = ShrinkingStreamTree;
    type Value = Stream;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let ShrinkableStream { events, removals } = self.0(any::<u64>().new_tree(runner)?.current());
        Ok(ShrinkingStreamTree { is_removed: vec![false; events.len()], events, removals, next: 0, last: Vec::new() })
    }
}

#[derive(Debug)]
struct ShrinkingStreamTree {
    events: Vec<AgentEvent>,
    is_removed: Vec<bool>,
    removals: Vec<Vec<usize>>,
    next: usize,
    /// The events that the last step removed. They are restored if the test passes without them.
    last: Vec<usize>,
}

impl ValueTree for ShrinkingStreamTree {
    type Value = Stream;

    fn current(&self) -> Stream {
        let kept = self.events.iter().zip(&self.is_removed).filter(|(_, is_removed)| !**is_removed);
        Stream(kept.map(|(event, _)| event.clone()).collect())
    }

    fn simplify(&mut self) -> bool {
        while let Some(removal) = self.removals.get(self.next) {
            self.next += 1;
            self.last = removal.iter().copied().filter(|&at| !self.is_removed[at]).collect();
            for &at in &self.last {
                self.is_removed[at] = true;
            }
            if !self.last.is_empty() {
                return true;
            }
        }
        false
    }

    fn complicate(&mut self) -> bool {
        let given_back = std::mem::take(&mut self.last);
        for &at in &given_back {
            self.is_removed[at] = false;
        }
        !given_back.is_empty()
    }
}

/// Returns halves, quarters and so on, down to single events. Single events are tried twice, because removing one often
/// allows removing another.
fn event_removals(count: usize) -> Vec<Vec<usize>> {
    let mut removals = Vec::new();
    let mut size = count;
    while size > 0 {
        removals.extend((0..count).collect::<Vec<_>>().chunks(size).map(<[usize]>::to_vec));
        size /= 2;
    }
    removals.extend((0..count).map(|at| vec![at]));
    removals
}

/// Returns the parts of a legal stream: replies, then rounds, then blocks.
fn part_removals(events: &[(AgentEvent, Parts)]) -> Vec<Vec<usize>> {
    let mut removals = Vec::new();
    for level in 0..3 {
        let mut parts: Vec<u32> = events.iter().map(|(_, parts)| parts[level]).filter(|part| *part != 0).collect();
        parts.sort_unstable();
        parts.dedup();
        removals.extend(parts.into_iter().map(|part| {
            let is_in = |at: &usize| events[*at].1[level] == part;
            (0..events.len()).filter(is_in).collect::<Vec<_>>()
        }));
    }
    removals
}
