//! Query parameters.

use http::{Method, Uri};
use recount_dialect::{Dialect, Target};

use crate::fanout::{Framing, MAX_NAMES_LEN, SignalFilter, StreamFormat};
use crate::media::Media;
use crate::openapi;
use crate::problem::Problem;

/// The parameter with a ticket, which replaces the `Authorization` header.
pub(crate) const TICKET: &str = "ticket";

/// The decoded query parameters of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    pub(crate) fn of(uri: &Uri) -> Self {
        let query = uri.query().unwrap_or_default();
        Self(url::form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// Rejects duplicate parameters, and parameters that the route does not have.
    pub(crate) fn check(&self, method: &Method, path: &str) -> Result<(), Problem> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair.first() == pair.last()) {
            Some(pair) => Err(Problem::bad_field(pair.first().unwrap_or(&""), "duplicate parameter")),
            None => self.check_names(method, path),
        }
    }

    /// Rejects unknown parameters under `/v1/`. The page accepts any, because links may contain tracking parameters.
    fn check_names(&self, method: &Method, path: &str) -> Result<(), Problem> {
        let Some(route) = openapi::route_of(method, path).filter(|_| path.starts_with("/v1/")) else { return Ok(()) };
        let is_known =
            |name: &str| route.query().any(|known| known == name) || (name == TICKET && route.method == "GET");
        let Some((name, _)) = self.0.iter().find(|(name, _)| !is_known(name)) else { return Ok(()) };
        let known: Vec<&str> = route.query().collect();
        let expected = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(Problem::bad_field(name, format!("unknown parameter `{name}`; expected {expected}")))
    }

    /// Returns a parameter. An empty one is treated as absent.
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

    pub(crate) fn number(&self, name: &str, default: usize, max: usize) -> Result<usize, Problem> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| (1..=max).contains(number));
        number.ok_or_else(|| Problem::bad_field(name, format!("expected a number from 1 to {max}, found {text:?}")))
    }

    /// Returns the dialect of a request body.
    pub(crate) fn dialect(&self) -> Result<Dialect, Problem> {
        let Some(name) = self.get("dialect") else { return Ok(Dialect::Native) };
        name.parse().map_err(|error: recount_dialect::UnknownDialect| Problem::bad_field("dialect", error.to_string()))
    }

    fn target(&self) -> Result<Target, Problem> {
        let Some(name) = self.get("dialect") else { return Ok(Target::Dialect(Dialect::Native)) };
        name.parse().map_err(|error: recount_dialect::UnknownTarget| Problem::bad_field("dialect", error.to_string()))
    }

    /// Returns the format in which a reader receives a session.
    pub(crate) fn stream_format(&self, framing: Framing) -> Result<StreamFormat, Problem> {
        let (target, media) = (self.target()?, self.media()?);
        check_media(target, media)?;
        Ok(StreamFormat { target, signals: self.signals()?, all: self.flag("all", false)?, media, framing })
    }

    fn signals(&self) -> Result<SignalFilter, Problem> {
        match self.get("signals") {
            None | Some("true") => Ok(SignalFilter::All),
            Some("false") => Ok(SignalFilter::None),
            Some(names) => SignalFilter::named(names.split(',')).ok_or_else(signals_too_long),
        }
    }

    pub(crate) fn media(&self) -> Result<Media, Problem> {
        let Some(word) = self.get("media") else { return Ok(Media::default()) };
        parse_media(word)
    }
}

/// The problem of a list of signal names that is too long.
pub(crate) fn signals_too_long() -> Problem {
    Problem::bad_field("signals", format!("the names exceed {MAX_NAMES_LEN} bytes in total"))
}

pub(crate) fn parse_media(word: &str) -> Result<Media, Problem> {
    let expected = || Problem::bad_field("media", format!("expected {}, found {word:?}", Media::WORDS.join(" or ")));
    Media::from_name(word).ok_or_else(expected)
}

/// Rejects blob URLs for front-end protocols, whose clients cannot resolve them.
pub(crate) fn check_media(target: Target, media: Media) -> Result<(), Problem> {
    match (target, media) {
        (Target::FrontEnd(_), Media::Url) => {
            Err(Problem::bad_field("media", "expected inline: front-end protocols do not support blob URLs"))
        }
        _ => Ok(()),
    }
}
