//! Running shell commands.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recount_message::{MediaBlock, Object, Payload, PermissionBehavior, PermissionRule};
use recount_sandbox::{Access, Launch, Level, Policy, Profile};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, sleep_until};

use super::aside::rest_is_in;
use super::process::start;
use super::shell_access::{self, matches};
use super::{Workspace, blocking, taken, text};
use crate::BoxFuture;
use crate::permission::shell::suggestions;
use crate::permission::{Coverage, PermissionContext, ToolPermission};
use crate::tool::derive::schema_of;
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// Runs shell commands in the workspace.
///
/// Each command runs in a sandbox. The mode grants access to it, allow rules that match the command grant what their field
/// `access` lists, and the model requests more with the argument `access`. Only a request beyond what is granted is asked
/// about. Without a sandbox, every command is asked about, unless allow rules match it.
///
/// The output is streamed. When the command ends, is interrupted or times out, all of its processes are ended. It gets only
/// the environment variables of an allow-list.
#[derive(Debug)]
pub struct Shell {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    program: &'static str,
    kept_bytes: u64,
}

/// How a call runs.
struct Plan {
    profile: Profile,
    is_confined: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The command.
    command: String,
    /// After how many seconds it is ended, 120 if left out and 3600 at most.
    #[serde(default)]
    timeout_seconds: Option<u64>,
    /// Access that the command needs beyond reading, a list of: `write` (files in the working directory), `network`,
    /// `read:/absolute/path`, `write:/absolute/path`, `unsandboxed` (if nothing else suffices).
    #[serde(default)]
    #[expect(dead_code, reason = "`shell_access` reads it from the JSON object")]
    access: Option<Vec<String>>,
    /// Why the command needs this access, in one sentence for the user.
    #[serde(default)]
    #[expect(dead_code, reason = "`shell_access` reads it from the JSON object")]
    reason: Option<String>,
}

impl Shell {
    /// The tool on a workspace, with Bash where there is one.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        let program = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
        let description = "Runs a shell command in the working directory, each time in a new shell and without input. \
                           To read or change files, prefer `read`, `grep`, `glob` and `edit`. \
                           Processes that it leaves in the background are ended. \
                           The command runs in a sandbox: it can read the working directory, write only to `/tmp`, and has no \
                           network. If it needs more, request `access` and state the `reason`; the user may be asked.";
        let spec = ToolSpec::new("shell", description).parameters(schema_of::<Arguments>());
        let kept_bytes = workspace.confinement().resource_limits().output_bytes();
        Self { spec, workspace, program, kept_bytes }
    }

    /// The same with another limit to how much output is kept. A command that has more to say is ended.
    #[must_use]
    pub fn max_offloaded_bytes(mut self, bytes: u64) -> Self {
        self.kept_bytes = bytes;
        self
    }

    /// Decides how a call runs: with everything that it requests and is granted, or with its request alone if this machine
    /// can confine no more than that.
    ///
    /// # Errors
    ///
    /// The request is invalid, or the command must be confined and cannot be.
    fn plan(&self, arguments: &Object, context: &PermissionContext) -> Result<Plan, ToolError> {
        let confinement = self.workspace.confinement();
        let profile = |access| self.workspace.profile(access, &context.working_directories);
        let wanted = profile(shell_access::effective(arguments, context)?);
        let is_confined = confinement.confines(&wanted);
        if !matches!(is_confined, Ok(true)) {
            let requested = profile(shell_access::requested(arguments)?);
            if matches!(confinement.confines(&requested), Ok(true)) {
                return Ok(Plan { profile: requested, is_confined: true });
            }
        }
        Ok(Plan { profile: wanted, is_confined: is_confined? })
    }

    /// Prepares a call to run, away from the threads of the runtime: paths are resolved on the disk.
    async fn launch(&self, command: &str, plan: Plan) -> Result<(Launch, Plan), ToolError> {
        let (workspace, program) = (Arc::clone(&self.workspace), self.program);
        let mut arguments: Vec<OsString> = Vec::new();
        if program.ends_with("bash") {
            arguments.extend(["--noprofile".into(), "--norc".into()]);
        }
        arguments.extend(["-c".into(), command.into()]);
        blocking(move || {
            let session = Some(workspace.session_name());
            let launch = workspace.confinement().launch(&plan.profile, session, program.as_ref(), &arguments)?;
            Ok((launch, plan))
        })
        .await
    }

    async fn execute(&self, arguments: Object, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let plan = self.plan(&arguments, &context.permissions().context(&self.spec.name))?;
        let arguments: Arguments = taken(arguments)?;
        let most = self.workspace.confinement().resource_limits().wall_seconds.max(1);
        let seconds = arguments.timeout_seconds.unwrap_or(120).clamp(1, most);
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let (launch, plan) = self.launch(&arguments.command, plan).await?;
        let (mut child, mut group) = start(launch)?;
        let (mut stdout, mut stderr) = (child.stdout().take(), child.stderr().take());
        let (mut from_stdout, mut from_stderr) = (Pieces::default(), Pieces::default());
        let mut output = Output { workspace: &self.workspace, context, bytes: 0, shown: String::new(), kept: None };
        let mut status = None;
        let mut left = 0;
        let stopped = loop {
            if stdout.is_none() && stderr.is_none() && status.is_some() {
                break None;
            }
            tokio::select! {
                piece = read(&mut stdout), if stdout.is_some() => output.take(from_stdout.next(&piece?)).await?,
                piece = read(&mut stderr), if stderr.is_some() => output.take(from_stderr.next(&piece?)).await?,
                ended = child.wait(), if status.is_none() => {
                    status = Some(ended?);
                    group.set_reaped();
                    left = group.end();
                }
                () = context.cancelled().cancelled() => break Some("it was interrupted".to_owned()),
                () = sleep_until(deadline) => break Some(format!("it was ended after {seconds} seconds: set `timeout_seconds` if it needs more")),
            }
            if output.bytes > self.kept_bytes {
                break Some(format!("it was ended after {} bytes of output: let it say less", output.bytes));
            }
        };
        if stopped.is_some() {
            group.end();
        }
        output.take(from_stdout.rest()).await?;
        output.take(from_stderr.rest()).await?;
        let code = status.and_then(|status| status.code());
        let failed = stopped.is_some() || code != Some(0);
        let mut notes = output.notes(stopped.as_deref(), status, left);
        if stopped.is_none() && failed && plan.is_confined {
            let _ = write!(
                notes,
                "\n[sandbox: {}. If it failed because of that, repeat the call with `access` and a `reason`.]",
                plan.profile.restrictions()
            );
        }
        let content = if notes.is_empty() { Payload::from(Vec::<MediaBlock>::new()) } else { Payload::from(notes) };
        let answer = if failed { ToolOutput::failed(content) } else { ToolOutput::new(content) };
        Ok(answer.with_metadata([("exit_code", code)]))
    }
}

