//! The saved state of a stream reader: objects that omit empty fields.

use recount_message::{AgentEvent, DecodeError, DecodeErrorKind, Event, Json, Object};

/// Builds an object and omits empty fields.
#[derive(Debug, Default)]
pub(crate) struct StateWriter {
    pub(crate) object: Object,
}

impl StateWriter {
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.object.insert(name, text);
        }
    }

    pub(crate) fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.object.insert(name, true);
        }
    }

    pub(crate) fn free(&mut self, name: &str, object: &Object) {
        if !object.is_empty() {
            self.object.insert(name, object.clone());
        }
    }

    pub(crate) fn event(&mut self, name: &str, event: Option<&AgentEvent>) {
        if let Some(event) = event {
            self.object.insert(name, event_json(event));
        }
    }

    pub(crate) fn list<T>(&mut self, name: &str, items: &[T], write: impl Fn(&T) -> Json) {
        if !items.is_empty() {
            self.object.insert(name, items.iter().map(write).collect::<Vec<_>>());
        }
    }

    pub(crate) fn texts(&mut self, name: &str, texts: &[String]) {
        self.list(name, texts, |text| Json::from(text.as_str()));
    }
}

/// Reads an object in which a missing field is empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StateReader<'o>(pub(crate) &'o Object);

impl StateReader<'_> {
    pub(crate) fn optional<T>(
        self,
        name: &str,
        read: impl FnOnce(&Json) -> Result<T, DecodeError>,
    ) -> Result<Option<T>, DecodeError> {
        self.0.get(name).map(read).transpose().map_err(|error| error.within(name))
    }

    pub(crate) fn text(self, name: &str) -> Result<String, DecodeError> {
        self.optional(name, read_text).map(Option::unwrap_or_default)
    }

    pub(crate) fn count(self, name: &str) -> Result<u64, DecodeError> {
        self.optional(name, read_count).map(Option::unwrap_or_default)
    }

    pub(crate) fn flag(self, name: &str) -> Result<bool, DecodeError> {
        let read = |json: &Json| json.as_raw().parse().map_err(|_| wrong_type("a boolean"));
        self.optional(name, read).map(Option::unwrap_or_default)
    }

    pub(crate) fn free(self, name: &str) -> Result<Object, DecodeError> {
        self.optional(name, read_object).map(Option::unwrap_or_default)
    }

    pub(crate) fn list<T>(
        self,
        name: &str,
        read: impl Fn(&Json) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let items =
            self.optional(name, |json| json.to_array().ok_or_else(|| wrong_type("a list")))?.unwrap_or_default();
        let read = |(index, json): (usize, &Json)| read(json).map_err(|error| error.at_index(index).within(name));
        items.iter().enumerate().map(read).collect()
    }

    pub(crate) fn texts(self, name: &str) -> Result<Vec<String>, DecodeError> {
        self.list(name, read_text)
    }

    /// Checks the field `version`.
    ///
    /// # Errors
    ///
    /// Returns an error if the document has another version.
    pub(crate) fn require_version(self, expected: u64) -> Result<(), DecodeError> {
        if self.count("version")? == expected {
            return Ok(());
        }
        Err(DecodeError::new(DecodeErrorKind::UnknownValue, "unknown version").within("version"))
    }
}

pub(crate) fn event_json(event: &AgentEvent) -> Json {
    Json::parse(&event.to_json()).unwrap_or_else(|_| Json::null())
}

pub(crate) fn read_text(json: &Json) -> Result<String, DecodeError> {
    json.as_str().map(str::to_owned).ok_or_else(|| wrong_type("a string"))
}

pub(crate) fn read_count(json: &Json) -> Result<u64, DecodeError> {
    json.as_raw().parse().map_err(|_| wrong_type("a whole number"))
}

pub(crate) fn read_event(json: &Json) -> Result<AgentEvent, DecodeError> {
    Event::from_json(json.as_raw()).map(Event::into_owned)
}

pub(crate) fn read_object(json: &Json) -> Result<Object, DecodeError> {
    json.to_object().ok_or_else(|| wrong_type("an object"))
}

/// Reads a word of a closed set.
pub(crate) fn read_word<T>(json: &Json, from_name: impl Fn(&str) -> Option<T>) -> Result<T, DecodeError> {
    let word = read_text(json)?;
    from_name(&word).ok_or_else(|| DecodeError::new(DecodeErrorKind::UnknownValue, format!("unknown value {word:?}")))
}

pub(crate) fn wrong_type(expected: &str) -> DecodeError {
    DecodeError::new(DecodeErrorKind::WrongType, format!("expected {expected}"))
}
