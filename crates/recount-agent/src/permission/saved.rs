//! Permissions as JSON.

use std::collections::BTreeMap;

use recount_message::{Json, Object, PermissionBehavior, PermissionRule};
use serde::de::{DeserializeOwned, Error};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Permissions;
use super::rules::{Rules, WorkingDirectory};

impl Serialize for Permissions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("mode", &self.mode)?;
        map.serialize_entry("working_directories", &self.working_directories)?;
        map.serialize_entry("allow_rules", &rules_to_json(&self.allow_rules))?;
        map.serialize_entry("deny_rules", &rules_to_json(&self.deny_rules))?;
        map.serialize_entry("ask_rules", &rules_to_json(&self.ask_rules))?;
        for (key, value) in self.extra.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Permissions {
    /// Missing fields have their defaults, and unknown fields are kept. A rule that is listed under another tool or behavior
    /// than its own is an error.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Object::deserialize(deserializer)?;
        let mut permissions = Self::new(take::<_, D::Error>(&mut fields, "mode")?);
        let directories: BTreeMap<String, WorkingDirectory> = take(&mut fields, "working_directories")?;
        permissions.working_directories = directories;
        permissions.allow_rules = rules::<D::Error>(&mut fields, "allow_rules", PermissionBehavior::Allow)?;
        permissions.deny_rules = rules::<D::Error>(&mut fields, "deny_rules", PermissionBehavior::Deny)?;
        permissions.ask_rules = rules::<D::Error>(&mut fields, "ask_rules", PermissionBehavior::Ask)?;
        permissions.extra = fields;
        Ok(permissions)
    }
}

fn take<T: DeserializeOwned + Default, E: Error>(fields: &mut Object, name: &str) -> Result<T, E> {
    match fields.remove(name).filter(|value| !Json::is_null(value)) {
        Some(value) => value.deserialize_as().map_err(|error| E::custom(format!("`{name}`: {error}"))),
        None => Ok(T::default()),
    }
}

fn rules<E: Error>(fields: &mut Object, name: &str, behavior: PermissionBehavior) -> Result<Rules, E> {
    let lists: BTreeMap<String, Vec<Object>> = take(fields, name)?;
    let mut rules = Rules::new();
    for (tool, list) in lists {
        let mut parsed = Vec::with_capacity(list.len());
        for (index, fields) in list.into_iter().enumerate() {
            let invalid = |problem: String| E::custom(format!("`{name}.{tool}[{index}]`: {problem}"));
            let rule = rule(fields).map_err(invalid)?;
            if rule.tool_name != tool || rule.behavior != behavior {
                return Err(invalid(format!("the rule has behavior {} and tool `{}`", rule.behavior, rule.tool_name)));
            }
            parsed.push(rule);
        }
        rules.insert(tool, parsed);
    }
    Ok(rules)
}

fn rule(mut fields: Object) -> Result<PermissionRule, String> {
    let mut word = |name: &str| match fields.remove(name) {
        None => Ok(None),
        Some(value) if value.is_null() => Ok(None),
        Some(value) => value.as_str().map(str::to_owned).map(Some).ok_or_else(|| format!("`{name}` is not a string")),
    };
    let tool = word("tool_name")?.ok_or("`tool_name` is missing")?;
    let content = word("rule_content")?;
    let behavior = word("behavior")?.ok_or("`behavior` is missing")?;
    let source = word("source")?.unwrap_or_default();
    let behavior = PermissionBehavior::from_name(&behavior).ok_or_else(|| format!("unknown behavior `{behavior}`"))?;
    let mut rule = PermissionRule::new(tool, content.as_deref(), behavior).with_source(source);
    rule.extra = fields;
    Ok(rule)
}

fn rules_to_json(rules: &Rules) -> BTreeMap<&str, Vec<Object>> {
    rules.iter().map(|(tool, rules)| (tool.as_str(), rules.iter().map(rule_to_json).collect())).collect()
}

/// Converts a rule to JSON.
pub(crate) fn rule_to_json(rule: &PermissionRule) -> Object {
    let mut fields = Object::from([
        ("tool_name", Json::from(rule.tool_name.as_str())),
        ("rule_content", rule.rule_content.as_deref().into()),
        ("behavior", rule.behavior.as_str().into()),
        ("source", rule.source.as_str().into()),
    ]);
    for (key, value) in rule.extra.iter() {
        fields.insert(key, value.clone());
    }
    fields
}
