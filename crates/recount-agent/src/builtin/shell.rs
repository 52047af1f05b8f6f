//! The tool `shell`.

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

use super::offloaded::truncation_note;
use super::process::spawn;
use super::shell_access::{self, matches};
use super::{Workspace, blocking, deserialize, text};
use crate::BoxFuture;
use crate::permission::shell::suggestions;
use crate::permission::{Coverage, PermissionContext, ToolPermission};
use crate::tool::derive::schema_of;
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// Runs shell commands in the workspace.
///
/// Each command runs in a sandbox. The mode grants access, allow rules that match the command grant the access in their
/// field `access`, and the model requests more with the argument `access`. The user is asked only about a request beyond the
/// granted access. Without a sandbox, the user is asked about every command that no allow rule matches.
///
/// The output is streamed. When the command exits, is interrupted or times out, all of its processes are killed. Its
/// environment contains only the variables of an allow-list.
#[derive(Debug)]
pub struct Shell {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    program: &'static str,
    max_offloaded_bytes: u64,
}

/// The sandbox profile of a call.
struct Plan {
    profile: Profile,
    is_confined: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The command.
    command: String,
    /// The timeout in seconds. Default: 120, maximum: 3600.
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
    /// Creates the tool. It uses Bash if installed, otherwise `sh`.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        let program = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
        let description = "Runs a shell command in the working directory, each time in a new shell and without input. \
                           To read or change files, prefer `read`, `grep`, `glob` and `edit`. \
                           Background processes are killed when it exits. \
                           The command runs in a sandbox: it can read the working directory, write only to `/tmp`, and has no \
                           network. If it needs more, request `access` and state the `reason`; the user may be asked.";
        let spec = ToolSpec::new("shell", description).parameters(schema_of::<Arguments>());
        let max_offloaded_bytes = workspace.confinement().resource_limits().output_bytes();
        Self { spec, workspace, program, max_offloaded_bytes }
    }

    /// Sets the maximum output of a command in bytes. A command with more output is killed. By default, the limit of the
    /// sandbox applies.
    #[must_use]
    pub fn max_offloaded_bytes(mut self, bytes: u64) -> Self {
        self.max_offloaded_bytes = bytes;
        self
    }

    /// Returns the profile of a call: all requested and granted access, or only the requested access if this machine cannot
    /// enforce the wider profile.
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

    /// Prepares the command. Runs on a thread for blocking work, because paths are resolved on disk.
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
        let arguments: Arguments = deserialize(arguments)?;
        let max_seconds = self.workspace.confinement().resource_limits().wall_seconds.max(1);
        let seconds = arguments.timeout_seconds.unwrap_or(120).clamp(1, max_seconds);
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let (launch, plan) = self.launch(&arguments.command, plan).await?;
        let (mut child, mut processes) = spawn(launch)?;
        let (mut stdout, mut stderr) = (child.stdout().take(), child.stderr().take());
        let (mut from_stdout, mut from_stderr) = (Utf8Decoder::default(), Utf8Decoder::default());
        let mut output =
            Output { workspace: &self.workspace, context, bytes: 0, shown: String::new(), offloaded: None };
        let mut status = None;
        let mut killed = 0;
        let stopped = loop {
            if stdout.is_none() && stderr.is_none() && status.is_some() {
                break None;
            }
            tokio::select! {
                piece = read(&mut stdout), if stdout.is_some() => output.take(from_stdout.next(&piece?)).await?,
                piece = read(&mut stderr), if stderr.is_some() => output.take(from_stderr.next(&piece?)).await?,
                ended = child.wait(), if status.is_none() => {
                    status = Some(ended?);
                    processes.set_reaped();
                    killed = processes.kill();
                }
                () = context.cancelled().cancelled() => break Some("interrupted".to_owned()),
                () = sleep_until(deadline) => break Some(format!("killed after {seconds} seconds: set `timeout_seconds` if it needs more")),
            }
            if output.bytes > self.max_offloaded_bytes {
                break Some(format!("killed after {} bytes of output: reduce its output", output.bytes));
            }
        };
        if stopped.is_some() {
            processes.kill();
        }
        output.take(from_stdout.rest()).await?;
        output.take(from_stderr.rest()).await?;
        let code = status.and_then(|status| status.code());
        let failed = stopped.is_some() || code != Some(0);
        let mut notes = output.notes(stopped.as_deref(), status, killed);
        if stopped.is_none() && failed && plan.is_confined {
            let _ = write!(
                notes,
                "\n[sandbox: {}. If it failed because of that, repeat the call with `access` and a `reason`.]",
                plan.profile.restrictions()
            );
        }
        let content = if notes.is_empty() { Payload::from(Vec::<MediaBlock>::new()) } else { Payload::from(notes) };
        let result = if failed { ToolOutput::failed(content) } else { ToolOutput::new(content) };
        Ok(result.with_metadata([("exit_code", code)]))
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

/// Reads the next bytes of a pipe. At its end, sets the pipe to `None`.
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

/// Decodes chunks of bytes as text.
#[derive(Debug, Default)]
struct Utf8Decoder(Vec<u8>);

impl Utf8Decoder {
    /// Decodes a chunk. An incomplete character at the end is kept for the next chunk.
    fn next(&mut self, chunk: &[u8]) -> String {
        self.0.extend_from_slice(chunk);
        let complete = match std::str::from_utf8(&self.0) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => {
                // There is invalid UTF-8 before the end. Only an incomplete character at the end is kept.
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

    /// Decodes the kept bytes at the end of the stream.
    fn rest(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.0)).into_owned()
    }
}

fn is_incomplete(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
}

/// The output of a command.
struct Output<'a> {
    workspace: &'a Workspace,
    context: &'a ToolContext,
    bytes: u64,
    /// The output up to the limit.
    shown: String,
    /// The file with the complete output, if it exceeds the limit.
    offloaded: Option<(std::fs::File, PathBuf)>,
}

impl Output<'_> {
    async fn take(&mut self, text: String) -> Result<(), ToolError> {
        if text.is_empty() {
            return Ok(());
        }
        self.bytes += text.len() as u64;
        let remaining = self.workspace.output_limit().saturating_sub(self.shown.len());
        if self.offloaded.is_none() && text.len() > remaining {
            let (mut file, path) = self.workspace.offload_directory().create_file("shell")?;
            file.write_all(self.shown.as_bytes())?;
            self.offloaded = Some((file, path));
            let (fits, _) = text.split_at(text.floor_char_boundary(remaining));
            if !fits.is_empty() {
                self.context.write_text(fits).await;
            }
        }
        match &mut self.offloaded {
            Some((file, _)) => file.write_all(text.as_bytes())?,
            None => {
                self.shown.push_str(&text);
                self.context.write_text(text).await;
            }
        }
        Ok(())
    }

    /// Returns notes for the model that follow the output.
    fn notes(&self, stopped: Option<&str>, status: Option<std::process::ExitStatus>, killed: usize) -> String {
        let mut notes = String::new();
        if let Some((_, path)) = &self.offloaded {
            notes.push_str(&truncation_note(path, self.bytes));
        }
        if killed > 0 {
            let _ = write!(notes, "\n[background processes killed: {killed}]");
        }
        match (stopped, status) {
            (Some(reason), _) => {
                let _ = write!(notes, "\n[{reason}]");
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
