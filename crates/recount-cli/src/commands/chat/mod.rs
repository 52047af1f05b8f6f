//! `recount chat`: a conversation with an agent, in a terminal or from a script.

mod answers;
mod conversation;
mod conversation_dir;
mod editor;
mod export;
mod images;
mod input;
mod renderer;
mod script;
mod session_view;
mod setup;
mod terminal;

use std::env;
use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use recount_agent_config::ModelName;
use recount_message::Msg;
use recount_sandbox::Policy;

use super::Status;
use conversation_dir::ConversationDir;
use renderer::Renderer;
use setup::Chat;
use terminal::Paint;

/// Talk with an agent
///
/// The agent reads and writes files here, runs commands and looks at pages, and
/// asks before it changes anything. Ctrl-C stops a reply, Ctrl-D leaves, and
/// `/help` lists the commands. Everything that is said is kept: --resume goes on
/// with the last conversation, also where a reply was cut by a crash.
///
/// Where nobody is at a terminal, one message is sent, from the argument or from
/// standard input, and its answer printed. What the agent asks is denied then,
/// unless --allow is given.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct ChatArgs {
    /// The first message; standard input where it is `-`
    #[arg(value_name = "MESSAGE")]
    message: Option<String>,

    /// The model, as `provider/name`; `demo` needs no key [default: what the
    /// agent's configuration says, RECOUNT_MODEL, or the first provider with a key]
    #[arg(long, value_name = "MODEL", verbatim_doc_comment)]
    model: Option<ModelName>,

    /// The agent of the configuration
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// A file with agents: models, prompts, tools, MCP servers, permissions
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Where conversations are kept [default: recount/chat in the user's data directory]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Go on with a conversation, the last one if none is named; the beginning of a
    /// name suffices. A message comes before it, or after `--`
    #[arg(long, value_name = "CONVERSATION", num_args = 0..=1, verbatim_doc_comment)]
    resume: Option<Option<String>>,

    /// An image to send along with the first message, by its path or URL; may be repeated
    #[arg(long, value_name = "PATH_OR_URL", requires = "message")]
    image: Vec<String>,

    /// Print the events, one per line, and ask nothing
    #[arg(long)]
    json: bool,

    /// Allow what the agent asks, where nobody is there to be asked
    #[arg(long)]
    allow: bool,

    /// Whether commands have to be confined: required, preferred or off [default: what
    /// the configuration says, else preferred]
    #[arg(long, value_name = "POLICY", verbatim_doc_comment)]
    sandbox: Option<Policy>,
}

const EXAMPLES: &str = "\
Examples:
  recount chat --model demo
  recount chat --model anthropic/claude-opus-4-5
  recount chat --config recount.toml --agent coder
  recount chat --resume
  recount chat --resume -- 'And in Oslo?'
  recount chat --json --allow 'Run the tests' | recount show
  git diff | recount chat 'Review this change:' --image before.png

Exit status, where one message is sent:
  0    the agent has answered
  1    it has not, or not to the end, or something was denied that it asked
  2    it could not be asked, for want of a key or a file
  130  it was stopped by Ctrl-C";

pub(crate) fn run(args: &ChatArgs) -> Result<Status> {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb();
    let is_script = args.json || !is_terminal;
    let first = first_message(args, is_script)?;
    let root = match &args.data {
        Some(root) => root.clone(),
        None => conversation_dir::default_root()?,
    };
    let agents = setup::agents(args, &root)?;
    let conversation = match &args.resume {
        Some(wanted) => ConversationDir::find(&root, wanted.as_deref())?,
        None => {
            // Check the agent before creating anything on disk.
            let agent =
                args.agent.clone().unwrap_or_else(|| recount_host::AgentSource::default_agent(&agents).to_owned());
            setup::prepare(&agents, &agent, args.model.as_ref())?;
            ConversationDir::new(&root)
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
    let paint = Paint { has_color: has_color() };
    let status = runtime.block_on(async {
        let chat = Chat::open(args, agents, conversation).await?;
        let status = if is_script {
            script::run(&chat, renderer(args, paint), first, args.allow).await
        } else {
            conversation::run(&chat, paint, &root.join("history"), first).await
        };
        chat.close().await?;
        status
    });
    // Do not wait for a blocking read of the terminal.
    runtime.shutdown_background();
    status
}

fn renderer(args: &ChatArgs, paint: Paint) -> Renderer {
    if args.json {
        return Renderer::Json;
    }
    if io::stdout().is_terminal() && !is_dumb() { Renderer::terminal(paint) } else { Renderer::plain() }
}

/// Returns the first message: the argument, followed by standard input if it is not a terminal. `None` if both are
/// empty. In a script without `--resume`, an empty message is an error.
fn first_message(args: &ChatArgs, is_script: bool) -> Result<Option<Msg>> {
    let mut text = args.message.clone().filter(|message| message != "-").unwrap_or_default();
    let wants_input = args.message.as_deref() == Some("-") || (is_script && !io::stdin().is_terminal());
    if wants_input {
        let mut read = String::new();
        io::stdin().read_to_string(&mut read).context("cannot read the message from standard input")?;
        let parts = [text.trim(), read.trim()];
        text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    }
    if text.is_empty() {
        if is_script && args.resume.is_none() {
            bail!("there is no message\nhint: give one as the argument or on standard input");
        }
        return Ok(None);
    }
    let given = args.image.iter().map(|path_or_url| images::image(path_or_url)).collect::<Result<_>>()?;
    let (message, errors) = images::message(&text, given);
    errors.iter().for_each(|error| renderer::print_notice(error));
    Ok(Some(message))
}

fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

fn has_color() -> bool {
    io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
}
