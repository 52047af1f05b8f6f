//! `recount format`: formats messages for a provider's request.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use recount_message::{DecodeError, Event, EventKind, Json, Msg, Object};
use recount_model::Provider;
use recount_model::format::{FormatWarning, Formatter, Media, MultiAgent, RequestOptions};

use super::{Status, provider_values};
use crate::input::Source;
use crate::visible::visible_line;

/// Turn messages into a model's request
///
/// Reads a JSON array of messages, or one message per line as `recount fold`
/// prints them, and prints the JSON array of messages that goes into a request to
/// the provider.
///
/// Nothing is fetched or opened. Where the provider wants the bytes of a file or
/// URL, they have to come with --media; a text says so where they do not.
///
/// What the provider cannot take becomes text too. --notes tells what it was.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct FormatArgs {
    /// The file to read; standard input where it is `-` or left out
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Whose request it is
    #[arg(long, value_name = "PROVIDER", value_parser = provider_values())]
    provider: Provider,

    /// Tell the words of several agents as something that a user says
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "history")]
    multi_agent: Option<Form>,

    /// The media that the model takes, such as `image/*,audio/wav` [default: the provider's]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    input_types: Option<Vec<String>>,

    /// A JSON object with the base64 of files and URLs, by path or URL
    #[arg(long, value_name = "MAP.json")]
    media: Option<PathBuf>,

    /// Print the whole body of the request
    #[arg(long)]
    whole: bool,

    /// Name of the model in the whole body
    #[arg(long, requires = "whole", default_value = "", hide_default_value = true)]
    model: String,

    /// Say on standard error what could not be sent as it is
    #[arg(long)]
    notes: bool,
}

/// How the words of several agents are told.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// All that was said, within `<history>` tags
    History,
    /// One message each, which begins with `[name]: `
    Brackets,
}

const EXAMPLES: &str = "\
Examples:
  recount format --provider anthropic messages.json
  recount fold events.jsonl | recount format --provider openai --notes
  recount format --provider dashscope --multi-agent=brackets messages.json
  recount format --provider ollama --whole --model qwen3 messages.json | curl -d @- …
  echo '{\"https://example.com/cat.png\": \"iVBORw==\"}' > media.json
  recount format --provider gemini --media media.json messages.json";

pub(crate) fn run(args: &FormatArgs) -> Result<Status> {
    let mut source = Source::open(args.file.as_deref())?;
    let mut bytes = Vec::new();
    source.reader.read_to_end(&mut bytes).with_context(|| format!("cannot read {}", source.name))?;
    let messages = match read_messages(&bytes) {
        Ok(messages) => messages,
        Err(problem) => {
            format!("{}: {problem}", source.name).lines().for_each(print_stderr);
            return Ok(Status::Flawed);
        }
    };
    let media = args.media.as_deref().map_or_else(|| Ok(Media::new()), read_media)?;
    let (json, notes) = format(args, &messages, &media)?;
    writeln!(io::stdout(), "{json}").context("cannot write to standard output")?;
    if args.notes {
        for note in notes {
            print_stderr(&format!("note: {note}"));
        }
    }
    Ok(Status::Clean)
}

fn format(args: &FormatArgs, messages: &[Msg], media: &Media) -> Result<(Json, Vec<FormatWarning>)> {
    let mut formatter = Formatter::new(args.provider);
    if let Some(form) = args.multi_agent {
        formatter = formatter.multi_agent(match form {
            Form::History => MultiAgent::History,
            Form::Brackets => MultiAgent::Brackets,
        });
    }
    if let Some(patterns) = &args.input_types {
        formatter = formatter.input_types(patterns.iter().map(|pattern| pattern.trim()));
    }
    if args.whole {
        // Gemini has the model name in the URL.
        if args.model.is_empty() && args.provider != Provider::Gemini {
            print_stderr("hint: the body names no model; --model puts a name in");
        }
        let request = formatter.request(messages, media, &RequestOptions::new(&args.model))?;
        return Ok((request.body, request.warnings));
    }
    let formatted = formatter.format(messages, media);
    Ok((formatted.to_value(), formatted.warnings))
}

/// Parses messages from a JSON array or from JSON lines. The error contains the number of the message.
fn read_messages(bytes: &[u8]) -> Result<Vec<Msg>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let text = text.trim_start_matches('\u{feff}').trim();
    let texts: Vec<String> = if text.starts_with('[') {
        let array = Json::parse(text).map_err(|error| error.to_string())?;
        array.to_array().unwrap_or_default().iter().map(ToString::to_string).collect()
    } else {
        text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    };
    let numbered = texts.iter().enumerate();
    numbered
        .map(|(at, text)| {
            Msg::from_json(text).map_err(|error| format!("message {}: {}", at + 1, explain(text, &error)))
        })
        .collect()
}

/// Returns the error message of an invalid message, with a hint if the text is an event.
fn explain(text: &str, error: &DecodeError) -> String {
    match Event::from_json(text) {
        Ok(event) if !matches!(event.kind, EventKind::Unknown(_)) => {
            format!("this is an event, {}\nhint: `recount fold` turns events into messages", event.type_name())
        }
        Ok(_) | Err(_) => error.to_string(),
    }
}

fn read_media(path: &Path) -> Result<Media> {
    let name = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    let map = Object::parse(&text).with_context(|| format!("{name} is no JSON object"))?;
    let mut media = Media::new();
    for (path_or_url, base64) in map.iter() {
        let Some(base64) = base64.as_str().map(str::to_owned) else {
            bail!("{name}: `{path_or_url}` is no string of base64")
        };
        media.insert_base64(path_or_url, base64);
    }
    Ok(media)
}

/// Prints a line on standard error. Write errors are ignored: they cannot be reported.
fn print_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{}", visible_line(text));
}
