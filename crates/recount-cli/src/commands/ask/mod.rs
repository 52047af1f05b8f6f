//! `recount ask`: sends one question to a model.

mod printer;

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;
use recount_agent::demo::DemoModel;
use recount_agent::{AgentReplyWriter, ChatModel as _};
use recount_agent_config::ModelName;
use recount_message::{AgentEvent, DataBlock, FinishedReason, MediaBlock, Msg, ReplyEnd, ReplyWriter, Stamps};
use recount_model::client::{CallOptions, CallOutcome, CancellationToken, Model};
use recount_model::decode::{CallErrorKind, StopReason};
use recount_model::format::RequestOptions;
use tokio::sync::mpsc;

use self::printer::Printer;
use super::{Status, model_of_variable};
use crate::visible::visible_line;

/// Ask a model one question
///
/// Sends the question and prints the answer while it comes. The key is taken
/// from the provider's environment variable; `recount models` lists them. With
/// --base-url, any endpoint that speaks the provider's language is asked, and
/// needs no key.
///
/// Ctrl-C stops the answer. With --json the events of the reply are printed, from
/// REPLY_START to REPLY_END, so that `recount fold` gives its message.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct AskArgs {
    /// The question; standard input where it is `-`
    #[arg(value_name = "QUESTION")]
    question: String,

    /// The model, as `provider/name`; `demo` needs no key [default: what
    /// RECOUNT_MODEL says]
    #[arg(long, value_name = "MODEL", verbatim_doc_comment)]
    model: Option<String>,

    /// A model that is asked when the one before has failed; may be repeated
    #[arg(long, value_name = "MODEL")]
    fallback: Vec<String>,

    /// Where the model is found, such as `http://localhost:8000/v1`
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// What the model is told beforehand
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,

    /// An image, a sound or a file to look at, by its path or URL; may be repeated
    #[arg(long, value_name = "PATH_OR_URL")]
    image: Vec<String>,

    /// The longest answer, in tokens
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<u64>,

    /// Wait for the whole answer
    #[arg(long)]
    no_stream: bool,

    /// Print the events of the reply, one per line
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  recount ask --model demo Hello
  recount ask --model anthropic/claude-opus-4-5 'Why is the sky blue?'
  recount ask --model ollama/qwen3 --system 'Answer in French.' Hello
  git diff | recount ask --model openai/gpt-5 --system 'Review this change.' -
  recount ask --model openai/qwen3 --base-url http://localhost:8000/v1 Hello
  recount ask --model gemini/gemini-2.5-pro --image cat.png 'Who is this?'
  recount ask --model openai/gpt-5 --json Hello | recount show

Exit status:
  0    the model has answered
  1    it has not, or not to the end
  2    the question could not be asked, for want of a key or a file
  130  it was stopped by Ctrl-C";

pub(crate) fn run(args: &AskArgs) -> Result<Status> {
    let model = resolve_model(args)?;
    let messages = messages(args)?;
    let stop = CancellationToken::new();
    let mut options = CallOptions::new().cancelled_by(stop.clone());
    options.stream = !args.no_stream;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    let mut printer = Printer::new(args.json, stop.clone());
    let outcome = runtime.block_on(async {
        let (sender, mut events) = mpsc::unbounded_channel();
        let sink: Box<dyn FnMut(AgentEvent) + Send> = Box::new(move |event| {
            // The receiver outlives the reply.
            let _ = sender.send(event);
        });
        let reply = ReplyWriter::start(sink, Stamps::default(), "ask", "assistant");
        let interrupted = tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                stop.cancel();
            }
        });
        let printing = async {
            while let Some(event) = events.recv().await {
                printer.print(&event);
            }
        };
        let (outcome, ()) = tokio::join!(model.reply(&messages, &options, reply), printing);
        interrupted.abort();
        outcome
    });
    printer.finish()?;
    report(&outcome)
}

/// The model to call.
enum AskModel {
    Model(Box<Model>),
    Demo(DemoModel),
}

impl AskModel {
    /// Calls the model and ends the reply.
    async fn reply(&self, messages: &[Msg], options: &CallOptions, mut reply: AgentReplyWriter) -> CallOutcome {
        match self {
            Self::Model(model) => model.reply(messages, options, reply).await.1,
            Self::Demo(demo) => {
                let outcome = demo.call(messages, options, &mut reply).await;
                // The demo model fails only if it is cancelled.
                let reason =
                    if outcome.is_cancelled() { FinishedReason::Interrupted } else { FinishedReason::Completed };
                reply.end(ReplyEnd::new(reason));
                outcome
            }
        }
    }
}

