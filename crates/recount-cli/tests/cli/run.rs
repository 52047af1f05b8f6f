//! Helpers that run the binary.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

/// The sample stream of the crate.
pub(crate) const SAMPLE: &str = include_str!("../../samples/weather.jsonl");

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns the command for the binary, in the directory of the crate. Arguments are separated by spaces.
pub(crate) fn command(args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recount"));
    command.args(args.split_whitespace()).current_dir(env!("CARGO_MANIFEST_DIR"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

/// Runs the binary with arguments and standard input.
pub(crate) fn recount(args: &str, stdin: &[u8]) -> Run {
    finish(command(args), stdin)
}

/// Runs a command with standard input and waits for it.
pub(crate) fn finish(mut command: Command, stdin: &[u8]) -> Run {
    let mut child = spawn(&mut command);
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    let writer = thread::spawn(move || match pipe.write_all(&stdin) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    Run {
        exit: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Creates an empty directory for a test.
pub(crate) fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Runs the binary and compares arguments, exit status and both outputs with the snapshot `name`.
#[track_caller]
pub(crate) fn check(name: &str, args: &str, stdin: impl AsRef<[u8]>) {
    check_run(name, args, &recount(args, stdin.as_ref()));
}

#[track_caller]
pub(crate) fn check_run(name: &str, args: &str, run: &Run) {
    let exit = run.exit.map_or_else(|| "none".to_owned(), |code| code.to_string());
    let text = format!(
        "$ recount {args}\nexit status: {exit}\n--- stdout\n{}--- stderr\n{}",
        // Some editors remove escape characters.
        run.stdout.replace('\x1b', "␛"),
        run.stderr.replace('\x1b', "␛"),
    );
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

/// Declares one snapshot test per line: the name, the arguments and, after `<`, standard input.
macro_rules! cases {
    ($( $name:ident: $args:literal $(< $stdin:expr)?; )+) => {
        $(
            #[test]
            fn $name() {
                let module = module_path!().rsplit("::").next().unwrap();
                $crate::run::check(&format!("{module}_{}", stringify!($name)), $args, cases!(@stdin $($stdin)?));
            }
        )+
    };
    (@stdin) => { "" };
    (@stdin $stdin:expr) => { $stdin };
}
pub(crate) use cases;
