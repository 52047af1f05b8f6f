//! The parser of schemas.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::location::{Location, Segment};
use super::subset::{Keyword, Node, NodeId, Subset};
use super::types::{Type, Types};

/// A schema that cannot be compiled.
#[derive(Debug)]
pub(super) enum ParseError {
    /// It is not a valid schema.
    Invalid(String),
    /// It has a keyword that the subset does not cover.
    #[cfg_attr(feature = "json-schema", allow(dead_code, reason = "the complete validator is used instead"))]
    Unsupported { keyword: String, location: Location },
}

/// The one supported draft, which is also the default.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Keywords that are validated only by the complete validator.
const UNSUPPORTED: [&str; 11] = [
    "$dynamicRef",
    "$recursiveRef",
    "additionalItems",
    "contains",
    "dependencies",
    "dependentSchemas",
    "pattern",
    "patternProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$vocabulary",
];

/// The largest integer that a `multipleOf` may have. Larger ones are rounded by other implementations.
const MAX_DIVISOR: u64 = 1 << 53;

/// Parses a schema.
pub(super) fn parse(root: &Value) -> Result<Subset, ParseError> {
    let mut parser = Parser { root, nodes: Vec::new(), references: HashMap::new(), pending: Vec::new() };
    let id = parser.reserve();
    let node = parser.schema(root, &Location::default())?;
    parser.set(id, node);
    // A queue rather than a recursion, since references may be circular or form long chains.
    while let Some((id, target, location)) = parser.pending.pop() {
        let node = parser.schema(target, &location)?;
        parser.set(id, node);
    }
    Ok(Subset::new(parser.nodes))
}

struct Parser<'a> {
    root: &'a Value,
    nodes: Vec<Node>,
    /// The nodes of references, by JSON pointer.
    references: HashMap<&'a str, NodeId>,
    /// Targets of references that are not parsed yet.
    pending: Vec<(NodeId, &'a Value, Location)>,
}

impl<'a> Parser<'a> {
    fn reserve(&mut self) -> NodeId {
        self.nodes.push(Node::Any);
        self.nodes.len() - 1
    }

    fn set(&mut self, id: NodeId, node: Node) {
        if let Some(slot) = self.nodes.get_mut(id) {
            *slot = node;
        }
    }

    fn schema(&mut self, schema: &'a Value, location: &Location) -> Result<Node, ParseError> {
        match schema {
            Value::Bool(true) => Ok(Node::Any),
            Value::Bool(false) => Ok(Node::Never),
            Value::Object(entries) => self.keywords(entries, location),
            other => Err(invalid(format!("{other} is not a schema: expected an object or a boolean"), location)),
        }
    }