impl Shell {
    fn has_sandbox(&self) -> bool {
        let confinement = self.workspace.confinement();
        confinement.policy() != Policy::Off && confinement.sandbox().support().level != Level::None
    }

    /// Returns the question about a command that runs without a sandbox.
    fn unconfined(&self, requested: &Access, arguments: &Object) -> String {
        if requested.unsandboxed {
            return shell_access::question(requested, arguments);
        }
        let confinement = self.workspace.confinement();
        match confinement.policy() {
            Policy::Off => "the sandbox is off, so the command runs unconfined".to_owned(),
            Policy::Required | Policy::Preferred => {
                let cause = confinement.sandbox().support().explanation();
                format!("this machine cannot confine the command, so it runs unconfined ({cause})")
            }
        }
    }
}

impl Tool for Shell {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.execute(arguments, context))
    }

    fn validate_arguments(&self, arguments: &Object) -> Result<(), ToolError> {
        shell_access::requested(arguments).map(|_| ())
    }

    fn is_read_only(&self, arguments: &Object, context: &PermissionContext) -> bool {
        self.plan(arguments, context).is_ok_and(|plan| plan.is_confined && plan.profile.access().is_read_only())
    }

    fn check_permission<'a>(
        &'a self,
        arguments: &'a Object,
        context: &'a PermissionContext,
    ) -> BoxFuture<'a, ToolPermission> {
        Box::pin(async move {
            let requested = match shell_access::requested(arguments) {
                Ok(requested) => requested,
                Err(error) => return ToolPermission::Deny(error.to_string()),
            };
            let plan = match self.plan(arguments, context) {
                Ok(plan) => plan,
                Err(error) => return ToolPermission::Deny(error.to_string()),
            };
            if !plan.is_confined {
                return ToolPermission::Ask(self.unconfined(&requested, arguments));
            }
            if requested.is_within(&shell_access::granted(arguments, context)) {
                return ToolPermission::Allow;
            }
            ToolPermission::Ask(shell_access::question(&requested, arguments))
        })
    }

    fn rule_coverage(&self, rules: &[&PermissionRule], behavior: PermissionBehavior, arguments: &Object) -> Coverage {
        // Without a sandbox there is no access to grant: a rule matches the text or not.
        if behavior != PermissionBehavior::Allow || !self.has_sandbox() {
            return matches(rules, behavior, arguments);
        }
        let Ok(requested) = shell_access::requested(arguments) else { return Coverage::No };
        let grants =
            |rule: &&PermissionRule| shell_access::of_rule(rule).is_some_and(|access| requested.is_within(&access));
        let granting: Vec<&PermissionRule> = rules.iter().copied().filter(grants).collect();
        matches(&granting, behavior, arguments)
    }

    fn suggested_rules(&self, arguments: &Object) -> Vec<PermissionRule> {
        let Ok(requested) = shell_access::requested(arguments) else { return Vec::new() };
        let rule = |content: String| {
            let rule = PermissionRule::new(&self.spec.name, Some(&content), PermissionBehavior::Allow);
            let mut rule = rule.with_source("suggested");
            if !requested.is_read_only() {
                rule.extra.insert("access", requested.words());
            }
            rule
        };
        suggestions(&text(arguments, "command").unwrap_or_default()).into_iter().map(rule).collect()
    }
}

