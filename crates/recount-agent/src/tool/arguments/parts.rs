//! A JSON value split into its parts. One part can be replaced while the other numbers keep their exact text.

use std::collections::HashMap;

use recount_message::{Json, Object};
use serde_json::Value;

use super::Repair;
use crate::tool::schema::{Segment, Violations, push_key};

/// A JSON value. The keys of an object are unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JsonParts {
    Object(Vec<(String, JsonParts)>),
    Array(Vec<JsonParts>),
    /// A string, a number, a boolean or `null`.
    Leaf(Json),
}

impl JsonParts {
    /// Splits a value.
    pub(super) fn new(json: &Json) -> Self {
        Self::at(json, &mut String::new(), &mut Vec::new())
    }

    /// Splits an object, and records repeated keys. The last value of a repeated key is kept.
    pub(super) fn of_object(object: &Object, repairs: &mut Vec<Repair>) -> Self {
        Self::object_at(object, &mut "$".to_owned(), repairs)
    }

    fn at(json: &Json, path: &mut String, repairs: &mut Vec<Repair>) -> Self {
        if let Some(object) = json.to_object() {
            return Self::object_at(&object, path, repairs);
        }
        let Some(list) = json.to_array() else { return Self::Leaf(json.clone()) };
        let length = path.len();
        let elements = list.iter().enumerate().map(|(index, element)| {
            path.push_str(&format!("[{index}]"));
            let element = Self::at(element, path, repairs);
            path.truncate(length);
            element
        });
        Self::Array(elements.collect())
    }

    fn object_at(object: &Object, path: &mut String, repairs: &mut Vec<Repair>) -> Self {
        let mut positions = HashMap::with_capacity(object.len());
        let mut entries: Vec<(String, Self)> = Vec::with_capacity(object.len());
        let length = path.len();
        for (key, value) in object.iter() {
            push_key(path, key);
            let value = Self::at(value, path, repairs);
            let position = *positions.entry(key).or_insert(entries.len());
            match entries.get_mut(position) {
                Some((_, earlier)) => {
                    *earlier = value;
                    repairs.push(Repair::RepeatedKey { path: path.clone() });
                }
                None => entries.push((key.to_owned(), value)),
            }
            path.truncate(length);
        }
        Self::Object(entries)
    }

    /// Returns the part at a location.
    pub(super) fn get(&self, location: &[Segment]) -> Option<&Self> {
        location.iter().try_fold(self, |part, segment| match part {
            Self::Object(entries) => entries.iter().find(|(key, _)| is_key(segment, key)).map(|(_, value)| value),
            Self::Array(elements) => elements.get(index(segment)?),
            Self::Leaf(_) => None,
        })
    }

    /// Returns the part at a location for modification.
    pub(super) fn get_mut(&mut self, location: &[Segment]) -> Option<&mut Self> {
        location.iter().try_fold(self, |part, segment| match part {
            Self::Object(entries) => entries.iter_mut().find(|(key, _)| is_key(segment, key)).map(|(_, value)| value),
            Self::Array(elements) => elements.get_mut(index(segment)?),
            Self::Leaf(_) => None,
        })
    }

    /// Removes a property of an object. Returns whether it existed.
    pub(super) fn remove(&mut self, segment: &Segment) -> bool {
        let Self::Object(entries) = self else { return false };
        let before = entries.len();
        entries.retain(|(key, _)| !is_key(segment, key));
        entries.len() < before
    }

    /// Converts the value for validation.
    ///
    /// # Errors
    ///
    /// A number is too large for a 64-bit float.
    pub(super) fn to_value(&self) -> Result<Value, Violations> {
        Ok(match self {
            Self::Object(entries) => {
                let entries = entries.iter().map(|(key, value)| Ok((key.clone(), value.to_value()?)));
                Value::Object(entries.collect::<Result<_, _>>()?)
            }
            Self::Array(elements) => Value::Array(elements.iter().map(Self::to_value).collect::<Result<_, _>>()?),
            Self::Leaf(json) => serde_json::from_str(json.as_raw())
                .map_err(|_| Violations::at("$".to_owned(), format!("the number {json} is too large")))?,
        })
    }

    pub(super) fn json(&self) -> Json {
        match self {
            Self::Object(entries) => {
                entries.iter().map(|(key, value)| (key.as_str(), value.json())).collect::<Object>().into()
            }
            Self::Array(elements) => elements.iter().map(Self::json).collect::<Vec<_>>().into(),
            Self::Leaf(json) => json.clone(),
        }
    }

    /// Converts the value to an object, an empty one if it is not an object.
    pub(super) fn into_object(self) -> Object {
        match self {
            Self::Object(entries) => entries.into_iter().map(|(key, value)| (key, value.json())).collect(),
            Self::Array(_) | Self::Leaf(_) => Object::new(),
        }
    }
}

/// Returns whether a segment names a key. The complete validator returns keys of digits as indexes.
fn is_key(segment: &Segment, key: &str) -> bool {
    match segment {
        Segment::Key(name) => name == key,
        Segment::Index(index) => key == index.to_string(),
    }
}

fn index(segment: &Segment) -> Option<usize> {
    match segment {
        Segment::Index(index) => Some(*index),
        Segment::Key(_) => None,
    }
}
