//! The parameters in a query.

use http::Uri;
use recount_dialect::Dialect;

use crate::fanout::{Framing, Style};
use crate::problem::Problem;

/// The parameters of a request, decoded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    pub(crate) fn of(uri: &Uri) -> Self {
        let query = uri.query().unwrap_or_default();
        Self(url::form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// Whether each is there once. Of two, nobody could say which one counts.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair.first() == pair.last()) {
            Some(pair) => Err(Problem::bad_field(pair.first().unwrap_or(&""), "the parameter is there twice")),
            None => Ok(()),
        }
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

    /// What a reader wants to be shown.
    pub(crate) fn style(&self, framing: Framing) -> Result<Style, Problem> {
        Ok(Style {
            dialect: self.dialect()?,
            signals: self.flag("signals", true)?,
            all: self.flag("all", false)?,
            framing,
        })
    }
}
