//! Decoding and encoding of field values.

use std::borrow::Cow;

use super::error::{DecodeError, DecodeErrorKind};
use super::object::Object;
use super::scan::{Kind, MAX_DEPTH, MAX_DOCUMENT_DEPTH, Raw, Scanner};
use super::shape::Shape;
use super::write;

/// The context of a value, from which missing ids and times are derived.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DecodeContext<'p> {
    /// Id of the containing record.
    pub(crate) owner: &'p str,
    /// Index of the value in the owner.
    pub(crate) index: usize,
    /// Time of the owner.
    pub(crate) time: &'p str,
    /// Whether arbitrary JSON can be a complete message here, which can nest deeper than the values in a message.
    pub(crate) holds_message: bool,
}

impl DecodeContext<'_> {
    /// Returns the id for a value without one.
    pub(crate) fn derived_id(&self) -> String {
        format!("{}.{}", self.owner, self.index)
    }
}

/// The type of a field.
pub(crate) trait Wire<'a>: Sized {
    /// Whether `null` is a value of the type. For other types, `null` is equivalent to a missing field.
    const NULLABLE: bool = false;

    /// Returns the description of the type for the schema.
    fn shape() -> Shape;
    fn decode(raw: Raw<'a>, context: DecodeContext<'_>) -> Result<Self, DecodeError>;

    /// Decodes the next value.
    #[inline]
    fn next(scanner: &mut Scanner<'a>, context: DecodeContext<'_>) -> Result<Self, DecodeError> {
        Self::decode(scanner.value(MAX_DOCUMENT_DEPTH - 1)?, context)
    }

    fn encode(&self, out: &mut String);
}

impl<'a> Wire<'a> for Cow<'a, str> {
    fn shape() -> Shape {
        Shape::String
    }

    #[inline]
    fn decode(raw: Raw<'a>, _: DecodeContext<'_>) -> Result<Self, DecodeError> {
        raw.to_str()
    }

    #[inline]
    fn next(scanner: &mut Scanner<'a>, _: DecodeContext<'_>) -> Result<Self, DecodeError> {
        scanner.text()
    }

    fn encode(&self, out: &mut String) {
        write::string(out, self);
    }
}

impl Wire<'_> for String {
    fn shape() -> Shape {
        Shape::String
    }

    fn decode(raw: Raw<'_>, _: DecodeContext<'_>) -> Result<Self, DecodeError> {
        raw.to_str().map(Cow::into_owned)
    }

    fn encode(&self, out: &mut String) {
        write::string(out, self);
    }
}

impl Wire<'_> for bool {
    fn shape() -> Shape {
        Shape::Boolean
    }

    fn decode(raw: Raw<'_>, _: DecodeContext<'_>) -> Result<Self, DecodeError> {
        match raw.kind {
            Kind::Bool(value) => Ok(value),
            _ => Err(raw.expected("true or false")),
        }
    }

    fn encode(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl Wire<'_> for u64 {
    fn shape() -> Shape {
        Shape::Integer
    }

    fn decode(raw: Raw<'_>, _: DecodeContext<'_>) -> Result<Self, DecodeError> {
        if raw.kind != Kind::Number {
            return Err(raw.expected("a whole number"));
        }
        raw.text.parse().map_err(|_| {
            DecodeError::new(
                DecodeErrorKind::WrongType,
                format!("expected a whole number from 0 to {}, found {}", Self::MAX, raw.text),
            )
        })
    }

    fn encode(&self, out: &mut String) {
        out.push_str(&self.to_string());
    }
}

impl Wire<'_> for Object {
    fn shape() -> Shape {
        Shape::Object
    }

    #[inline]
    fn decode(raw: Raw<'_>, context: DecodeContext<'_>) -> Result<Self, DecodeError> {
        if raw.text == "{}" {
            return Ok(Self::new());
        }
        Self::from_raw(raw, if context.holds_message { MAX_DOCUMENT_DEPTH } else { MAX_DEPTH })
    }

    fn encode(&self, out: &mut String) {
        self.write(out);
    }

    #[inline]
    fn next(scanner: &mut Scanner<'_>, context: DecodeContext<'_>) -> Result<Self, DecodeError> {
        if scanner.skip("{}") {
            return Ok(Self::new());
        }
        Self::decode(scanner.value(MAX_DOCUMENT_DEPTH - 1)?, context)
    }
}

