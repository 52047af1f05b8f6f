//! Going on with a reply whose process died.
//!
//! All that is left of it are its events and what its agent knew when the last of them were kept. That is enough to go on:
//! what nobody knows is how a tool came out that had begun to run, and the model is told so.

use recount_message::{ErrorInfo, ErrorType, ToolResultState};

use crate::OnRestart;
use crate::driver::ActiveReply;
use crate::machine::{CallStatus, OpenCalls};
use crate::state::Phase;

/// So often a reply goes on after its process died.
const MOST_RESTARTS: u32 = 3;

/// What the model is told of a tool that was running when the process died.
const OUTCOME_UNKNOWN: &str = "<system-reminder>The process stopped while this tool was running. Whether it did its work is \
                               not known: find out before you call it again.</system-reminder>";

/// What the model is told of a call that the user refused just before the process died.
const REFUSED: &str = "<system-reminder>The user has refused this call. It was not run.</system-reminder>";

impl ActiveReply {
    /// Puts the reply in order, so that the machine can go on with it. Says why it has to end instead, if it has.
    pub(crate) fn restart(&mut self) -> Option<ErrorInfo> {
        let state = self.state();
        if state.is_fresh {
            self.change(|reply| reply.is_fresh = false);
            return None;
        }
        if state.phase == Phase::Asking {
            // What the call had shown does not count, and it is made again.
            self.reply().resume_model_call();
            self.reply().cut_model_call(None);
            self.change(|reply| {
                reply.phase = Phase::Idle;
                reply.iteration = reply.iteration.saturating_sub(1);
            });
        }
        self.close_cut_calls();
        let calls = OpenCalls::of(self.message());
        for id in calls.with_status(CallStatus::Denied) {
            self.change(|reply| reply.rejected = true);
            self.settle(&id, REFUSED, ToolResultState::Denied);
        }
        for id in calls.with_status(CallStatus::Running) {
            if self.is_idempotent(&id) {
                self.again.push(id);
            } else {
                self.settle(&id, OUTCOME_UNKNOWN, ToolResultState::Interrupted);
            }
        }
        self.change(|reply| {
            reply.restarts += u32::from(!reply.is_handed_over);
            reply.is_handed_over = false;
        });
        let on_restart = self.shared().config.on_restart;
        let problem = match on_restart {
            OnRestart::Close => "the process that worked on the reply has died".to_owned(),
            OnRestart::Continue if state.is_handed_over || state.restarts < MOST_RESTARTS => return None,
            OnRestart::Continue => {
                format!("the process that worked on the reply has died {} times", state.restarts + 1)
            }
        };
        Some(ErrorInfo::new(ErrorType::Internal, problem))
    }

    /// Whether the tool of a call may run again.
    fn is_idempotent(&self, call_id: &str) -> bool {
        let name = self.message().call(call_id).map(|call| call.name.as_str()).unwrap_or_default();
        self.tool(name).is_ok_and(|tool| tool.spec().idempotent)
    }
}
