//! `recount show`: shows messages in the terminal.

use anyhow::Result;
use clap::{Args, ColorChoice};
use recount_message::{Event, Msg};

use super::{Status, report_unapplied};
use crate::dialects::{DialectArgs, Translator};
use crate::input::{InputArgs, Lines};
use crate::line::Line;
use crate::output::Output;
use crate::timeline::Timeline;
use crate::view::{self, Length};

/// Show messages in the terminal
///
/// Lines may be messages or events, also mixed; events are folded first. Each
/// message is shown as one bubble with all that it holds: thinking, text, tool
/// calls with their results right under them, hints, data, tokens and errors.
///
/// Control characters in it are shown as escapes such as `\u{1b}`, so that no
/// message can drive the terminal.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    dialect: DialectArgs,

    /// Show long tool arguments and results whole
    #[arg(long)]
    full: bool,

    /// When to use colours; `auto` means in a terminal, unless NO_COLOR is set
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,

    /// Tell of every event that changed nothing, and why
    #[arg(long, short)]
    verbose: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount show events.jsonl
  recount show --full --color always messages.jsonl | less -R";

pub(crate) fn run(args: &ShowArgs) -> Result<Status> {
    let mut lines = Lines::open(&args.input)?;
    let mut screen = Screen {
        out: Output::styled(&lines, args.color),
        length: if args.full { Length::Whole } else { Length::Cut },
        shown: 0,
    };
    let mut timeline = Timeline::default();
    let mut translator = Translator::new(args.dialect.dialect);
    let mut line = Vec::new();
    let event = |timeline: &mut Timeline, lines: &Lines, event: &Event<'_>| {
        let outcome = timeline.event(event);
        if args.verbose {
            report_unapplied(lines, event, &outcome);
        }
    };
    while lines.read(&mut line)? {
        match translator.decode(&line) {
            Ok(decoded) => decoded.into_iter().for_each(|line| match line {
                Line::Event(next) => event(&mut timeline, &lines, &next),
                Line::Message(message) => timeline.message(message),
            }),
            Err(error) => {
                lines.report_bad(&line, &error);
                if args.input.strict {
                    break;
                }
            }
        }
        screen.show(timeline.take_ready())?;
    }
    translator.finish().iter().for_each(|last| event(&mut timeline, &lines, last));
    screen.show(timeline.into_rest())?;
    screen.out.flush()?;
    Ok(Status::flawed_if(lines.bad_lines() > 0))
}

struct Screen {
    out: Output,
    length: Length,
    shown: u64,
}

impl Screen {
    fn show(&mut self, messages: Vec<Msg>) -> Result<()> {
        for message in messages {
            let mut text = String::new();
            if self.shown > 0 {
                text.push('\n');
            }
            view::render(&mut text, &message, self.length);
            self.out.write(&text)?;
            self.shown += 1;
        }
        Ok(())
    }
}
