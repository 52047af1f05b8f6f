//! JSON while it is being built.
//!
//! A request is put together as a tree, because later steps still change it (the system prompt is lifted out, a cache
//! mark is added), and becomes text at the end. Keys stay in the order in which they were set. What came as JSON, such
//! as a tool's schema or a call's arguments, is carried along as text, so that no number in it is ever read.

use std::borrow::Cow;

use recount_message::{Json, Object};

/// A JSON value under construction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    /// A string, without quotes and escapes.
    Text(String),
    /// JSON that is complete: a number, a boolean, or what somebody else wrote.
    Json(Json),
    /// An array.
    List(Vec<Tree>),
    /// An object.
    Map(Map),
}

/// A JSON object under construction.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Map(Vec<(Cow<'static, str>, Tree)>);

impl Map {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Sets a key: in place where it is there, at the end where it is not.
    pub(crate) fn set(&mut self, key: impl Into<Cow<'static, str>>, value: impl Into<Tree>) {
        let (key, value) = (key.into(), value.into());
        match self.0.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    /// Sets a key where there is something to set.
    pub(crate) fn set_some(&mut self, key: &'static str, value: Option<impl Into<Tree>>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// The same object with one more key.
    pub(crate) fn with(mut self, key: &'static str, value: impl Into<Tree>) -> Self {
        self.set(key, value);
        self
    }

    /// Sets a key. Where both values are objects, the keys of the new one are set in the old one.
    pub(crate) fn merge(&mut self, key: &str, value: &Json) {
        match (self.get_mut(key), value.to_object()) {
            (Some(Tree::Map(old)), Some(new)) => {
                for (key, value) in new.iter() {
                    old.set(key.to_owned(), value.clone());
                }
            }
            _ => self.set(key.to_owned(), value.clone()),
        }
    }

    /// Sets every key of another object in this one.
    pub(crate) fn append(&mut self, other: Self) {
        for (key, value) in other.0 {
            self.set(key, value);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Tree> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Tree> {
        self.0.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Tree> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// The text under a key.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Tree::Text(text) => Some(text),
            Tree::Json(_) | Tree::List(_) | Tree::Map(_) => None,
        }
    }

    /// The list under a key.
    pub(crate) fn list_mut(&mut self, key: &str) -> Option<&mut Vec<Tree>> {
        match self.get_mut(key)? {
            Tree::List(list) => Some(list),
            Tree::Text(_) | Tree::Json(_) | Tree::Map(_) => None,
        }
    }
}

impl<K: Into<Cow<'static, str>>, V: Into<Tree>> FromIterator<(K, V)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

/// An object with literal keys.
macro_rules! map {
    ($($key:literal : $value:expr),* $(,)?) => {
        $crate::format::tree::Map::new()$(.with($key, $value))*
    };
}
pub(crate) use map;

impl Tree {
    pub(crate) fn null() -> Self {
        Self::Json(Json::null())
    }

    pub(crate) fn as_map_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Map(map) => Some(map),
            Self::Text(_) | Self::Json(_) | Self::List(_) => None,
        }
    }
}

impl From<&str> for Tree {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Tree {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Tree {
    fn from(value: bool) -> Self {
        Self::Json(value.into())
    }
}

impl From<u64> for Tree {
    fn from(value: u64) -> Self {
        Self::Json(value.into())
    }
}

impl From<f64> for Tree {
    fn from(value: f64) -> Self {
        Self::Json(value.into())
    }
}

impl From<Json> for Tree {
    fn from(value: Json) -> Self {
        Self::Json(value)
    }
}

impl From<Object> for Tree {
    fn from(value: Object) -> Self {
        Self::Json(value.into())
    }
}

impl From<Map> for Tree {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Tree {
    fn from(list: Vec<T>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

impl From<Tree> for Json {
    fn from(tree: Tree) -> Self {
        match tree {
            Tree::Text(text) => Self::from(text),
            Tree::Json(json) => json,
            Tree::List(list) => Self::from(list),
            Tree::Map(map) => Self::from(map),
        }
    }
}

impl From<Map> for Json {
    fn from(map: Map) -> Self {
        map.0.into_iter().map(|(key, value)| (key, Self::from(value))).collect::<Object>().into()
    }
}
