//! One message and its answer, without anybody at a terminal.

use anyhow::{Context, Result, bail};
use recount_host::OnBusy;
use recount_message::{FinishedReason, Msg};
use tokio::signal::unix::{SignalKind, signal};

use super::answers;
use super::reading::{Reading, Standing};
use super::setup::Chat;
use super::sight::Sight;
use crate::commands::Status;
use crate::permission::unstated_request;

/// Sends a message, shows what comes, and says how it ended.
pub(super) async fn answer(chat: &Chat, mut sight: Sight, message: Option<Msg>, allow: bool) -> Result<Status> {
    let mut interrupts = signal(SignalKind::interrupt()).context("cannot listen for Ctrl-C")?;
    let mut reading = Reading::begin(&chat.session, &mut sight, false).await?;
    let key = chat.session.key();
    let mut message = message;
    let (mut is_stopping, mut has_refused, mut answered) = (false, false, None);
    loop {
        sight.draw(None)?;
        match reading.standing() {
            Standing::Idle => {
                answered = reading.take_ended().or(answered);
                let Some(message) = message.take() else { break };
                chat.host.post(key, message, OnBusy::Reject).await?;
                answered = None;
                chat.agents.mcp_problems(&chat.agent).iter().for_each(|trouble| sight.note(trouble));
                reading.catch_up(&mut sight).await?;
                continue;
            }
            Standing::Waiting(waiting) if !is_stopping => {
                let verdict = if allow { "allowed" } else { "denied; --allow would allow it" };
                for waiting in &waiting {
                    let who = waiting.helper.as_ref().map(|helper| format!("{helper}: ")).unwrap_or_default();
                    has_refused |= !allow && !waiting.confirmations.is_empty();
                    for (call, reason) in &waiting.confirmations {
                        let why = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
                        let request = unstated_request(call, reason.as_deref());
                        let request = request.map(|request| format!(", {request}")).unwrap_or_default();
                        sight.note(&format!("{who}{} asks to run{why}{request}: {verdict}", call.name));
                    }
                    chat.host.append(key, &answers::unasked(waiting, allow)).await?;
                }
                reading.catch_up(&mut sight).await?;
                continue;
            }
            Standing::Waiting(_) | Standing::Busy => {}
        }
        tokio::select! {
            _ = interrupts.recv() => {
                if std::mem::replace(&mut is_stopping, true) {
                    return Ok(Status::Interrupted);
                }
                chat.host.interrupt(key).await?;
            }
            read = reading.next(&mut sight) => read?,
        }
    }
    sight.settle()?;
    let Some(ended) = answered else { bail!("there is nothing to answer\nhint: give a message") };
    Ok(match ended.reason {
        FinishedReason::Interrupted if is_stopping => Status::Interrupted,
        FinishedReason::Completed if !ended.has_failed && !has_refused => Status::Clean,
        _ => Status::Flawed,
    })
}