/// Returns the model of the arguments or of `RECOUNT_MODEL`, with the fallbacks.
fn resolve_model(args: &AskArgs) -> Result<AskModel> {
    let named = match &args.model {
        Some(name) => Some(name.parse::<ModelName>()?),
        None => model_of_variable()?,
    };
    let Some(named) = named else {
        bail!(
            "no model is named\nhint: `--model provider/name`, or the variable RECOUNT_MODEL; `recount models` lists the \
             providers, and `--model demo` needs no key"
        );
    };
    if named.is_demo() {
        if args.base_url.is_some() || !args.fallback.is_empty() {
            bail!(
                "`{named}` is a script, which has no address and needs no fallback\nhint: leave out `--base-url` and `--fallback`"
            );
        }
        return Ok(AskModel::Demo(named.as_str().parse()?));
    }
    let parse_model = |name: &str| -> Result<Model> {
        let mut settings = RequestOptions::new("");
        settings.max_tokens = args.max_tokens;
        Ok(name.parse::<Model>()?.settings(settings))
    };
    let mut model = parse_model(named.as_str())?;
    if let Some(address) = &args.base_url {
        model = model.base_url(address)?;
    }
    for name in &args.fallback {
        model = model.fallback(parse_model(name)?);
    }
    Ok(AskModel::Model(Box::new(model)))
}

fn messages(args: &AskArgs) -> Result<Vec<Msg>> {
    let mut question = args.question.clone();
    if question == "-" {
        question.clear();
        io::stdin().read_to_string(&mut question).context("cannot read the question from standard input")?;
    }
    let mut content: Vec<MediaBlock> = Vec::new();
    for path_or_url in &args.image {
        content.push(data(path_or_url)?.into());
    }
    content.push(question.into());
    let system = args.system.iter().map(|text| Msg::system("system", text.as_str()));
    Ok(system.chain([Msg::user("user", content)]).collect())
}

/// Loads an image or another file from a path, or references it by URL.
pub(super) fn data(path_or_url: &str) -> Result<DataBlock> {
    if ["http://", "https://", "data:"].iter().any(|start| path_or_url.starts_with(start)) {
        return DataBlock::from_url(path_or_url).with_context(|| format!("cannot use {path_or_url}"));
    }
    let bytes = read_file(Path::new(path_or_url)).with_context(|| format!("cannot read {path_or_url}"))?;
    let block = DataBlock::from_bytes(bytes);
    let name = Path::new(path_or_url).file_name().and_then(|name| name.to_str());
    // Many formats cannot be detected from their content: use the file name.
    let by_name = DataBlock::from_path(path_or_url).ok().map(|named| named.media_type().to_owned());
    let block = match by_name {
        // A provider would reject it, now and each time the message is sent again.
        Some(by_name) if by_name.starts_with("image/") && !block.is_image() && by_name != "image/svg+xml" => {
            bail!("cannot use {path_or_url}: it is no image");
        }
        Some(by_name) if block.media_type() == "application/octet-stream" => block.with_media_type(by_name),
        _ => block,
    };
    Ok(match name {
        Some(name) => block.with_name(name),
        None => block,
    })
}

/// The largest image, in bytes. The tool `read` has the same limit.
const MAX_IMAGE_BYTES: u64 = 10 << 20;
/// The largest file of another type, in bytes.
const MAX_FILE_BYTES: u64 = 32 << 20;

/// Reads a file that can be sent.
///
/// # Errors
///
/// Fails for directories, devices and pipes, and for files that are empty or too large.
fn read_file(path: &Path) -> Result<Vec<u8>> {
    // Check the type before opening: opening a pipe blocks until it has a writer.
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        bail!("it is a directory");
    }
    if !metadata.is_file() {
        bail!("it is a device or a pipe and no file");
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    let is_image = DataBlock::from_bytes(bytes.get(..8_192).unwrap_or(&bytes)).is_image();
    let (kind, largest) = if is_image { ("an image", MAX_IMAGE_BYTES) } else { ("a file", MAX_FILE_BYTES) };
    if bytes.is_empty() {
        bail!("it is empty");
    }
    if bytes.len() as u64 > largest {
        let length = metadata.len();
        bail!("it has {length} bytes, and {kind} may have {largest} at most: make it smaller first");
    }
    Ok(bytes)
}

/// Reports warnings and the error of a call on standard error.
fn report(outcome: &CallOutcome) -> Result<Status> {
    for missing in &outcome.media_errors {
        warn(&missing.to_string());
    }
    for note in &outcome.warnings {
        warn(&note.to_string());
    }
    let Some(error) = &outcome.end.error else {
        return Ok(match outcome.end.stop_reason {
            StopReason::Length => flawed("the answer is cut: it may not be longer"),
            StopReason::ContentFilter => flawed("the answer is cut: a filter of the provider stopped it"),
            _ => Status::Clean,
        });
    };
    match error.kind() {
        CallErrorKind::Cancelled => Ok(Status::Interrupted),
        CallErrorKind::Setup => bail!("{error}"),
        _ => Ok(flawed(&format!("{}: {}: {error}", outcome.model, error.class()))),
    }
}

fn flawed(message: &str) -> Status {
    warn(message);
    Status::Flawed
}

fn warn(message: &str) {
    // A failure of standard error cannot be reported.
    let _ = writeln!(io::stderr(), "{}", visible_line(message));
}
