//! JSON that is taken apart, so that a part of it can be changed and no number in the rest is ever read.

use std::collections::HashMap;

use jsonschema::paths::LocationSegment;
use recount_message::{Json, Object};
use serde_json::Value;

use super::Repair;
use crate::tool::schema::{Violations, push_key};

/// A JSON value. Each key of an object is there once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tree {
    Object(Vec<(String, Tree)>),
    Array(Vec<Tree>),
    /// A string, a number, a boolean or `null`.
    Leaf(Json),
}

impl Tree {
    /// Takes an object apart. Keys that come again are noted.
    pub(super) fn of_object(object: &Object, repeated: &mut Vec<Repair>) -> Self {
        Self::object_at(object, &mut "$".to_owned(), repeated)
    }

    /// Takes any value apart.
    pub(super) fn of(json: &Json) -> Self {
        Self::at(json, &mut String::new(), &mut Vec::new())
    }

    fn at(json: &Json, path: &mut String, repeated: &mut Vec<Repair>) -> Self {
        if let Some(object) = json.to_object() {
            return Self::object_at(&object, path, repeated);
        }
        let Some(list) = json.to_list() else { return Self::Leaf(json.clone()) };
        let length = path.len();
        let elements = list.iter().enumerate().map(|(index, element)| {
            path.push_str(&format!("[{index}]"));
            let element = Self::at(element, path, repeated);
            path.truncate(length);
            element
        });
        Self::Array(elements.collect())
    }

    fn object_at(object: &Object, path: &mut String, repeated: &mut Vec<Repair>) -> Self {
        let mut places = HashMap::with_capacity(object.len());
        let mut entries: Vec<(String, Self)> = Vec::with_capacity(object.len());
        let length = path.len();
        for (key, value) in object.iter() {
            push_key(path, key);
            let value = Self::at(value, path, repeated);
            let place = *places.entry(key).or_insert(entries.len());
            match entries.get_mut(place) {
                Some((_, earlier)) => {
                    *earlier = value;
                    repeated.push(Repair::RepeatedKey { path: path.clone() });
                }
                None => entries.push((key.to_owned(), value)),
            }
            path.truncate(length);
        }
        Self::Object(entries)
    }

    /// The part at a place.
    pub(super) fn get<'a>(&self, place: impl Iterator<Item = LocationSegment<'a>>) -> Option<&Self> {
        place.into_iter().try_fold(self, |tree, step| match tree {
            Self::Object(entries) => entries.iter().find(|(key, _)| is_step(&step, key)).map(|(_, value)| value),
            Self::Array(elements) => elements.get(index(&step)?),
            Self::Leaf(_) => None,
        })
    }

    /// The same, to change it.
    pub(super) fn get_mut<'a>(&mut self, place: impl Iterator<Item = LocationSegment<'a>>) -> Option<&mut Self> {
        place.into_iter().try_fold(self, |tree, step| match tree {
            Self::Object(entries) => entries.iter_mut().find(|(key, _)| is_step(&step, key)).map(|(_, value)| value),
            Self::Array(elements) => elements.get_mut(index(&step)?),
            Self::Leaf(_) => None,
        })
    }

    /// Removes a key of an object. Says whether it was one.
    pub(super) fn remove(&mut self, step: &LocationSegment<'_>) -> bool {
        let Self::Object(entries) = self else { return false };
        let before = entries.len();
        entries.retain(|(key, _)| !is_step(step, key));
        entries.len() < before
    }

    /// The value as a schema looks at it.
    pub(super) fn value(&self) -> Result<Value, Violations> {
        Ok(match self {
            Self::Object(entries) => {
                let entries = entries.iter().map(|(key, value)| Ok((key.clone(), value.value()?)));
                Value::Object(entries.collect::<Result<_, _>>()?)
            }
            Self::Array(elements) => Value::Array(elements.iter().map(Self::value).collect::<Result<_, _>>()?),
            Self::Leaf(json) => serde_json::from_str(json.as_str())
                .map_err(|_| Violations::at("$".to_owned(), format!("the number {json} is too large")))?,
        })
    }

    pub(super) fn to_json(&self) -> Json {
        match self {
            Self::Object(entries) => {
                entries.iter().map(|(key, value)| (key.as_str(), value.to_json())).collect::<Object>().into()
            }
            Self::Array(elements) => elements.iter().map(Self::to_json).collect::<Vec<_>>().into(),
            Self::Leaf(json) => json.clone(),
        }
    }

    /// The object that this is.
    pub(super) fn into_object(self) -> Object {
        match self {
            Self::Object(entries) => entries.into_iter().map(|(key, value)| (key, value.to_json())).collect(),
            Self::Array(_) | Self::Leaf(_) => Object::new(),
        }
    }
}

/// Whether a step leads to a key. A key of digits looks like an index.
fn is_step(step: &LocationSegment<'_>, key: &str) -> bool {
    match step {
        LocationSegment::Property(name) => name == key,
        LocationSegment::Index(index) => key == index.to_string(),
    }
}

fn index(step: &LocationSegment<'_>) -> Option<usize> {
    match step {
        LocationSegment::Index(index) => Some(*index),
        LocationSegment::Property(_) => None,
    }
}
