//! The parameters in a query.

use http::{Method, Uri};
use recount_dialect::{Dialect, Target};

use crate::fanout::{Framing, LONGEST_NAMES, Signals, Style};
use crate::media::Media;
use crate::openapi;
use crate::problem::Problem;

/// The parameter of who cannot send a header.
pub(crate) const TICKET: &str = "ticket";

/// The parameters of a request, decoded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    pub(crate) fn of(uri: &Uri) -> Self {
        let query = uri.query().unwrap_or_default();
        Self(url::form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// Whether each is one that the route has, and is there once. Of two, nobody could say which one counts.
    pub(crate) fn check(&self, method: &Method, path: &str) -> Result<(), Problem> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair.first() == pair.last()) {
            Some(pair) => Err(Problem::bad_field(pair.first().unwrap_or(&""), "the parameter is there twice")),
            None => self.check_names(method, path),
        }
    }

    /// Pages have whatever somebody has put into a link. The API takes what it says that it takes.
    fn check_names(&self, method: &Method, path: &str) -> Result<(), Problem> {
        let Some(route) = openapi::route_of(method, path).filter(|_| path.starts_with("/v1/")) else { return Ok(()) };
        let is_known =
            |name: &str| route.query().any(|known| known == name) || (name == TICKET && route.method == "GET");
        let Some((name, _)) = self.0.iter().find(|(name, _)| !is_known(name)) else { return Ok(()) };
        let known: Vec<&str> = route.query().collect();
        let expected = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(Problem::bad_field(name, format!("there is no parameter `{name}` here; expected {expected}")))
    }

    /// A parameter; an empty one is as good as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, Problem> {
        match self.get(name) {
            None => Ok(default),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => Err(Problem::bad_field(name, format!("expected true or false, found {other:?}"))),
        }
    }

    pub(crate) fn number(&self, name: &str, default: usize, most: usize) -> Result<usize, Problem> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| Problem::bad_field(name, format!("expected a number from 1 to {most}, found {text:?}")))
    }

    pub(crate) fn dialect(&self) -> Result<Dialect, Problem> {
        let Some(name) = self.get("dialect") else { return Ok(Dialect::Native) };
        name.parse().map_err(|error: recount_dialect::UnknownDialect| Problem::bad_field("dialect", error.to_string()))
    }

    fn target(&self) -> Result<Target, Problem> {
        let Some(name) = self.get("dialect") else { return Ok(Target::Dialect(Dialect::Native)) };
        name.parse().map_err(|error: recount_dialect::UnknownTarget| Problem::bad_field("dialect", error.to_string()))
    }

    /// What a reader wants to be shown.
    pub(crate) fn style(&self, framing: Framing) -> Result<Style, Problem> {
        let (target, media) = (self.target()?, self.media()?);
        check_media(target, media)?;
        Ok(Style { target, signals: self.signals()?, all: self.flag("all", false)?, media, framing })
    }

    /// Which signals a reader wants: all, none, or those with some names.
    fn signals(&self) -> Result<Signals, Problem> {
        match self.get("signals") {
            None | Some("true") => Ok(Signals::All),
            Some("false") => Ok(Signals::None),
            Some(names) => Signals::named(names.split(',')).ok_or_else(too_long),
        }
    }

    pub(crate) fn media(&self) -> Result<Media, Problem> {
        let Some(word) = self.get("media") else { return Ok(Media::default()) };
        read_media(word)
    }
}

/// What is said of names of signals that are too long.
pub(crate) fn too_long() -> Problem {
    Problem::bad_field("signals", format!("the names may have {LONGEST_NAMES} bytes together"))
}

/// How somebody wants media.
pub(crate) fn read_media(word: &str) -> Result<Media, Problem> {
    let expected = || Problem::bad_field("media", format!("expected {}, found {word:?}", Media::WORDS.join(" or ")));
    Media::from_word(word).ok_or_else(expected)
}

/// Whether somebody may have media in that way. A front end could not fetch what only this service knows by its URL.
pub(crate) fn check_media(target: Target, media: Media) -> Result<(), Problem> {
    match (target, media) {
        (Target::FrontEnd(_), Media::Url) => Err(Problem::bad_field("media", "front ends get media inline only")),
        _ => Ok(()),
    }
}
