//! The configuration of an agent.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use recount_message::{ConfirmResult, PermissionBehavior, PermissionRule, ToolCallBlock, ToolResultBlock};

use crate::compress::Compression;
use crate::machine::Limits;
use crate::middleware::Middleware;
use crate::model::ChatModel;
use crate::offload::Offload;
use crate::permission::{Coverage, contents};
use crate::runtime_state::RuntimeState;
use crate::tool::{Toolkit, arguments};
use crate::view::ResultLimit;

/// The tool for which a rule without content allows every command, and so does not refer to the edited call.
const SHELL: &str = "shell";

/// The configuration of an agent. It does not change after the agent is built.
pub(crate) struct Config {
    pub(crate) name: String,
    pub(crate) system_prompt: String,
    /// The primary model, then the fallbacks in order.
    pub(crate) models: Vec<Arc<dyn ChatModel>>,
    pub(crate) toolkit: Toolkit,
    pub(crate) middleware: Arc<[Arc<dyn Middleware>]>,
    pub(crate) limits: Limits,
    /// How often the agent retries a failed model call.
    pub(crate) max_retries: u32,
    pub(crate) raise_on_interrupt: bool,
    pub(crate) result_limit: ResultLimit,
    pub(crate) compression: Option<Compression>,
    pub(crate) offload: Option<Offload>,
    /// The maximum number of images in a request.
    pub(crate) max_images: usize,
    pub(crate) runtime_state: Option<RuntimeState>,
    pub(crate) on_restart: OnRestart,
    /// How long the user has to confirm a call. `None` means no limit.
    pub(crate) confirm_within: Option<Duration>,
}

/// How an agent handles a reply whose process died.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnRestart {
    /// Continue it, at most three times.
    #[default]
    Continue,
    /// End it with an error.
    Close,
}

impl Config {
    /// Validates arguments that the user has edited. Returns the error as text.
    pub(crate) fn argument_problem(&self, groups: &BTreeSet<String>, edited: &ToolCallBlock) -> Option<String> {
        let tool = self.toolkit.find(&edited.name, groups).ok()?;
        arguments::parse(&edited.input, &tool).err().map(|error| error.to_string())
    }

    /// Returns the index of the first allow rule in an answer that does not cover the call as the user has edited it.
    /// `None` if all rules cover it.
    pub(crate) fn rule_problem(
        &self,
        groups: &BTreeSet<String>,
        original: &ToolCallBlock,
        answer: &ConfirmResult,
    ) -> Option<usize> {
        let rules = answer.rules.as_ref().filter(|rules| !rules.is_empty())?;
        let tool = self.toolkit.find(&answer.tool_call.name, groups).ok();
        let read = |input: &str| Some(arguments::parse(input, tool.as_ref()?).ok()?.object);
        let edited = read(&answer.tool_call.input);
        if edited.is_some() && edited == read(&original.input) {
            return None;
        }
        let covers = |rule: &PermissionRule| {
            if contents(&[rule]).is_none() {
                return rule.tool_name != SHELL;
            }
            let (Some(tool), Some(arguments)) = (&tool, &edited) else { return false };
            // A panic in a tool must not end the reply: the rule counts as not covering.
            let coverage = catch_unwind(AssertUnwindSafe(|| tool.rule_coverage(&[rule], rule.behavior, arguments)));
            coverage.is_ok_and(|coverage| coverage == Coverage::Yes)
        };
        rules.iter().position(|rule| rule.behavior == PermissionBehavior::Allow && !covers(rule))
    }

    /// Validates the metadata of an external result. Returns the error as text.
    pub(crate) fn metadata_problem(&self, groups: &BTreeSet<String>, result: &ToolResultBlock) -> Option<String> {
        let tool = self.toolkit.find(&result.name, groups).ok()?;
        tool.validate_metadata(&result.metadata).err().map(|violations| violations.to_string())
    }
}
