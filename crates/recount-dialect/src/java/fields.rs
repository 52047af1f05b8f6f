//! The fields of an object, with Jackson's leniency: no field is required, `null` counts as missing, and scalars are
//! converted if possible.

use std::borrow::Cow;

use recount_message::wire::{Fields, Kind, Raw};
use recount_message::{DecodeError, DecodeErrorKind, Json, Object};

/// The fields that determine the class of an object. Jackson uses the first of several.
const TAGS: &[&str] = &["type", "role"];

/// The fields of one object.
#[derive(Debug)]
pub(crate) struct JavaFields<'a>(Fields<'a>);

impl<'a> JavaFields<'a> {
    pub(crate) fn document(text: &'a str) -> Result<Self, DecodeError> {
        Fields::document_by_first(text, TAGS).map(Self)
    }

    pub(crate) fn of(raw: Raw<'a>) -> Result<Self, DecodeError> {
        Fields::of_by_first(raw, TAGS).map(Self)
    }

    /// Returns the fields of an object without a class field. The last value of a repeated key wins.
    pub(crate) fn by_last(raw: Raw<'a>) -> Result<Self, DecodeError> {
        Fields::of(raw).map(Self)
    }

    /// Returns the class of an object and its other fields. The first `type` and the last value of any other repeated key
    /// win.
    pub(crate) fn of_class(raw: Raw<'a>) -> Result<(Cow<'a, str>, Self), DecodeError> {
        let mut fields = Self::by_last(raw)?;
        let last = fields.text("type")?;
        // Java writes `type` first, so the common case needs no second scan.
        let is_first = last.as_deref().is_some_and(|last| {
            raw.text
                .strip_prefix(r#"{"type":""#)
                .and_then(|rest| rest.strip_prefix(last))
                .is_some_and(|rest| rest.starts_with('"'))
        });
        let class = if is_first { last } else { Self::of(raw)?.text("type")? };
        Ok((class.ok_or_else(|| DecodeError::missing("type"))?, fields))
    }

    /// Removes and returns a value. `None` if it is missing or `null`.
    pub(crate) fn take(&mut self, name: &str) -> Option<Raw<'a>> {
        self.0.take(name).filter(|raw| raw.kind != Kind::Null)
    }

    /// Returns whether a field is present, even if it is `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.peek(name).is_some()
    }

    /// Removes and returns the first of several fields that is present.
    pub(crate) fn take_any(&mut self, names: &[&'static str]) -> Option<(&'static str, Raw<'a>)> {
        names.iter().find_map(|name| self.take(name).map(|raw| (*name, raw)))
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<Option<Cow<'a, str>>, DecodeError> {
        self.take(name).map(text).transpose().map_err(|error| error.within(name))
    }

    pub(crate) fn text_of(&mut self, names: &[&'static str]) -> Result<Option<Cow<'a, str>>, DecodeError> {
        let Some((name, raw)) = self.take_any(names) else { return Ok(None) };
        text(raw).map(Some).map_err(|error| error.within(name))
    }

    pub(crate) fn count(&mut self, name: &str) -> Result<Option<u64>, DecodeError> {
        self.take(name).map(count).transpose().map_err(|error| error.within(name))
    }

    pub(crate) fn boolean(&mut self, name: &str) -> Result<Option<bool>, DecodeError> {
        let Some(raw) = self.take(name) else { return Ok(None) };
        match (raw.kind, raw.text) {
            (Kind::Bool(value), _) => Ok(Some(value)),
            (Kind::String { .. }, r#""true""#) => Ok(Some(true)),
            (Kind::String { .. }, r#""false""#) => Ok(Some(false)),
            _ => Err(raw.expected("a boolean").within(name)),
        }
    }

    pub(crate) fn object(&mut self, name: &str) -> Result<Option<Object>, DecodeError> {
        let Some(raw) = self.take(name) else { return Ok(None) };
        object(raw).map(Some).map_err(|error| error.within(name))
    }

    /// Reads a list. Errors contain the index of the element.
    pub(crate) fn list<T>(
        &mut self,
        name: &str,
        mut read: impl FnMut(usize, Raw<'a>) -> Result<T, DecodeError>,
    ) -> Result<Option<Vec<T>>, DecodeError> {
        let Some(raw) = self.take(name) else { return Ok(None) };
        let elements = raw.elements().map_err(|error| error.within(name))?;
        let items = elements
            .enumerate()
            .map(|(index, raw)| read(index, raw).map_err(|error| error.at_index(index).within(name)));
        items.collect::<Result<_, _>>().map(Some)
    }

    /// Reads a word of a closed set, ignoring case.
    pub(crate) fn word<T>(&mut self, name: &str, from_name: fn(&str) -> Option<T>) -> Result<Option<T>, DecodeError> {
        let Some(word) = self.text(name)? else { return Ok(None) };
        match from_name(&word.to_ascii_lowercase()) {
            Some(value) => Ok(Some(value)),
            None => {
                Err(DecodeError::new(DecodeErrorKind::UnknownValue, format!("unknown value {word:?}")).within(name))
            }
        }
    }

    /// Returns whether all fields have been taken.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.0.is_exhausted()
    }

    /// Returns the fields that have not been taken.
    pub(crate) fn rest(&self) -> Result<Object, DecodeError> {
        self.0.rest()
    }
}

/// Returns a string. Other scalars are converted.
pub(crate) fn text(raw: Raw<'_>) -> Result<Cow<'_, str>, DecodeError> {
    match raw.kind {
        Kind::String { .. } => raw.to_str(),
        Kind::Number | Kind::Bool(_) => Ok(Cow::Borrowed(raw.text)),
        Kind::Null | Kind::Array | Kind::Object => Err(raw.expected("a string")),
    }
}

/// Returns a non-negative integer. Fractions are truncated, and a string is parsed as a number.
fn count(raw: Raw<'_>) -> Result<u64, DecodeError> {
    let wrong = || raw.expected("a non-negative integer");
    let spelled = match raw.kind {
        Kind::Number => Cow::Borrowed(raw.text),
        Kind::String { .. } => raw.to_str()?,
        Kind::Null | Kind::Bool(_) | Kind::Array | Kind::Object => return Err(wrong()),
    };
    if let Ok(count) = spelled.trim().parse() {
        return Ok(count);
    }
    match spelled.trim().parse::<f64>() {
        // Larger numbers saturate at the maximum of `u64`.
        Ok(number) if number >= 0.0 => Ok(number as u64),
        _ => Err(wrong()),
    }
}

/// Returns an object of free-form values.
pub(crate) fn object(raw: Raw<'_>) -> Result<Object, DecodeError> {
    let json: Json = raw.to_value()?;
    json.to_object().ok_or_else(|| raw.expected("an object"))
}

/// Returns the fields that are not `null`. The last value of a repeated key wins.
pub(crate) fn without_nulls(object: &Object) -> Object {
    let mut last = Object::new();
    for (name, value) in object.iter() {
        last.insert(name, value.clone());
    }
    last.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name, value.clone())).collect()
}
