//! How a Rust type is read from and written to a field.

use std::borrow::Cow;

use super::error::{DecodeError, DecodeErrorKind};
use super::object::Object;
use super::scan::{Kind, MAX_DEPTH, MAX_DOCUMENT_DEPTH, Raw, Scanner};
use super::shape::Shape;
use super::write;

/// Where a value stands, from which ids and times that it lacks are derived.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place<'p> {
    /// The id of what holds the value.
    pub(crate) owner: &'p str,
    /// Which of the owner's children it is.
    pub(crate) index: usize,
    /// The owner's time.
    pub(crate) time: &'p str,
    /// Whether a free value here may be a whole message, which nests deeper than what a message may hold.
    pub(crate) holds_message: bool,
}

impl Place<'_> {
    /// The id of a value that came without one.
    pub(crate) fn derived_id(&self) -> String {
        format!("{}.{}", self.owner, self.index)
    }
}

/// A type that can stand in a field.
pub(crate) trait Wire<'a>: Sized {
    /// Whether `null` is one of its values. For any other type a `null` is as good as no field.
    const NULLABLE: bool = false;

    /// What the type looks like, for the schema and the documentation.
    fn shape() -> Shape;
    fn decode(raw: Raw<'a>, place: Place<'_>) -> Result<Self, DecodeError>;

    /// Reads the value that comes next.
    #[inline]
    fn next(scanner: &mut Scanner<'a>, place: Place<'_>) -> Result<Self, DecodeError> {
        Self::decode(scanner.value(MAX_DOCUMENT_DEPTH - 1)?, place)
    }

    fn encode(&self, out: &mut String);
}

impl<'a> Wire<'a> for Cow<'a, str> {
    fn shape() -> Shape {
        Shape::Text
    }

    #[inline]
    fn decode(raw: Raw<'a>, _: Place<'_>) -> Result<Self, DecodeError> {
        raw.to_str()
    }

    #[inline]
    fn next(scanner: &mut Scanner<'a>, _: Place<'_>) -> Result<Self, DecodeError> {
        scanner.text()
    }

    fn encode(&self, out: &mut String) {
        write::string(out, self);
    }
}

impl Wire<'_> for String {
    fn shape() -> Shape {
        Shape::Text
    }

    fn decode(raw: Raw<'_>, _: Place<'_>) -> Result<Self, DecodeError> {
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

    fn decode(raw: Raw<'_>, _: Place<'_>) -> Result<Self, DecodeError> {
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
        Shape::Count
    }

    fn decode(raw: Raw<'_>, _: Place<'_>) -> Result<Self, DecodeError> {
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
    fn decode(raw: Raw<'_>, place: Place<'_>) -> Result<Self, DecodeError> {
        if raw.text == "{}" {
            return Ok(Self::new());
        }
        Self::from_raw(raw, if place.holds_message { MAX_DOCUMENT_DEPTH } else { MAX_DEPTH })
    }

    fn encode(&self, out: &mut String) {
        self.write(out);
    }

    #[inline]
    fn next(scanner: &mut Scanner<'_>, place: Place<'_>) -> Result<Self, DecodeError> {
        if scanner.skip("{}") {
            return Ok(Self::new());
        }
        Self::decode(scanner.value(MAX_DOCUMENT_DEPTH - 1)?, place)
    }
}

impl<'a, T: Wire<'a>> Wire<'a> for Option<T> {
    const NULLABLE: bool = true;

    fn shape() -> Shape {
        Shape::Nullable(Box::new(T::shape()))
    }

    #[inline]
    fn decode(raw: Raw<'a>, place: Place<'_>) -> Result<Self, DecodeError> {
        if raw.kind == Kind::Null { Ok(None) } else { T::decode(raw, place).map(Some) }
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
        Shape::List(Box::new(T::shape()))
    }

    fn decode(raw: Raw<'a>, place: Place<'_>) -> Result<Self, DecodeError> {
        raw.elements()?
            .enumerate()
            .map(|(index, element)| T::decode(element, Place { index, ..place }).map_err(|error| error.at_index(index)))
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

pub(crate) fn unknown_word_message(what: &str, word: &str, known: &[&str]) -> String {
    format!("unknown {what} {word:?}, expected one of {}", known.join(", "))
}

/// Creates the `serde` error for a word that is not a value of an enum.
pub(crate) fn unknown_word<E: serde::de::Error>(what: &str, word: &str, known: &[&str]) -> E {
    E::custom(unknown_word_message(what, word, known))
}

/// Declares an enum whose values are words on the wire.
macro_rules! words {
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
            /// Every value, in the order of the declaration.
            ///
            /// ```
            #[doc = concat!("use recount_message::", stringify!($name), ";")]
            ///
            #[doc = concat!("for value in ", stringify!($name), "::ALL {")]
            #[doc = concat!("    assert_eq!(", stringify!($name), "::from_word(value.as_str()), Some(*value));")]
            /// }
            /// ```
            pub const ALL: &'static [Self] = &[$(Self::$value),+];

            /// The word that stands for it in JSON.
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

            /// The value that a word stands for.
            ///
            /// ```
            #[doc = concat!("use recount_message::", stringify!($name), ";")]
            ///
            #[doc = concat!("let first = ", stringify!($name), "::ALL[0];")]
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_word(first.as_str()), Some(first));")]
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_word(\"no such word\"), None);")]
            /// ```
            pub fn from_word(word: &str) -> Option<Self> {
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
                Self::from_word(&word).ok_or_else(|| $crate::json::wire::unknown_word($what, &word, &[$($word),+]))
            }
        }

        impl<'a> $crate::json::wire::Wire<'a> for $name {
            fn shape() -> $crate::json::Shape {
                $crate::json::Shape::Words(&[$($word),+])
            }

            fn decode(
                raw: $crate::json::scan::Raw<'a>,
                _: $crate::json::wire::Place<'_>,
            ) -> Result<Self, $crate::DecodeError> {
                let word = raw.to_str()?;
                Self::from_word(&word).ok_or_else(|| {
                    $crate::DecodeError::new(
                        $crate::DecodeErrorKind::UnknownValue,
                        $crate::json::wire::unknown_word_message($what, &word, &[$($word),+]),
                    )
                })
            }

            fn encode(&self, out: &mut String) {
                $crate::json::write::string(out, self.as_str());
            }
        }
    };
}
pub(crate) use words;
