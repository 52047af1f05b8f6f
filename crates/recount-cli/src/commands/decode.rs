//! `recount decode`: decodes a recorded model response into events.

use std::io::{self, BufWriter, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use recount_message::{AgentEvent, Object, ReplyEnd, ReplyWriter, Stamps};
use recount_model::Provider;
use recount_model::decode::{CallEnd, DecodeOptions, Decoder};

use super::{Status, provider_values};
use crate::input::Source;
use crate::visible::visible_line;

/// Turn a model's response into events
///
/// Reads a recorded response as the provider sent it: server-sent events, lines
/// of JSON, a JSON array of chunks, or the one body of a response that was not
/// streamed. Prints the events of a whole reply, from REPLY_START to REPLY_END,
/// so that `recount fold` gives its message. Tool calls get an interrupted
/// result, since nobody runs them here.
///
/// How the model stopped is in the metadata of the message: `finish` is one of
/// stop, tool_calls, length, filter, refusal, other and unknown. A response that
/// breaks off, cannot be read or reports an error ends the reply with that error,
/// and the exit status is 1.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct DecodeArgs {
    /// The file to read; standard input where it is `-` or left out
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Whose response it is
    #[arg(long, value_name = "PROVIDER", value_parser = provider_values())]
    provider: Provider,

    /// Name of the agent that replies
    #[arg(long, default_value = "assistant")]
    name: String,

    /// Name of the model that was called [default: the provider's name]
    #[arg(long)]
    model: Option<String>,

    /// Leave `<think>` tags in the text
    #[arg(long)]
    keep_think_tags: bool,

    /// Read tool calls from `<tool_call>` tags in the text
    #[arg(long)]
    prompt_tools: bool,

    /// Count ids up and step times on, so that the same input always gives the same output
    #[arg(long)]
    repeatable: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount decode --provider anthropic response.sse | recount fold
  recount decode --provider gemini chunks.json | recount check
  curl -sN localhost:11434/api/chat -d @request.json | recount decode --provider ollama | recount show";

pub(crate) fn run(args: &DecodeArgs) -> Result<Status> {
    let mut source = Source::open(args.file.as_deref())?;
    let is_live = source.size.is_none();
    let mut out = EventWriter { writer: BufWriter::new(io::stdout().lock()), is_live, error: None };
    let end = write_reply(args, &mut source, &mut out)?;
    out.flush()?;
    if let Some(error) = &end.error {
        // A failure of standard error cannot be reported.
        let _ = writeln!(io::stderr(), "{}", visible_line(&format!("{}: {}: {error}", source.name, error.class())));
    }
    Ok(Status::flawed_if(end.error.is_some()))
}

fn write_reply(args: &DecodeArgs, source: &mut Source, out: &mut EventWriter) -> Result<CallEnd> {
    let stamps = if args.repeatable { Stamps::repeatable() } else { Stamps::default() };
    let mut reply = ReplyWriter::start(|event| out.write(&event), stamps, "decode", args.name.clone());
    reply.model_call(args.model.clone().unwrap_or_else(|| args.provider.name().to_owned()));
    let options = DecodeOptions {
        think_tags: !args.keep_think_tags,
        prompt_tools: args.prompt_tools,
        ..DecodeOptions::default()
    };
    let mut decoder = Decoder::new(args.provider, options);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = match source.reader.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            outcome => outcome.with_context(|| format!("cannot read {}", source.name))?,
        };
        let bytes = buffer.get(..count).unwrap_or_default();
        // `finish` returns the error of the response.
        if bytes.is_empty() || decoder.push(bytes, &mut reply).is_err() || decoder.is_done() {
            break;
        }
    }
    let end = decoder.finish(&mut reply);
    end.end_model_call(&mut reply);
    let reply_end = match &end.error {
        None => ReplyEnd::completed(),
        Some(error) => ReplyEnd::failed(error.info()),
    };
    reply.end(reply_end.with_metadata(reply_metadata(&end)));
    Ok(end)
}

/// Returns the metadata of the reply: the stop reason, and the provider's own values.
fn reply_metadata(end: &CallEnd) -> Object {
    let mut metadata = Object::from([("finish", end.stop_reason.name())]);
    let provided =
        [("finish_reason", &end.provider_stop_reason), ("response_id", &end.response_id), ("model", &end.model)];
    for (key, value) in provided {
        if let Some(value) = value {
            metadata.insert(key, value.as_str());
        }
    }
    metadata
}

/// Writes events as lines. The first write error is kept until [`Self::flush`], because the event sink cannot return one.
struct EventWriter {
    writer: BufWriter<io::StdoutLock<'static>>,
    /// Whether each event is flushed at once, because the input may still be growing.
    is_live: bool,
    error: Option<io::Error>,
}

impl EventWriter {
    fn write(&mut self, event: &AgentEvent) {
        if self.error.is_none() {
            let mut line = event.to_json();
            line.push('\n');
            let written = self.writer.write_all(line.as_bytes());
            self.error = written.and_then(|()| if self.is_live { self.writer.flush() } else { Ok(()) }).err();
        }
    }

    fn flush(mut self) -> Result<()> {
        let outcome = match self.error.take() {
            Some(error) => Err(error),
            None => self.writer.flush(),
        };
        outcome.context("cannot write to standard output")
    }
}
