//! Runs a single message without a user at the terminal.

use anyhow::{Context, Result, bail};
use recount_host::OnBusy;
use recount_message::{FinishedReason, Msg};
use tokio::signal::unix::{SignalKind, signal};

use super::answers;
use super::renderer::Renderer;
use super::session_view::{SessionState, SessionView};
use super::setup::Chat;
use crate::commands::Status;
use crate::permission::unstated_request;

/// Sends a message, renders the reply and returns the exit status.
pub(super) async fn run(chat: &Chat, mut renderer: Renderer, message: Option<Msg>, allow: bool) -> Result<Status> {
    let mut interrupts = signal(SignalKind::interrupt()).context("cannot listen for Ctrl-C")?;
    let mut session_view = SessionView::subscribe(&chat.session, &mut renderer, false).await?;
    let key = chat.session.key();
    let mut message = message;
    let (mut is_stopping, mut has_denied, mut outcome) = (false, false, None);
    loop {
        renderer.draw(None)?;
        match session_view.state() {
            SessionState::Idle => {
                outcome = session_view.take_outcome().or(outcome);
                let Some(message) = message.take() else { break };
                chat.host.post(key, message, OnBusy::Reject).await?;
                outcome = None;
                chat.agents.mcp_problems(&chat.agent).iter().for_each(|problem| renderer.note(problem));
                session_view.catch_up(&mut renderer).await?;
                continue;
            }
            SessionState::Waiting(pending) if !is_stopping => {
                let verdict = if allow { "allowed" } else { "denied; --allow would allow it" };
                for pending in &pending {
                    let prefix = pending.sub_agent.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
                    has_denied |= !allow && !pending.confirmations.is_empty();
                    for (call, reason) in &pending.confirmations {
                        let suffix = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
                        let request = unstated_request(call, reason.as_deref());
                        let request = request.map(|request| format!(", {request}")).unwrap_or_default();
                        renderer.note(&format!("{prefix}{} asks to run{suffix}{request}: {verdict}", call.name));
                    }
                    chat.host.append(key, &answers::automatic(pending, allow)).await?;
                }
                session_view.catch_up(&mut renderer).await?;
                continue;
            }
            SessionState::Waiting(_) | SessionState::Busy => {}
        }
        tokio::select! {
            _ = interrupts.recv() => {
                if std::mem::replace(&mut is_stopping, true) {
                    return Ok(Status::Interrupted);
                }
                chat.host.interrupt(key).await?;
            }
            read = session_view.next(&mut renderer) => read?,
        }
    }
    renderer.settle()?;
    let Some(outcome) = outcome else { bail!("there is nothing to answer\nhint: give a message") };
    Ok(match outcome.reason {
        FinishedReason::Interrupted if is_stopping => Status::Interrupted,
        FinishedReason::Completed if !outcome.has_failed && !has_denied => Status::Clean,
        _ => Status::Flawed,
    })
}
