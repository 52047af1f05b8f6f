//! A host that stops in the middle of a reply, and a second one that resumes it.

use std::sync::Arc;

use recount_agent::Agent;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_host::{Host, HostOptions, OnBusy, SingleAgent};
use recount_log::{Frame, Log, Options, Start};
use recount_message::{Event, EventKind, Fold, Msg};

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout, reason = "the example prints what happens")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let log = Log::open(directory.path(), Options::default())?;
    let session = log.create("story".parse()?).await?;

    // A model that never completes its response.
    let gate = Gate::new();
    let stuck = ScriptedModel::new().streams(["Once ", "upon "]).waits(&gate);
    let agents = SingleAgent::new("friday", move || Agent::builder("Friday").model(stuck.clone()));
    let host = Host::start(log.clone(), Arc::new(agents), HostOptions::default()).await?;
    let posted = host.post(session.key(), Msg::user("Alice", "Tell me a story."), OnBusy::Reject).await?;
    gate.reached().await;
    drop(host);
    println!("the host has stopped; the reply {} is open", posted.reply_id);

    let next = ScriptedModel::new().streams(["Once ", "upon ", "a ", "time."]);
    let agents = SingleAgent::new("friday", move || Agent::builder("Friday").model(next.clone()));
    let _host = Host::start(log.clone(), Arc::new(agents), HostOptions::default()).await?;

    // A reader from the beginning of the session receives every event exactly once.
    let mut reader = session.subscribe(Start::Beginning)?;
    let mut fold = Fold::new();
    while fold.message(&posted.reply_id).is_none_or(|reply| reply.finished_at().is_none()) {
        let Frame::Entry(entry) = reader.next().await? else { continue };
        let event = Event::from_slice(&entry.event)?;
        if let EventKind::TextBlockDelta(delta) = &event.kind {
            println!("{:>6}  {}", entry.cursor.seq, delta.delta);
        }
        let _ = fold.apply_at(entry.cursor.seq, &event);
    }
    let reply = fold.message(&posted.reply_id).ok_or("there is no reply")?;
    println!("{}: {:?}", reply.name(), reply.text_joined_by(" | ").unwrap_or_default());
    Ok(())
}
