//! Strategies for `proptest`, which shrink what they find.

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
use crate::{Reach, illegal, json_text, legal, messages};

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

/// Streams that keep the rules. They shrink by losing replies, rounds and blocks, and keep the rules all the while.
pub fn legal_streams() -> impl Strategy<Value = Stream> {
    Shrinking(|seed| {
        let events = with_parts(Reach::Recount, seed);
        let losses = losses_of_parts(&events);
        Shrunk { events: events.into_iter().map(|(event, _)| event).collect(), losses }
    })
}

/// Streams that break the rules. They shrink by losing events.
pub fn illegal_streams() -> impl Strategy<Value = Stream> {
    Shrinking(|seed| {
        let events = illegal(seed);
        let losses = losses_of_events(events.len());
        Shrunk { events, losses }
    })
}

/// Streams of a few ids in every order.
pub fn step_streams() -> impl Strategy<Value = Stream> {
    steps_of(48).prop_map(|bytes| Stream(steps::stream(&bytes)))
}

/// Any stream.
pub fn streams() -> impl Strategy<Value = Stream> {
    prop_oneof![1 => legal_streams(), 2 => illegal_streams(), 4 => step_streams()]
}

/// A theme, and steps that can be lost one by one.
fn steps_of(most: usize) -> impl Strategy<Value = Vec<u8>> {
    (any::<u8>(), vec(any::<Step>(), 0..most)).prop_map(|(theme, steps)| {
        let mut bytes = vec![theme];
        bytes.extend(steps.as_flattened());
        bytes
    })
}

/// A message, which need not be one that a stream could have made, and events for it.
pub fn messages_and_events() -> impl Strategy<Value = (Msg, Stream)> {
    let message = vec(any::<[u8; 2]>(), 0..8).prop_map(|blocks| steps::message(&blocks));
    let events = steps_of(24).prop_map(|bytes| Stream(steps::stream(&bytes)));
    (message, events)
}

/// Messages of every role.
pub fn any_messages() -> impl Strategy<Value = Vec<Msg>> {
    any::<u64>().prop_map(messages)
}

/// JSON, what almost is JSON, and what nests too deep.
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

/// The JSON of events, messages and checkpoints, of which some is broken.
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

/// Makes a stream from a seed.
#[derive(Debug)]
struct Shrinking(fn(u64) -> Shrunk);

/// A stream, and sets of events that it can do without, the largest first.
#[derive(Debug)]
struct Shrunk {
    events: Vec<AgentEvent>,
    losses: Vec<Vec<usize>>,
}

impl Strategy for Shrinking {
    type Tree = ShrinkingTree;
    type Value = Stream;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let Shrunk { events, losses } = self.0(any::<u64>().new_tree(runner)?.current());
        Ok(ShrinkingTree { is_lost: vec![false; events.len()], events, losses, next: 0, last: Vec::new() })
    }
}

#[derive(Debug)]
struct ShrinkingTree {
    events: Vec<AgentEvent>,
    is_lost: Vec<bool>,
    losses: Vec<Vec<usize>>,
    next: usize,
    /// What the last step took away, in case that it has to be given back.
    last: Vec<usize>,
}

impl ValueTree for ShrinkingTree {
    type Value = Stream;

    fn current(&self) -> Stream {
        let kept = self.events.iter().zip(&self.is_lost).filter(|(_, is_lost)| !**is_lost);
        Stream(kept.map(|(event, _)| event.clone()).collect())
    }

    fn simplify(&mut self) -> bool {
        while let Some(loss) = self.losses.get(self.next) {
            self.next += 1;
            self.last = loss.iter().copied().filter(|&at| !self.is_lost[at]).collect();
            for &at in &self.last {
                self.is_lost[at] = true;
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
            self.is_lost[at] = false;
        }
        !given_back.is_empty()
    }
}

/// Halves, quarters and so on, down to single events, twice: the loss of one event often allows that of another.
fn losses_of_events(count: usize) -> Vec<Vec<usize>> {
    let mut losses = Vec::new();
    let mut size = count;
    while size > 0 {
        losses.extend((0..count).collect::<Vec<_>>().chunks(size).map(<[usize]>::to_vec));
        size /= 2;
    }
    losses.extend((0..count).map(|at| vec![at]));
    losses
}

/// The parts of a legal stream, replies before rounds before blocks.
fn losses_of_parts(events: &[(AgentEvent, Parts)]) -> Vec<Vec<usize>> {
    let mut losses = Vec::new();
    for level in 0..3 {
        let mut parts: Vec<u32> = events.iter().map(|(_, parts)| parts[level]).filter(|part| *part != 0).collect();
        parts.sort_unstable();
        parts.dedup();
        losses.extend(parts.into_iter().map(|part| {
            let is_in = |at: &usize| events[*at].1[level] == part;
            (0..events.len()).filter(is_in).collect::<Vec<_>>()
        }));
    }
    losses
}
