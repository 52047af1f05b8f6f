//! Two agents in one conversation, distinguished by name in messages and in a stream of events.
//!
//! ```text
//! cargo run -p recount --example multi_agent_names
//! ```

use std::error::Error;
use std::io::{self, Write};

use recount::{CountingIds, Fold, Msg, ReplyEnd, ReplyWriter, Role, Stamps, SteppingClock};

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}

pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    // Both have the role assistant. Only the names differ.
    let discussion =
        [Msg::assistant("AgentA", "I think we should do this..."), Msg::assistant("AgentB", "I disagree because...")];
    for message in &discussion {
        assert_eq!(message.role(), Role::Assistant);
        writeln!(out, "[{}]: {}", message.name(), message.text_or_empty())?;
    }

    // A renamed copy keeps its id and its content.
    let [of_a, _] = &discussion;
    let forwarded = of_a.to_builder().name("Moderator").build()?;
    assert_eq!((forwarded.id(), forwarded.content()), (of_a.id(), of_a.content()));
    writeln!(out, "[{}]: {}", forwarded.name(), forwarded.text_or_empty())?;

    // Replies can be interleaved. Events belong to a reply by id, and each start has the name of the agent.
    let (mut from_a, mut from_b) = (Vec::new(), Vec::new());
    let stamps = |prefix| Stamps::new(CountingIds::new(prefix), SteppingClock::default());
    let mut a = ReplyWriter::start(|event| from_a.push(event), stamps("a"), "session-1", "AgentA");
    a.text("View ");
    a.text("A");
    a.end(ReplyEnd::completed());
    let mut b = ReplyWriter::start(|event| from_b.push(event), stamps("b"), "session-1", "AgentB");
    b.text("View ");
    b.text("B");
    b.end(ReplyEnd::completed());

    let mut fold = Fold::new();
    for (of_a, of_b) in from_a.iter().zip(&from_b) {
        fold.extend([of_a, of_b]);
    }
    for message in fold.messages() {
        writeln!(out, "[{}]: {}", message.name(), message.text_or_empty())?;
    }
    Ok(())
}
