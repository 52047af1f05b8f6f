//! Runs the binary in a pseudo-terminal.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use recount_model::Provider;

/// The timeout of a wait. It is reached only if a test fails.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The line editor writes this sequence when it starts to read a line.
const PROMPT: &str = "\x1b[?2004h";

/// Erase sequences. They are removed, because their positions depend on how the output was split into reads.
const ERASE_SEQUENCES: [&str; 2] = ["\x1b[K", "\x1b[J"];

/// Returns the length without a trailing incomplete character or escape sequence.
fn complete_length(bytes: &[u8]) -> usize {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    let begun = bytes[..valid].iter().rposition(|byte| *byte == b'\x1b').filter(|at| valid - at < 3);
    begun.unwrap_or(valid)
}

/// The terminal output, and whether it has ended.
#[derive(Default)]
struct Output {
    text: String,
    has_ended: bool,
}

pub(crate) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    output: Arc<(Mutex<Output>, Condvar)>,
    /// The offset up to which the output was matched.
    at: usize,
}

/// Creates an empty directory for a test.
pub(crate) fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("chat").join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Returns the environment variables that select a model or affect the output.
pub(crate) fn model_variables() -> Vec<&'static str> {
    let of_provider =
        |provider: Provider| provider.api_key_env_vars().iter().copied().chain([provider.base_url_env_var()]);
    let others = ["RECOUNT_MODEL", "NO_COLOR", "CLICOLOR_FORCE", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    Provider::ALL.into_iter().flat_map(of_provider).chain(others).collect()
}

/// Returns a command that runs `recount chat` without a terminal, in a directory.
pub(crate) fn command(directory: &std::path::Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
    command.arg("chat").arg("--data").arg(directory.join("data")).args(args).current_dir(directory);
    for name in model_variables() {
        command.env_remove(name);
    }
    command
}

impl Terminal {
    /// Starts `recount chat` in a directory, without colours.
    pub(crate) fn start(directory: &std::path::Path, args: &[&str]) -> Self {
        Self::start_with(directory, args, &[("NO_COLOR", "1")])
    }

    pub(crate) fn start_with(directory: &std::path::Path, args: &[&str], environment: &[(&str, &str)]) -> Self {
        let size = PtySize { rows: 40, cols: 100, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_recount"));
        command.arg("chat");
        command.arg("--data");
        command.arg(directory.join("data"));
        command.args(args);
        command.cwd(directory);
        for name in model_variables() {
            command.env_remove(name);
        }
        command.env("TERM", "xterm-256color");
        for (name, value) in environment {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let output: Arc<(Mutex<Output>, Condvar)> = Arc::default();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let shared = Arc::clone(&output);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            let mut partial = Vec::new();
            loop {
                let count = reader.read(&mut bytes).unwrap_or(0);
                let mut output = shared.0.lock().unwrap();
                output.has_ended = count == 0;
                partial.extend(&bytes[..count]);
                let length = complete_length(&partial);
                let text = std::str::from_utf8(&partial[..length]).unwrap();
                output.text.push_str(
                    &ERASE_SEQUENCES.iter().fold(text.to_owned(), |text, sequence| text.replace(sequence, "")),
                );
                partial.drain(..length);
                shared.1.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        Self { master: pair.master, keyboard, child, output, at: 0 }
    }

    /// Waits for a text after the previous match. Returns the output before it.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, wanted: &str) -> String {
        let deadline = Instant::now() + TIMEOUT;
        let (lock, changed) = &*self.output;
        let mut output = lock.lock().unwrap();
        loop {
            if let Some(found) = output.text[self.at..].find(wanted) {
                let before = output.text[self.at..self.at + found].to_owned();
                self.at += found + wanted.len();
                return before;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !output.has_ended && !left.is_zero(),
                "there is no {wanted:?} after {:?}, but {:?}",
                &output.text[..self.at],
                &output.text[self.at..]
            );
            output = changed.wait_timeout(output, left).unwrap().0;
        }
    }

    /// Waits until the line editor reads a line. Returns the output before the prompt.
    #[track_caller]
    pub(crate) fn prompt(&mut self) -> String {
        self.wait_for(PROMPT)
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Types a line at the next prompt.
    #[track_caller]
    pub(crate) fn submit(&mut self, line: &str) {
        self.prompt();
        self.press(line);
        self.press("\r");
    }

    /// Resizes the terminal to this number of columns.
    pub(crate) fn resize(&self, columns: u16) {
        self.master.resize(PtySize { rows: 40, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    /// Waits for the program to exit. Returns its exit status.
    #[track_caller]
    pub(crate) fn end(mut self) -> u32 {
        let status = self.child.wait().unwrap();
        status.exit_code()
    }

    /// Leaves with Ctrl-D.
    #[track_caller]
    pub(crate) fn leave(mut self) {
        self.prompt();
        self.press("\x04");
        assert_eq!(self.end(), 0);
    }

    /// Kills the process with SIGKILL.
    pub(crate) fn kill(mut self) {
        let process = self.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
        self.child.wait().unwrap();
    }
}
