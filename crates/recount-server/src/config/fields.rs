//! Deserializers that validate fields of the configuration, so that errors have a line number.

use std::fmt;

use recount_agent_config::ModelName;
use serde::de::{Error as _, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use super::ServerConfig;
use crate::duration::{parse_duration, parse_size};

pub(super) fn duration_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text).map_err(D::Error::custom)?;
    Ok(text)
}

pub(super) fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    ServerConfig::parse_listen(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

pub(super) fn model_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    ModelName::deserialize(deserializer).map(|model| Some(model.into()))
}

pub(super) fn endpoint<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let uri: Option<http::Uri> = text.parse().ok();
    let is_web = |uri: &http::Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some();
    if uri.as_ref().is_some_and(is_web) {
        return Ok(Some(text));
    }
    Err(D::Error::custom(format!("invalid URL {text:?}: expected one such as \"http://127.0.0.1:4318\"")))
}

pub(super) fn hosts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let hosts = list(deserializer)?;
    let is_name = |host: &String| {
        host.parse::<std::net::IpAddr>().is_ok()
            || (!host.is_empty() && host.chars().all(|char| char.is_alphanumeric() || matches!(char, '.' | '-' | '_')))
    };
    match hosts.iter().find(|host| !is_name(host)) {
        Some(host) => Err(D::Error::custom(format!(
            "invalid host name {host:?}: expected one without scheme and port, such as \"recount.example.com\""
        ))),
        None => Ok(hosts),
    }
}

fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    deserializer.deserialize_any(ListVisitor)
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of strings, or a comma-separated string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<String>, E> {
        let items = text.split(',').map(|item| item.trim().to_owned());
        Ok(items.filter(|item| !item.is_empty()).collect())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<String>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(list)
    }
}

pub(super) fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    deserializer.deserialize_any(SizeVisitor)
}

pub(super) fn some_size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    size(deserializer).map(Some)
}

struct SizeVisitor;

impl Visitor<'_> for SizeVisitor {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a string such as \"32 MiB\"")
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<usize, E> {
        let size = usize::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))?;
        at_least_one(size)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<usize, E> {
        let size = usize::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))?;
        at_least_one(size)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<usize, E> {
        at_least_one(parse_size(text).map_err(E::custom)?)
    }
}

/// Rejects a limit of zero, with which the service would reject every request.
fn at_least_one<E: serde::de::Error>(size: usize) -> Result<usize, E> {
    if size == 0 { Err(E::custom("expected at least 1, found 0")) } else { Ok(size) }
}
