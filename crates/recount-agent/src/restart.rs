//! Resuming a reply whose process died.
//!
//! The events and the persisted state are enough to continue. Only the effect of tools that were running is unknown,
//! and the model is informed about that.

use recount_message::{ErrorInfo, ErrorType, ToolResultState};

use crate::OnRestart;
use crate::driver::ActiveReply;
use crate::machine::{CallStatus, OpenCalls};
use crate::state::Phase;

/// How often a reply is resumed after a crash.
const MAX_RESTARTS: u32 = 3;

/// The result of a tool that was running when the process died.
const OUTCOME_UNKNOWN: &str = "<system-reminder>The process stopped while this tool was running. Whether it took effect is \
                               unknown: check before you call it again.</system-reminder>";

/// The result of a call that the user denied just before the process died.
const DENIED_RESULT: &str = "<system-reminder>The user has refused this call. It was not run.</system-reminder>";

impl ActiveReply {
    /// Prepares the reply for the next step. Returns an error if the reply must be closed instead.
    pub(crate) fn restart(&mut self) -> Option<ErrorInfo> {
        let state = self.state();
        if state.is_fresh {
            self.change(|reply| reply.is_fresh = false);
            return None;
        }
        if state.phase == Phase::Asking {
            // Discard the output of the interrupted model call, which is repeated.
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
            self.write_result(&id, DENIED_RESULT, ToolResultState::Denied);
        }
        for id in calls.with_status(CallStatus::Running) {
            if self.is_idempotent(&id) {
                self.calls_to_rerun.push(id);
            } else {
                self.write_result(&id, OUTCOME_UNKNOWN, ToolResultState::Interrupted);
            }
        }
        self.change(|reply| {
            reply.restarts += u32::from(!reply.is_handed_over);
            reply.is_handed_over = false;
        });
        let on_restart = self.shared().config.on_restart;
        let problem = match on_restart {
            OnRestart::Close => "the process that worked on the reply has died".to_owned(),
            OnRestart::Continue if state.is_handed_over || state.restarts < MAX_RESTARTS => return None,
            OnRestart::Continue => {
                format!("the process that worked on the reply has died {} times", state.restarts + 1)
            }
        };
        Some(ErrorInfo::new(ErrorType::Internal, problem))
    }

    /// Returns whether the tool of a call may run again.
    fn is_idempotent(&self, call_id: &str) -> bool {
        let name = self.message().call(call_id).map(|call| call.name.as_str()).unwrap_or_default();
        self.tool(name).is_ok_and(|tool| tool.spec().idempotent)
    }
}
