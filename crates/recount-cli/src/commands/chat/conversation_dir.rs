//! Conversation directories. Each conversation has its own directory, so several can run at once and a new one starts
//! empty.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use recount_message::jiff::Timestamp;
use recount_message::{IdSource, RandomIds};

/// The directory of one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConversationDir {
    /// The session name, which is also the directory name.
    pub(super) name: String,
    pub(super) directory: PathBuf,
    pub(super) is_new: bool,
}

/// The hint for an empty data directory.
const START_HINT: &str = "`recount chat` begins one";

/// Returns the default data directory: `recount/chat` in `XDG_DATA_HOME` or `~/.local/share`. Fails if neither is set.
pub(super) fn default_root() -> Result<PathBuf> {
    let non_empty = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = non_empty("XDG_DATA_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| Some(non_empty("HOME")?.join(".local").join("share")))
        .context("it is not known where to keep the conversation\nhint: `--data DIR` says it")?;
    Ok(data.join("recount").join("chat"))
}

impl ConversationDir {
    /// Returns the directory for a new conversation. Does not create it.
    pub(super) fn new(root: &Path) -> Self {
        let suffix: String = RandomIds.next_id().chars().filter(char::is_ascii_alphanumeric).take(4).collect();
        let name = format!("{}-{suffix}", Timestamp::now().strftime("%Y%m%d-%H%M%S"));
        Self { directory: root.join(&name), name, is_new: true }
    }

    /// Finds a conversation by its name or a unique prefix of it. Returns the most recent one if `wanted` is `None`.
    pub(super) fn find(root: &Path, wanted: Option<&str>) -> Result<Self> {
        let mut all = newest_first(root)?;
        let root = root.display();
        let Some(wanted) = wanted else {
            let last = all.into_iter().next();
            return last.with_context(|| format!("there is no conversation in {root}\nhint: {START_HINT}"));
        };
        if let Some(at) = all.iter().position(|conversation| conversation.name == wanted) {
            return Ok(all.swap_remove(at));
        }
        let matches: Vec<&Self> = all.iter().filter(|conversation| conversation.name.starts_with(wanted)).collect();
        match matches.as_slice() {
            [conversation] => Ok((*conversation).clone()),
            [] if all.is_empty() => bail!("there is no conversation `{wanted}` in {root}\nhint: {START_HINT}"),
            [] => bail!(
                "there is no conversation `{wanted}` in {root}\n\
                 hint: the newest are {}; `--resume -- MESSAGE` says something in the last one",
                names(&all),
            ),
            many => bail!(
                "{} conversations begin with `{wanted}`\nhint: the newest of them are {}",
                many.len(),
                names(many.iter().copied()),
            ),
        }
    }
}

/// Formats the first five names for a hint.
fn names<'a>(conversations: impl IntoIterator<Item = &'a ConversationDir>) -> String {
    conversations.into_iter().take(5).map(|conversation| conversation.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn newest_first(root: &Path) -> Result<Vec<ConversationDir>> {
    let mut all = list(root)?;
    all.sort_by_cached_key(|conversation| std::cmp::Reverse(last_modified(&conversation.directory)));
    Ok(all)
}

fn list(root: &Path) -> Result<Vec<ConversationDir>> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot look into {}", root.display())),
    };
    let conversation = |entry: fs::DirEntry| {
        let (directory, name) = (entry.path(), entry.file_name().into_string().ok()?);
        directory.join("log.sqlite").is_file().then_some(ConversationDir { name, directory, is_new: false })
    };
    Ok(entries.filter_map(Result::ok).filter_map(conversation).collect())
}

/// Returns when the log was last modified, or the Unix epoch if that is unknown.
fn last_modified(directory: &Path) -> SystemTime {
    let files = ["log.sqlite", "log.sqlite-wal"].map(|name| directory.join(name));
    let times = files.iter().filter_map(|file| fs::metadata(file).ok()?.modified().ok());
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}
