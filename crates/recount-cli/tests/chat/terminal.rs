//! The binary in a pseudo-terminal.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use recount_model::Provider;

/// Longer than anything takes. Tests wait for what happens, and for this only when it does not.
const PATIENCE: Duration = Duration::from_secs(60);

/// The line editor says this when it waits for a line.
const PROMPT: &str = "\x1b[?2004h";

/// What erases the rest of a line or of the screen. Where it stands depends on how much came at once.
const ERASING: [&str; 2] = ["\x1b[K", "\x1b[J"];

/// How much of what came can be looked at: a character or an escape sequence may come in two pieces.
fn whole(bytes: &[u8]) -> usize {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    let begun = bytes[..valid].iter().rposition(|byte| *byte == b'\x1b').filter(|at| valid - at < 3);
    begun.unwrap_or(valid)
}

/// What was written to the terminal, and whether more will come.
#[derive(Default)]
struct Written {
    text: String,
    has_ended: bool,
}

pub(crate) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    written: Arc<(Mutex<Written>, Condvar)>,
    /// How much of it was looked at.
    at: usize,
}

/// An empty directory for a test.
pub(crate) fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("chat").join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// The variables that decide which model there is.
pub(crate) fn variables() -> Vec<&'static str> {
    let of_provider =
        |provider: Provider| provider.api_key_env_vars().iter().copied().chain([provider.base_url_env_var()]);
    let others = ["RECOUNT_MODEL", "NO_COLOR", "CLICOLOR_FORCE", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    Provider::ALL.into_iter().flat_map(of_provider).chain(others).collect()
}

/// The binary for a script, in a directory.
pub(crate) fn command(directory: &std::path::Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
    command.arg("chat").arg("--data").arg(directory.join("data")).args(args).current_dir(directory);
    for name in variables() {
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
        for name in variables() {
            command.env_remove(name);
        }
        command.env("TERM", "xterm-256color");
        for (name, value) in environment {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let written: Arc<(Mutex<Written>, Condvar)> = Arc::default();
        let mut output = pair.master.try_clone_reader().unwrap();
        let shared = Arc::clone(&written);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            let mut partial = Vec::new();
            loop {
                let count = output.read(&mut bytes).unwrap_or(0);
                let mut written = shared.0.lock().unwrap();
                written.has_ended = count == 0;
                partial.extend(&bytes[..count]);
                let whole = whole(&partial);
                let text = std::str::from_utf8(&partial[..whole]).unwrap();
                written.text.push_str(&ERASING.iter().fold(text.to_owned(), |text, erasing| text.replace(erasing, "")));
                partial.drain(..whole);
                shared.1.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        Self { master: pair.master, keyboard, child, written, at: 0 }
    }

    /// Waits until a text was written, after what was waited for before. Gives what came before it.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, wanted: &str) -> String {
        let until = Instant::now() + PATIENCE;
        let (lock, bell) = &*self.written;
        let mut written = lock.lock().unwrap();
        loop {
            if let Some(found) = written.text[self.at..].find(wanted) {
                let before = written.text[self.at..self.at + found].to_owned();
                self.at += found + wanted.len();
                return before;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(
                !written.has_ended && !left.is_zero(),
                "there is no {wanted:?} after {:?}, but {:?}",
                &written.text[..self.at],
                &written.text[self.at..]
            );
            written = bell.wait_timeout(written, left).unwrap().0;
        }
    }

    /// Waits until it is the user's turn. Gives what was written meanwhile.
    #[track_caller]
    pub(crate) fn prompt(&mut self) -> String {
        self.wait_for(PROMPT)
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Types a line when it is the user's turn.
    #[track_caller]
    pub(crate) fn say(&mut self, line: &str) {
        self.prompt();
        self.press(line);
        self.press("\r");
    }

    /// Makes the terminal wider or narrower.
    pub(crate) fn resize(&self, columns: u16) {
        self.master.resize(PtySize { rows: 40, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    /// Waits for the end of the program, and gives its exit status.
    #[track_caller]
    pub(crate) fn end(mut self) -> u32 {
        let status = self.child.wait().unwrap();
        status.exit_code()
    }

    /// Leaves by Ctrl-D.
    #[track_caller]
    pub(crate) fn leave(mut self) {
        self.prompt();
        self.press("\x04");
        assert_eq!(self.end(), 0);
    }

    /// Kills the process where it stands.
    pub(crate) fn kill(mut self) {
        let process = self.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
        self.child.wait().unwrap();
    }
}
