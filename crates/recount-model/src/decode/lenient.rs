//! Deserialization that tolerates unexpected types.
//!
//! Endpoints that claim compatibility omit fields, send `null`, or send other types. A field of an unexpected type
//! counts as missing; only invalid JSON is an error.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor, value};

/// An optional string.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Option<Cow<'a, str>>);

impl<'a> Text<'a> {
    pub(crate) fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Returns the string. `None` if it is missing or empty.
    pub(crate) fn non_empty(self) -> Option<Cow<'a, str>> {
        self.0.filter(|text| !text.is_empty())
    }
}

/// An optional non-negative integer. Accepts `3.0` and `"3"` too.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) Option<u64>);

/// A boolean that defaults to `false`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) bool);

/// An optional object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// An array of objects. Elements of other types are dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// A string or an object.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum TextOr<'a, T> {
    Text(Cow<'a, str>),
    Object(T),
    #[default]
    Neither,
}

/// A string or an array of objects.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum TextOrList<'a, T> {
    Text(Cow<'a, str>),
    List(Vec<T>),
    #[default]
    Neither,
}

/// An optional string. Integers are accepted and converted.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct TextOrNumber<'a>(pub(crate) Option<Cow<'a, str>>);

impl TextOrNumber<'_> {
    pub(crate) fn as_deref(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// Deserializes an object.
///
/// # Errors
///
/// If the text is not valid JSON or not an object.
pub(crate) fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    serde_json::from_str::<Maybe<T>>(text)?.0.ok_or_else(|| Error::custom("expected an object"))
}

/// Visitor methods for unexpected types, which return the default value.
macro_rules! otherwise {
    ($($visit:ident: $($argument:ty)?),* $(,)?) => {$(
        fn $visit<E: Error>(self $(, _value: $argument)?) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    )*};
    (list) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (object) => {
        fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
            while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Owned(text.to_owned()))))
            }

            otherwise!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_unit:);
            otherwise!(list);
            otherwise!(object);
        }

        deserializer.deserialize_any(TextVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for TextOrNumber<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrNumberVisitor;

        impl<'de> Visitor<'de> for TextOrNumberVisitor {
            type Value = TextOrNumber<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TextOrNumber(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextOrNumber(Some(Cow::Owned(text.to_owned()))))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(TextOrNumber(Some(Cow::Owned(number.to_string()))))
            }

            otherwise!(visit_bool: bool, visit_i64: i64, visit_f64: f64, visit_unit:);
            otherwise!(list);
            otherwise!(object);
        }

        deserializer.deserialize_any(TextOrNumberVisitor)
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for TextOr<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOrVisitor<T> {
            type Value = TextOr<'de, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TextOr::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextOr::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
                T::deserialize(value::MapAccessDeserializer::new(object)).map(TextOr::Object)
            }

            otherwise!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_unit:);
            otherwise!(list);
        }

        deserializer.deserialize_any(TextOrVisitor(PhantomData))
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for TextOrList<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrListVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOrListVisitor<T> {
            type Value = TextOrList<'de, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TextOrList::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextOrList::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element::<Maybe<T>>()? {
                    items.extend(item.0);
                }
                Ok(TextOrList::List(items))
            }

            otherwise!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_unit:);
            otherwise!(object);
        }

        deserializer.deserialize_any(TextOrListVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;

        impl<'de> Visitor<'de> for CountVisitor {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_u64<E: Error>(self, count: u64) -> Result<Count, E> {
                Ok(Count(Some(count)))
            }

            fn visit_f64<E: Error>(self, count: f64) -> Result<Count, E> {
                let whole = count.fract() == 0.0 && (0.0..=2_f64.powi(53)).contains(&count);
                Ok(Count(whole.then_some(count as u64)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Count, E> {
                Ok(Count(text.parse().ok()))
            }

            otherwise!(visit_bool: bool, visit_i64: i64, visit_unit:);
            otherwise!(list);
            otherwise!(object);
        }

        deserializer.deserialize_any(CountVisitor)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;

        impl<'de> Visitor<'de> for FlagVisitor {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(flag))
            }

            otherwise!(visit_str: &str, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_unit:);
            otherwise!(list);
            otherwise!(object);
        }

        deserializer.deserialize_any(FlagVisitor)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Maybe<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Maybe<T>, A::Error> {
                T::deserialize(value::MapAccessDeserializer::new(object)).map(|object| Maybe(Some(object)))
            }

            otherwise!(
                visit_str: &str, visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_unit:
            );
            otherwise!(list);
        }

        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List<T>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element::<Maybe<T>>()? {
                    items.extend(item.0);
                }
                Ok(List(items))
            }

            otherwise!(
                visit_str: &str, visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_unit:
            );
            otherwise!(object);
        }

        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Sample<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        count: Count,
        flag: Flag,
        #[serde(borrow)]
        inner: Maybe<Inner<'a>>,
        #[serde(borrow)]
        list: List<Inner<'a>>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Inner<'a> {
        #[serde(borrow)]
        a: Text<'a>,
    }

    fn read(text: &str) -> Sample<'_> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn deserializes_expected_types() {
        let sample = read(r#"{"text":"x","count":3,"flag":true,"inner":{"a":"b"},"list":[{"a":"c"},{}]}"#);
        assert!(matches!(sample.text.0, Some(Cow::Borrowed("x"))));
        assert_eq!(sample.count, Count(Some(3)));
        assert_eq!(sample.flag, Flag(true));
        assert_eq!(sample.inner.0.unwrap().a.as_deref(), Some("b"));
        assert_eq!(sample.list.0.len(), 2);
    }

    #[test]
    fn unexpected_types_count_as_missing() {
        for odd in ["null", "-1", "1.5", "\"\\u0041x\"", "[1,[2]]", "{\"q\":{}}", "[]"] {
            let text = format!(r#"{{"count":{odd},"flag":{odd},"list":{odd},"inner":{odd},"more":{odd}}}"#);
            let sample = read(&text);
            assert_eq!((sample.count, sample.flag), (Count(None), Flag(false)), "{odd}");
            assert_eq!(sample.list.0, [], "{odd}");
        }
        for odd in ["null", "true", "-1", "1.5", "7", "[\"x\"]", "{\"q\":\"x\"}"] {
            assert_eq!(read(&format!(r#"{{"text":{odd}}}"#)).text, Text(None), "{odd}");
        }
    }

    #[test]
    fn count_accepts_strings_and_whole_floats() {
        assert_eq!(read(r#"{"count":"12"}"#).count, Count(Some(12)));
        assert_eq!(read(r#"{"count":12.0}"#).count, Count(Some(12)));
        assert_eq!(read(r#"{"count":1e300}"#).count, Count(None));
    }
}
