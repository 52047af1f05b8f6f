//! JSON objects that preserve the order of their keys.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::DecodeError;
use super::scan::{Kind, Raw, Scanner};
use super::value::{Json, serialize_text};
use super::write;

/// A JSON object that preserves the order of its keys, with values of type [`Json`].
///
/// Metadata, the values of custom events and all undeclared fields use it. Duplicate keys are preserved;
/// [`get`](Self::get) returns the last value, as most JSON parsers do.
///
/// ```
/// use recount_message::Object;
///
/// let mut metadata = Object::from([("task_id", "12345")]);
/// metadata.insert("priority", 3);
/// metadata.insert("tags", ["important", "urgent"]);
/// assert_eq!(metadata.to_json(), r#"{"task_id":"12345","priority":3,"tags":["important","urgent"]}"#);
/// assert_eq!(metadata.get("priority").unwrap().deserialize_as::<u8>().unwrap(), 3);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object {
    entries: Vec<(String, Json)>,
}

impl Object {
    /// Creates an empty object.
    ///
    /// ```
    /// use recount_message::Object;
    ///
    /// assert_eq!(Object::new().to_json(), "{}");
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses a JSON object.
    ///
    /// ```
    /// use recount_message::Object;
    ///
    /// let settings = Object::parse(r#" { "model": "some-model", "temperature": 0.70 } "#)?;
    /// assert_eq!(settings.get("temperature").unwrap().as_raw(), "0.70");
    /// assert_eq!(Object::parse("[]").unwrap_err().to_string(), "expected an object, found an array");
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the text is not a JSON object, nests too deep, or contains a lone surrogate.
    pub fn parse(text: &str) -> Result<Self, DecodeError> {
        Self::from_raw(Raw::document(text)?, super::scan::MAX_DEPTH)
    }

    pub(crate) fn from_raw(raw: Raw<'_>, depth: usize) -> Result<Self, DecodeError> {
        if raw.kind != Kind::Object {
            return Err(raw.expected("an object"));
        }
        let mut entries = Vec::new();
        let mut failed = None;
        Scanner::new(raw.text).object(usize::MAX, |key, value| {
            if failed.is_some() {
                return;
            }
            match entry(key, value, depth.saturating_sub(1)) {
                Ok(entry) => entries.push(entry),
                Err(error) => failed = Some(error),
            }
        })?;
        match failed {
            None => Ok(Self { entries }),
            Some(error) => Err(error),
        }
    }

    /// Returns the number of entries.
    ///
    /// ```
    /// use recount_message::Object;
    ///
    /// // Duplicate keys count twice.
    /// assert_eq!(Object::parse(r#"{"a":1,"a":2}"#)?.len(), 2);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the object has no entries.
    ///
    /// ```
    /// use recount_message::Object;
    ///
    /// assert!(Object::new().is_empty());
    /// assert!(!Object::from([("a", 1)]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value of a key; the last one of duplicate keys.
    ///
    /// ```
    /// use recount_message::Object;
    ///
    /// let object = Object::parse(r#"{"a":1,"a":2}"#)?;
    /// assert_eq!(object.get("a").unwrap().as_raw(), "2");
    /// assert_eq!(object.get("b"), None);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns whether the object has a key.
    ///
    /// ```
    /// use recount_message::{Json, Object};
    ///
    /// // `null` is also a value.
    /// assert!(Object::from([("a", Json::null())]).contains_key("a"));
    /// ```
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets the value of a key. A new key is appended.
    ///
    /// ```
    /// use recount_message::Object;
    ///
    /// let mut object = Object::from([("a", 1), ("b", 2)]);
    /// object.insert("a", "one");
    /// object.insert("c", true);
    /// assert_eq!(object.to_json(), r#"{"a":"one","b":2,"c":true}"#);
    /// ```
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Json>) {
        let (key, value) = (key.into(), value.into());
        match self.entries.iter_mut().rev().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => self.entries.push((key, value)),
        }
    }

    /// Removes a key and returns its last value.
    ///
    /// ```
    /// use recount_message::Object;
    ///
    /// let mut object = Object::from([("a", 1), ("b", 2)]);
    /// assert_eq!(object.remove("a").unwrap().as_raw(), "1");
    /// assert_eq!(object.to_json(), r#"{"b":2}"#);
    /// ```
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let mut removed = None;
        self.entries.retain_mut(|(name, value)| {
            let keep = name != key;
            if !keep {
                removed = Some(std::mem::replace(value, Json::null()));
            }
            keep
        });
        removed
    }

    /// Returns the entries in order.
    ///
    /// ```
    /// use recount_message::Object;
    ///
    /// let object = Object::from([("b", 2), ("a", 1)]);
    /// let pairs: Vec<String> = object.iter().map(|(key, value)| format!("{key}={value}")).collect();
    /// assert_eq!(pairs, ["b=2", "a=1"]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Appends an entry without checking for a duplicate key.
    pub(crate) fn push(&mut self, key: String, value: Json) {
        self.entries.push((key, value));
    }

    /// Sets all entries of another object.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (key, value) in other.iter() {
            self.insert(key, value.clone());
        }
    }

    /// Encodes the object as canonical JSON.
    ///
    /// ```
    /// use recount_message::Object;
    ///
    /// let object = Object::parse("{ \"a\" : [ 1, 2 ] }")?;
    /// assert_eq!(object.to_json(), r#"{"a":[1,2]}"#);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    pub(crate) fn write(&self, out: &mut String) {
        out.push('{');
        self.write_entries(out);
        out.push('}');
    }

    /// Appends the entries to an object that is being written.
    fn write_entries(&self, out: &mut String) {
        self.write_extra(out, |_| false);
    }

    /// Appends the entries that are not declared fields.
    pub(crate) fn write_extra(&self, out: &mut String, is_declared: impl Fn(&str) -> bool) {
        for (key, value) in self.entries.iter().filter(|(key, _)| !is_declared(key)) {
            write::key(out, key);
            out.push_str(value.as_raw());
        }
    }
}

fn entry(key: Raw<'_>, value: Raw<'_>, depth: usize) -> Result<(String, Json), DecodeError> {
    let key = key.to_str()?.into_owned();
    let value = Json::from_raw(value, depth).map_err(|error| error.within(&key))?;
    Ok((key, value))
}

impl<K: Into<String>, V: Into<Json>, const N: usize> From<[(K, V); N]> for Object {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: Into<String>, V: Into<Json>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self { entries: entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect() }
    }
}

impl std::fmt::Display for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Self::from_canonical(object.to_json())
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_text(self.to_json(), serializer)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Json::deserialize(deserializer)?;
        Self::from_raw(text.raw(), usize::MAX).map_err(serde::de::Error::custom)
    }
}
