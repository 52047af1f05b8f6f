//! A running command and everything that it started.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Stdio;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use recount_message::{IdSource, RandomIds};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::Command;

/// The variable by which a process is known as one of ours, wherever it went.
const MARK: &str = "RECOUNT_PROCESS";

/// Ends a command and everything that it started when it is dropped.
///
/// The command leads a session of its own, so that it has no terminal: it can neither write over what stands there nor wait
/// for a password that nobody is asked for. What leaves its process group is found by a variable in its environment, where
/// `/proc` shows those.
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<Pid>,
    mark: String,
    reaped: bool,
}

/// A process that was started.
pub(super) type Child = Box<dyn ChildWrapper>;

/// Starts a script in a directory, with pipes for its output and nothing to read.
pub(super) fn start(shell: &str, script: &str, directory: &Path) -> io::Result<(Child, Group)> {
    let mark = RandomIds.next_id();
    let mut command = CommandWrap::with_new(shell, |command| {
        if shell.ends_with("bash") {
            command.args(["--noprofile", "--norc"]);
        }
        command.arg("-c").arg(script).current_dir(directory).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in std::env::vars_os().filter(|(name, value)| is_withheld(name, value)) {
            command.env_remove(name);
        }
        command.env(MARK, &mark);
        keep_git_to_repositories(command);
    });
    command.wrap(ProcessSession);
    // What is put around it would wait for the whole group.
    let child = command.spawn()?.into_inner();
    let leader = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    Ok((child, Group { leader, mark, reaped: false }))
}

/// A directory that has what is in a `.git` is a repository to `git`, with programs that it runs even when it is only asked for
/// the status. Anybody may have put one among the files, so it has to be named to be taken for one.
fn keep_git_to_repositories(command: &mut Command) {
    // Somebody may have set others this way.
    let count = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
    command.env("GIT_CONFIG_COUNT", (count + 1).to_string());
    command.env(format!("GIT_CONFIG_KEY_{count}"), "safe.bareRepository");
    command.env(format!("GIT_CONFIG_VALUE_{count}"), "explicit");
}

/// What the names of secrets have in them.
const SECRETS: [&str; 10] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "COOKIE", "WEBHOOK", "CONNECTION"];

/// How the names of others end: addresses often have a password in them.
const SECRET_ENDS: [&str; 5] = ["_URL", "_URI", "_DSN", "_PASS", "_PWD"];

/// Whether a variable stays here: it may be a secret, or change what a script means.
fn is_withheld(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    // `URL` and `DSN` by themselves count too.
    let ends = |end: &&str| name.ends_with(*end) || name == end.trim_start_matches('_') && name != "PWD";
    let named = SECRETS.iter().any(|word| name.contains(word)) || SECRET_ENDS.iter().any(ends);
    // Without its proxy a command may reach nothing.
    let secret = named || (has_password(&value.to_string_lossy()) && !name.ends_with("_PROXY"));
    let meaning = ["BASH_ENV", "ENV", "CDPATH", "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "IFS", "GLOBIGNORE"];
    (secret && !is_of_git(&name)) || meaning.contains(&name.as_str()) || name.starts_with("BASH_FUNC_")
}

/// Whether a value is an address with a password in it, as in `scheme://user:password@host`.
fn has_password(value: &str) -> bool {
    value.split_once("://").is_some_and(|(_, rest)| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        host.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
    })
}

/// Whether it is one of a row of variables, of which none may be missing.
fn is_of_git(name: &str) -> bool {
    name.starts_with("GIT_CONFIG_KEY_") || name.starts_with("GIT_CONFIG_VALUE_")
}

impl Group {
    /// The leader has ended and its id may be given to another process.
    pub(super) fn set_reaped(&mut self) {
        self.reaped = true;
    }

    /// Ends everything that still runs. Tells how many there were, as far as that is known.
    pub(super) fn end(&mut self) -> usize {
        let Some(leader) = self.leader else { return 0 };
        if !self.reaped || !cfg!(target_os = "linux") {
            // It may have ended just now.
            let _ = kill_process_group(leader, Signal::KILL);
        }
        // One that was just killed may still be seen in the next round, so they are counted by their ids.
        let mut ended = BTreeSet::new();
        // One that is being looked at may have started another one.
        for _ in 0..10 {
            let left = self.left();
            if left.is_empty() {
                break;
            }
            for process in left {
                let _ = kill_process(process, Signal::KILL);
                ended.insert(process.as_raw_nonzero());
            }
        }
        ended.len()
    }

    /// Who still runs and belongs to the command.
    fn left(&self) -> Vec<Pid> {
        let mark = format!("{MARK}={}", self.mark).into_bytes();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(Pid::from_raw);
        let belongs = |id: &Pid| {
            let directory = Path::new("/proc").join(id.as_raw_nonzero().to_string());
            let stat = std::fs::read_to_string(directory.join("stat")).unwrap_or_default();
            // The name, in parentheses, may hold anything; state, parent and group follow it.
            let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
            let ended = fields.next().is_none_or(|state| matches!(state, "Z" | "X"));
            let group = fields.nth(1).and_then(|group| group.parse().ok()).and_then(Pid::from_raw);
            let marked = || {
                let environment = std::fs::read(directory.join("environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|variable| variable == mark)
            };
            !ended && (group == self.leader || marked())
        };
        ids.filter(belongs).collect()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_withheld() {
        let check = |name: &str, value: &str, expected: bool| {
            assert_eq!(is_withheld(OsStr::new(name), OsStr::new(value)), expected, "{name}={value}");
        };
        for name in ["OPENAI_API_KEY", "DATABASE_URL", "SENTRY_DSN", "dsn", "MONGODB_URI", "AZURE_CONNECTION_STRING"] {
            check(name, "x", true);
        }
        for name in ["DB_PASS", "MYSQL_PWD", "SLACK_WEBHOOK", "BASH_ENV"] {
            check(name, "x", true);
        }
        check("BROKER", "amqp://me:secret@host/x", true);
        check("BROKER", "amqp://host:5672/a:b@c", false);
        for name in ["PATH", "HOME", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "LANG", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"]
        {
            check(name, "x", false);
        }
        check("HTTPS_PROXY", "http://me:secret@host", false);
    }
}