    fn subschema(&mut self, schema: &'a Value, location: &Location) -> Result<NodeId, ParseError> {
        let node = self.schema(schema, location)?;
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    fn subschemas(&mut self, value: &'a Value, location: &Location) -> Result<Vec<NodeId>, ParseError> {
        let schemas = value.as_array().filter(|schemas| !schemas.is_empty());
        let schemas = schemas.ok_or_else(|| expected("a list of schemas", value, location))?;
        let parse = |(index, schema)| self.subschema(schema, &location.child(Segment::Index(index)));
        schemas.iter().enumerate().map(parse).collect()
    }

    fn keywords(&mut self, entries: &'a Map<String, Value>, location: &Location) -> Result<Node, ParseError> {
        let mut keywords = Vec::new();
        for (name, value) in entries {
            let location = location.key(name);
            if UNSUPPORTED.contains(&name.as_str()) {
                return Err(ParseError::Unsupported { keyword: format!("`{name}`"), location });
            }
            if let Some(keyword) = self.keyword(name, value, entries, &location)? {
                keywords.push(keyword);
            }
        }
        keywords.sort_by_key(Keyword::priority);
        Ok(Node::Keywords(keywords))
    }

    /// Parses one keyword. Returns `None` for annotations, for unknown keywords, and for parts of another keyword.
    fn keyword(
        &mut self,
        name: &str,
        value: &'a Value,
        siblings: &'a Map<String, Value>,
        location: &Location,
    ) -> Result<Option<Keyword>, ParseError> {
        Ok(Some(match name {
            "$schema" => return draft(value, location).map(|()| None),
            "$id" if location.len() > 1 => {
                return Err(ParseError::Unsupported {
                    keyword: "a nested `$id`".to_owned(),
                    location: location.clone(),
                });
            }
            "$ref" => Keyword::Ref(self.reference(value, location)?),
            "type" => Keyword::Type(types(value, location)?),
            "const" => Keyword::Const(value.clone().into()),
            "enum" => match value {
                Value::Array(options) => Keyword::Enum(options.as_slice().into()),
                other => return Err(expected("a list", other, location)),
            },
            "minimum" => Keyword::Minimum(number(value, location)?),
            "maximum" => Keyword::Maximum(number(value, location)?),
            "exclusiveMinimum" => Keyword::ExclusiveMinimum(number(value, location)?),
            "exclusiveMaximum" => Keyword::ExclusiveMaximum(number(value, location)?),
            "multipleOf" => Keyword::MultipleOf(divisor(value, location)?),
            "minLength" => Keyword::MinLength(size(value, location)?),
            "maxLength" => Keyword::MaxLength(size(value, location)?),
            "minItems" => Keyword::MinItems(size(value, location)?),
            "maxItems" => Keyword::MaxItems(size(value, location)?),
            "minProperties" => Keyword::MinProperties(size(value, location)?),
            "maxProperties" => Keyword::MaxProperties(size(value, location)?),
            "uniqueItems" => match value {
                Value::Bool(true) => Keyword::UniqueItems,
                Value::Bool(false) => return Ok(None),
                other => return Err(expected("a boolean", other, location)),
            },
            "required" => Keyword::Required(strings(value, location)?),
            "dependentRequired" => {
                let parse = |(key, names): (&String, &Value)| Ok((key.clone(), strings(names, &location.key(key))?));
                let entries = object(value, location)?.iter().map(parse);
                Keyword::DependentRequired(entries.collect::<Result<_, ParseError>>()?)
            }
            "properties" => Keyword::Properties(self.properties(value, location)?),
            "additionalProperties" => {
                let known = siblings.get("properties").and_then(Value::as_object);
                let known = known.into_iter().flat_map(Map::keys).cloned().collect();
                Keyword::AdditionalProperties { known, schema: self.subschema(value, location)? }
            }
            "propertyNames" => Keyword::PropertyNames(self.subschema(value, location)?),
            "prefixItems" => Keyword::PrefixItems(self.subschemas(value, location)?),
            "items" => {
                let prefix = siblings.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                Keyword::Items { prefix, schema: self.subschema(value, location)? }
            }
            "allOf" => Keyword::AllOf(self.subschemas(value, location)?),
            "anyOf" => Keyword::AnyOf(self.subschemas(value, location)?),
            "oneOf" => Keyword::OneOf(self.subschemas(value, location)?),
            "not" => Keyword::Not { schema: self.subschema(value, location)?, text: value.to_string() },
            "if" => {
                let condition = self.subschema(value, location)?;
                let mut branch = |name| siblings.get(name).map(|schema| self.subschema(schema, location)).transpose();
                Keyword::If { condition, then: branch("then")?, otherwise: branch("else")? }
            }
            _ => return Ok(None),
        }))
    }

    fn properties(&mut self, value: &'a Value, location: &Location) -> Result<Vec<(String, NodeId)>, ParseError> {
        let parse =
            |(key, schema): (&'a String, &'a Value)| Ok((key.clone(), self.subschema(schema, &location.key(key))?));
        object(value, location)?.iter().map(parse).collect()
    }

    /// Returns the node of a reference to a part of the schema.
    fn reference(&mut self, value: &'a Value, location: &Location) -> Result<NodeId, ParseError> {
        let reference = value.as_str().ok_or_else(|| expected("a string", value, location))?;
        if let Some(id) = self.references.get(reference) {
            return Ok(*id);
        }
        let pointer = reference.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'));
        let Some(pointer) = pointer.filter(|pointer| !pointer.contains('%')) else {
            let keyword = format!("the reference `{reference}`");
            return Err(ParseError::Unsupported { keyword, location: location.clone() });
        };
        let target = self.root.pointer(pointer);
        let target = target.ok_or_else(|| invalid(format!("`{reference}` does not exist"), location))?;
        let id = self.reserve();
        self.references.insert(reference, id);
        let steps = pointer.split('/').skip(1).map(|step| Segment::Key(step.replace("~1", "/").replace("~0", "~")));
        self.pending.push((id, target, steps.collect()));
        Ok(id)
    }
}

fn draft(value: &Value, location: &Location) -> Result<(), ParseError> {
    match value.as_str() {
        Some(draft) if draft.trim_end_matches('#') == DRAFT => Ok(()),
        Some(draft) => {
            let keyword = format!("the draft `{draft}`");
            Err(ParseError::Unsupported { keyword, location: location.clone() })
        }
        None => Err(expected("a string", value, location)),
    }
}

fn types(value: &Value, location: &Location) -> Result<Types, ParseError> {
    let parse = |value: &Value| {
        let known = value.as_str().and_then(Type::parse);
        known.ok_or_else(|| invalid(format!("unknown type {value}"), location))
    };
    match value {
        Value::Array(names) => names.iter().map(parse).collect(),
        one => parse(one).map(|one| [one].into_iter().collect()),
    }
}

fn number(value: &Value, location: &Location) -> Result<Number, ParseError> {
    value.as_number().cloned().ok_or_else(|| expected("a number", value, location))
}

fn divisor(value: &Value, location: &Location) -> Result<u64, ParseError> {
    let number = number(value, location)?;
    if number.as_f64().is_none_or(|number| number <= 0.0) {
        return Err(expected("a positive number", value, location));
    }
    number.as_u64().filter(|integer| *integer <= MAX_DIVISOR).ok_or_else(|| ParseError::Unsupported {
        keyword: format!("`multipleOf` with {value}"),
        location: location.clone(),
    })
}

fn size(value: &Value, location: &Location) -> Result<u64, ParseError> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is a small natural number")]
    let from_float = |float: &f64| *float as u64;
    let float = || value.as_f64().filter(|float| float.fract() == 0.0 && (0.0..1e15).contains(float));
    let size = value.as_u64().or_else(|| float().as_ref().map(from_float));
    size.ok_or_else(|| expected("a natural number", value, location))
}

fn strings(value: &Value, location: &Location) -> Result<Vec<String>, ParseError> {
    let strings = value
        .as_array()
        .and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>());
    strings.ok_or_else(|| expected("a list of strings", value, location))
}

fn object<'a>(value: &'a Value, location: &Location) -> Result<&'a Map<String, Value>, ParseError> {
    value.as_object().ok_or_else(|| expected("an object", value, location))
}

fn expected(expected: &str, value: &Value, location: &Location) -> ParseError {
    let mut found = value.to_string();
    if found.len() > 60 {
        found.truncate(found.floor_char_boundary(60));
        found.push('…');
    }
    invalid(format!("{found} is not {expected}"), location)
}

fn invalid(message: impl std::fmt::Display, location: &Location) -> ParseError {
    ParseError::Invalid(format!("{message} (at {location})"))
}
