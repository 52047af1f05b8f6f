//! A mutable JSON document.
//!
//! A request body is built as a tree, because later steps still change it (the system prompt moves to a field of its own,
//! cache marks are added), and is serialized once at the end. Keys keep the order in which they were set. Values that arrive
//! as JSON, such as a tool's schema or a call's arguments, are carried as text, so their numbers keep their digits.

use std::borrow::Cow;

use recount_message::{Json, Object};

/// A JSON value under construction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonBuilder {
    /// A string, unescaped and without quotes.
    String(String),
    /// A finished JSON value: a number, a boolean, `null`, or JSON from elsewhere.
    Raw(Json),
    /// An array.
    Array(Vec<JsonBuilder>),
    /// An object.
    Object(ObjectBuilder),
}

/// A JSON object under construction.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ObjectBuilder(Vec<(Cow<'static, str>, JsonBuilder)>);

impl ObjectBuilder {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Sets a key. An existing key keeps its position, a new one goes to the end.
    pub(crate) fn set(&mut self, key: impl Into<Cow<'static, str>>, value: impl Into<JsonBuilder>) {
        let (key, value) = (key.into(), value.into());
        match self.0.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    /// Sets a key if `value` is `Some`.
    pub(crate) fn set_some(&mut self, key: &'static str, value: Option<impl Into<JsonBuilder>>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Sets a key and returns the object.
    pub(crate) fn with(mut self, key: &'static str, value: impl Into<JsonBuilder>) -> Self {
        self.set(key, value);
        self
    }

    /// Sets a key. If both the old and the new value are objects, merges the new one into the old one.
    pub(crate) fn merge(&mut self, key: &str, value: &Json) {
        match (self.get_mut(key), value.to_object()) {
            (Some(JsonBuilder::Object(old)), Some(new)) => {
                for (key, value) in new.iter() {
                    old.set(key.to_owned(), value.clone());
                }
            }
            _ => self.set(key.to_owned(), value.clone()),
        }
    }

    /// Sets every key of `other`.
    pub(crate) fn append(&mut self, other: Self) {
        for (key, value) in other.0 {
            self.set(key, value);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&JsonBuilder> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut JsonBuilder> {
        self.0.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<JsonBuilder> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// Returns the string at `key`. `None` if the key is missing or holds another type.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            JsonBuilder::String(text) => Some(text),
            JsonBuilder::Raw(_) | JsonBuilder::Array(_) | JsonBuilder::Object(_) => None,
        }
    }

    /// Returns the array at `key`. `None` if the key is missing or holds another type.
    pub(crate) fn array_mut(&mut self, key: &str) -> Option<&mut Vec<JsonBuilder>> {
        match self.get_mut(key)? {
            JsonBuilder::Array(items) => Some(items),
            JsonBuilder::String(_) | JsonBuilder::Raw(_) | JsonBuilder::Object(_) => None,
        }
    }
}

impl<K: Into<Cow<'static, str>>, V: Into<JsonBuilder>> FromIterator<(K, V)> for ObjectBuilder {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

/// Builds an [`ObjectBuilder`] with literal keys.
macro_rules! object {
    ($($key:literal : $value:expr),* $(,)?) => {
        $crate::format::json_builder::ObjectBuilder::new()$(.with($key, $value))*
    };
}
pub(crate) use object;

impl JsonBuilder {
    pub(crate) fn null() -> Self {
        Self::Raw(Json::null())
    }

    pub(crate) fn as_object_mut(&mut self) -> Option<&mut ObjectBuilder> {
        match self {
            Self::Object(object) => Some(object),
            Self::String(_) | Self::Raw(_) | Self::Array(_) => None,
        }
    }
}

impl From<&str> for JsonBuilder {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for JsonBuilder {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for JsonBuilder {
    fn from(value: bool) -> Self {
        Self::Raw(value.into())
    }
}

impl From<u64> for JsonBuilder {
    fn from(value: u64) -> Self {
        Self::Raw(value.into())
    }
}

impl From<f64> for JsonBuilder {
    fn from(value: f64) -> Self {
        Self::Raw(value.into())
    }
}

impl From<Json> for JsonBuilder {
    fn from(value: Json) -> Self {
        Self::Raw(value)
    }
}

impl From<Object> for JsonBuilder {
    fn from(value: Object) -> Self {
        Self::Raw(value.into())
    }
}

impl From<ObjectBuilder> for JsonBuilder {
    fn from(object: ObjectBuilder) -> Self {
        Self::Object(object)
    }
}

impl<T: Into<Self>> From<Vec<T>> for JsonBuilder {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl From<JsonBuilder> for Json {
    fn from(value: JsonBuilder) -> Self {
        match value {
            JsonBuilder::String(text) => Self::from(text),
            JsonBuilder::Raw(json) => json,
            JsonBuilder::Array(items) => Self::from(items),
            JsonBuilder::Object(object) => Self::from(object),
        }
    }
}

impl From<ObjectBuilder> for Json {
    fn from(object: ObjectBuilder) -> Self {
        object.0.into_iter().map(|(key, value)| (key, Self::from(value))).collect::<Object>().into()
    }
}