impl<'a, T: Wire<'a>> Wire<'a> for Option<T> {
    const NULLABLE: bool = true;

    fn shape() -> Shape {
        Shape::Nullable(Box::new(T::shape()))
    }

    #[inline]
    fn decode(raw: Raw<'a>, context: DecodeContext<'_>) -> Result<Self, DecodeError> {
        if raw.kind == Kind::Null { Ok(None) } else { T::decode(raw, context).map(Some) }
    }

    fn encode(&self, out: &mut String) {
        match self {
            Some(value) => value.encode(out),
            None => out.push_str("null"),
        }
    }
}

impl<'a, T: Wire<'a>> Wire<'a> for Vec<T> {
    fn shape() -> Shape {
        Shape::Array(Box::new(T::shape()))
    }

    fn decode(raw: Raw<'a>, context: DecodeContext<'_>) -> Result<Self, DecodeError> {
        raw.elements()?
            .enumerate()
            .map(|(index, element)| {
                T::decode(element, DecodeContext { index, ..context }).map_err(|error| error.at_index(index))
            })
            .collect()
    }

    fn encode(&self, out: &mut String) {
        out.push('[');
        for (index, value) in self.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            value.encode(out);
        }
        out.push(']');
    }
}

pub(crate) fn unknown_value_message(what: &str, word: &str, known: &[&str]) -> String {
    format!("unknown {what} {word:?}, expected one of {}", known.join(", "))
}

/// Creates the `serde` error for an unknown value of an enum.
pub(crate) fn unknown_value<E: serde::de::Error>(what: &str, word: &str, known: &[&str]) -> E {
    E::custom(unknown_value_message(what, word, known))
}

/// Declares an enum that is encoded as a string.
macro_rules! string_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident as $what:literal {
            $( $(#[$value_meta:meta])* $value:ident = $word:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$value_meta])* $value, )+
        }

        impl $name {
            /// All values, in the order of their declaration.
            ///
            /// ```
            #[doc = concat!("use recount_message::", stringify!($name), ";")]
            ///
            #[doc = concat!("for value in ", stringify!($name), "::ALL {")]
            #[doc = concat!("    assert_eq!(", stringify!($name), "::from_name(value.as_str()), Some(*value));")]
            /// }
            /// ```
            pub const ALL: &'static [Self] = &[$(Self::$value),+];

            /// Returns the JSON string of the value.
            ///
            /// ```
            #[doc = concat!("use recount_message::", stringify!($name), ";")]
            ///
            $(#[doc = concat!(
                "assert_eq!(", stringify!($name), "::", stringify!($value), ".as_str(), \"", $word, "\");"
            )])+
            /// ```
            pub fn as_str(self) -> &'static str {
                match self {
                    $( Self::$value => $word, )+
                }
            }

            /// Returns the value with a JSON string; `None` for unknown strings.
            ///
            /// ```
            #[doc = concat!("use recount_message::", stringify!($name), ";")]
            ///
            #[doc = concat!("let first = ", stringify!($name), "::ALL[0];")]
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_name(first.as_str()), Some(first));")]
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_name(\"no such word\"), None);")]
            /// ```
            pub fn from_name(word: &str) -> Option<Self> {
                match word {
                    $( $word => Some(Self::$value), )+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                Self::from_name(&word).ok_or_else(|| $crate::json::wire::unknown_value($what, &word, &[$($word),+]))
            }
        }

        impl<'a> $crate::json::wire::Wire<'a> for $name {
            fn shape() -> $crate::json::Shape {
                $crate::json::Shape::Enum(&[$($word),+])
            }

            fn decode(
                raw: $crate::json::scan::Raw<'a>,
                _: $crate::json::wire::DecodeContext<'_>,
            ) -> Result<Self, $crate::DecodeError> {
                let word = raw.to_str()?;
                Self::from_name(&word).ok_or_else(|| {
                    $crate::DecodeError::new(
                        $crate::DecodeErrorKind::UnknownValue,
                        $crate::json::wire::unknown_value_message($what, &word, &[$($word),+]),
                    )
                })
            }

            fn encode(&self, out: &mut String) {
                $crate::json::write::string(out, self.as_str());
            }
        }
    };
}
pub(crate) use string_enum;
