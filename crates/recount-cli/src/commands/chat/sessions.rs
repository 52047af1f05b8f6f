//! Where conversations are kept: each in a directory of its own, so that several can be under way at once, and that a new
//! one does not go on with what another has left.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use recount_message::jiff::Timestamp;
use recount_message::{IdSource, RandomIds};

/// Where one conversation is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The name of its session.
    pub(super) name: String,
    pub(super) directory: PathBuf,
    pub(super) is_new: bool,
}

/// What helps where there is none.
const BEGINNING: &str = "`recount chat` begins one";

/// Where conversations are kept if nothing else is said.
pub(super) fn usual_root() -> Result<PathBuf> {
    let filled = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = filled("XDG_DATA_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| Some(filled("HOME")?.join(".local").join("share")))
        .context("it is not known where to keep the conversation\nhint: `--data DIR` says it")?;
    Ok(data.join("recount").join("chat"))
}

impl Place {
    /// For a new conversation.
    pub(super) fn fresh(root: &Path) -> Self {
        let chance: String = RandomIds.next_id().chars().filter(char::is_ascii_alphanumeric).take(4).collect();
        let name = format!("{}-{chance}", Timestamp::now().strftime("%Y%m%d-%H%M%S"));
        Self { directory: root.join(&name), name, is_new: true }
    }

    /// Of the conversation with a name, or with one that begins so; of the last one if none is given.
    pub(super) fn known(root: &Path, wanted: Option<&str>) -> Result<Self> {
        let mut all = newest_first(root)?;
        let root = root.display();
        let Some(wanted) = wanted else {
            let last = all.into_iter().next();
            return last.with_context(|| format!("there is no conversation in {root}\nhint: {BEGINNING}"));
        };
        if let Some(at) = all.iter().position(|place| place.name == wanted) {
            return Ok(all.swap_remove(at));
        }
        let begin_so: Vec<&Self> = all.iter().filter(|place| place.name.starts_with(wanted)).collect();
        match begin_so.as_slice() {
            [place] => Ok((*place).clone()),
            [] if all.is_empty() => bail!("there is no conversation `{wanted}` in {root}\nhint: {BEGINNING}"),
            [] => bail!(
                "there is no conversation `{wanted}` in {root}\n\
                 hint: the newest are {}; `--resume -- MESSAGE` says something in the last one",
                names(&all),
            ),
            several => bail!(
                "{} conversations begin with `{wanted}`\nhint: the newest of them are {}",
                several.len(),
                names(several.iter().copied()),
            ),
        }
    }
}

/// Some of them, for somebody who has named none.
fn names<'a>(places: impl IntoIterator<Item = &'a Place>) -> String {
    places.into_iter().take(5).map(|place| place.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn newest_first(root: &Path) -> Result<Vec<Place>> {
    let mut all = all(root)?;
    all.sort_by_cached_key(|place| std::cmp::Reverse(last_use(&place.directory)));
    Ok(all)
}

fn all(root: &Path) -> Result<Vec<Place>> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot look into {}", root.display())),
    };
    let place = |entry: fs::DirEntry| {
        let (directory, name) = (entry.path(), entry.file_name().into_string().ok()?);
        directory.join("log.sqlite").is_file().then_some(Place { name, directory, is_new: false })
    };
    Ok(entries.filter_map(Result::ok).filter_map(place).collect())
}

/// When something was last written.
fn last_use(directory: &Path) -> SystemTime {
    let files = ["log.sqlite", "log.sqlite-wal"].map(|name| directory.join(name));
    let times = files.iter().filter_map(|file| fs::metadata(file).ok()?.modified().ok());
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}
