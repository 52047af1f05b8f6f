//! The types of JSON Schema.

use std::fmt;

use serde_json::Value;

/// A type in a schema. An integer is also a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    const ALL: [Self; 7] =
        [Self::Null, Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object];

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// A set of types.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) fn contains(self, wanted: Type) -> bool {
        self.0 & (1 << wanted as u8) != 0
    }

    /// Returns whether a value has one of the types.
    pub(super) fn accepts(self, value: &Value) -> bool {
        match value {
            Value::Null => self.contains(Type::Null),
            Value::Bool(_) => self.contains(Type::Boolean),
            Value::Number(number) => {
                let is_integer = || number.as_f64().is_some_and(|number| number.fract() == 0.0);
                self.contains(Type::Number) || (self.contains(Type::Integer) && is_integer())
            }
            Value::String(_) => self.contains(Type::String),
            Value::Array(_) => self.contains(Type::Array),
            Value::Object(_) => self.contains(Type::Object),
        }
    }
}

impl FromIterator<Type> for Types {
    fn from_iter<T: IntoIterator<Item = Type>>(types: T) -> Self {
        Self(types.into_iter().fold(0, |bits, one| bits | 1 << one as u8))
    }
}

/// Writes `type "integer"` or `types "integer", "null"`.
impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_power_of_two() { "type " } else { "types " })?;
        let contained = Type::ALL.into_iter().filter(|one| self.contains(*one));
        for (index, one) in contained.enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}\"{}\"", one.name())?;
        }
        Ok(())
    }
}