/// The next bytes of a pipe. Nothing is left of it when it has ended.
async fn read(pipe: &mut Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(8_192);
    let length = match pipe {
        Some(pipe) => pipe.read_buf(&mut bytes).await?,
        None => 0,
    };
    if length == 0 {
        *pipe = None;
    }
    Ok(bytes)
}

/// Bytes that come in pieces, as text.
#[derive(Debug, Default)]
struct Pieces(Vec<u8>);

impl Pieces {
    /// What can be read so far. A character that is not complete waits for the next piece.
    fn next(&mut self, piece: &[u8]) -> String {
        self.0.extend_from_slice(piece);
        let complete = match std::str::from_utf8(&self.0) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => {
                // Somewhere before the end it is no UTF-8; only what is incomplete at the end may wait.
                let tail = (1..=3).rev().find(|length| {
                    self.0
                        .len()
                        .checked_sub(*length)
                        .is_some_and(|at| is_incomplete(self.0.get(at..).unwrap_or_default()))
                });
                self.0.len() - tail.unwrap_or(0)
            }
        };
        let rest = self.0.split_off(complete);
        let text = String::from_utf8_lossy(&self.0).into_owned();
        self.0 = rest;
        text
    }

    fn rest(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.0)).into_owned()
    }
}

fn is_incomplete(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
}

/// What a command has said.
struct Output<'a> {
    workspace: &'a Workspace,
    context: &'a ToolContext,
    bytes: u64,
    /// As much as was shown.
    shown: String,
    /// The whole, if that is more.
    kept: Option<(std::fs::File, PathBuf)>,
}

impl Output<'_> {
    async fn take(&mut self, text: String) -> Result<(), ToolError> {
        if text.is_empty() {
            return Ok(());
        }
        self.bytes += text.len() as u64;
        let room = self.workspace.shown_bytes().saturating_sub(self.shown.len());
        if self.kept.is_none() && text.len() > room {
            let (mut file, path) = self.workspace.aside().file("shell")?;
            file.write_all(self.shown.as_bytes())?;
            self.kept = Some((file, path));
            let (fits, _) = text.split_at(text.floor_char_boundary(room));
            if !fits.is_empty() {
                self.context.write_text(fits).await;
            }
        }
        match &mut self.kept {
            Some((file, _)) => file.write_all(text.as_bytes())?,
            None => {
                self.shown.push_str(&text);
                self.context.write_text(text).await;
            }
        }
        Ok(())
    }

    /// What the model has to know beside the output.
    fn notes(&self, stopped: Option<&str>, status: Option<std::process::ExitStatus>, left: usize) -> String {
        let mut notes = String::new();
        if let Some((_, path)) = &self.kept {
            notes.push_str(&rest_is_in(path, self.bytes));
        }
        if left > 0 {
            let _ = write!(notes, "\n[{left} left running in the background, now ended]");
        }
        match (stopped, status) {
            (Some(why), _) => {
                let _ = write!(notes, "\n[{why}]");
            }
            (None, Some(status)) if !status.success() => {
                let _ = write!(notes, "\n[{status}]");
            }
            (None, _) if self.bytes == 0 => notes.push_str("\n[no output]"),
            (None, _) => {}
        }
        notes.trim_start_matches(if self.bytes == 0 { "\n" } else { "" }).to_owned()
    }
}
