//! Arbitrary JSON values, stored as text.

use std::borrow::Cow;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::error::DecodeError;
use super::object::Object;
use super::scan::{self, Kind, MAX_DEPTH, Raw, is_plain};
use super::write;
use crate::StructuredError;

/// Any JSON value, stored as canonical text: no white space, one way to escape strings, numbers exactly as written.
///
/// Metadata, extra fields and structured output use it because converting their numbers to `f64` and back would change
/// them: `25.0`, `1.0E-4` and integers beyond 64 bits all survive.
///
/// The accessors are named as in [`serde_json::Value`]. [`as_raw`](Self::as_raw) returns the JSON text.
///
/// ```
/// use recount_message::Json;
///
/// let reading = Json::parse(r#" { "celsius": 25.0, "tags": ["a", "b"] } "#)?;
/// assert_eq!(reading.as_raw(), r#"{"celsius":25.0,"tags":["a","b"]}"#);
///
/// let object = reading.to_object().unwrap();
/// assert_eq!(object.get("celsius").unwrap().as_f64(), Some(25.0));
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Repr);

/// The canonical text. Which variant a value has follows from its text, so derived equality compares texts.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    /// Every value except an escaped string. A string without escapes is its own text between the quotes.
    Raw(Box<str>),
    /// A string with escapes, which can only be borrowed if it is stored decoded as well.
    Escaped(Box<EscapedString>),
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct EscapedString {
    raw: Box<str>,
    decoded: Box<str>,
}

impl Json {
    /// Returns the value `null`.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::null().as_raw(), "null");
    /// assert_eq!(Json::from(None::<u8>), Json::null());
    /// ```
    pub fn null() -> Self {
        Self(Repr::Raw("null".into()))
    }

    /// Parses any JSON text.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::parse(" 1.0E-4 ")?.as_raw(), "1.0E-4");
    /// assert!(Json::parse("{a: 1}").is_err());
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, nests deeper than [`MAX_DEPTH`], or contains a lone surrogate.
    pub fn parse(text: &str) -> Result<Self, DecodeError> {
        Self::from_raw(Raw::document(text)?, MAX_DEPTH)
    }

    /// Serializes a value to JSON.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::from_serialize(&[1, 2]).unwrap().as_raw(), "[1,2]");
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the value cannot be represented as JSON, such as a map whose keys are not strings.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let text = serde_json::to_string(value)?;
        Self::parse(&text).map_err(serde::ser::Error::custom)
    }

    pub(crate) fn from_raw(raw: Raw<'_>, depth: usize) -> Result<Self, DecodeError> {
        if let Kind::String { escaped: true } = raw.kind {
            return raw.to_str().map(|text| Self::from(text.into_owned()));
        }
        canonical(raw.text, depth).map(|text| Self(Repr::Raw(text.into_boxed_str())))
    }

    /// Stores a text that is already canonical.
    pub(crate) fn from_canonical(text: String) -> Self {
        let mut value = Self(Repr::Raw(text.into_boxed_str()));
        if let Kind::String { escaped: true } = value.raw().kind
            && let Ok(decoded) = value.raw().to_str().map(Cow::into_owned)
            && let Repr::Raw(raw) = value.0
        {
            value = Self(Repr::Escaped(Box::new(EscapedString { raw, decoded: decoded.into() })));
        }
        value
    }

    /// Returns the canonical JSON text.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::from("say \"hi\"").as_raw(), r#""say \"hi\"""#);
    /// ```
    #[inline]
    pub fn as_raw(&self) -> &str {
        match &self.0 {
            Repr::Raw(raw) => raw,
            Repr::Escaped(string) => &string.raw,
        }
    }

    pub(crate) fn raw(&self) -> Raw<'_> {
        let text = self.as_raw();
        let kind = match text.as_bytes().first() {
            Some(b'"') => Kind::String { escaped: text.contains('\\') },
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b't') => Kind::Bool(true),
            Some(b'f') => Kind::Bool(false),
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        };
        Raw { text, kind }
    }

    /// Returns whether the value is `null`.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert!(Json::from(f64::NAN).is_null());
    /// assert!(!Json::from(0).is_null());
    /// ```
    pub fn is_null(&self) -> bool {
        self.as_raw() == "null"
    }

    /// Returns the decoded string; `None` if the value is not a string.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::parse(r#""caf\u00e9\n""#)?.as_str(), Some("café\n"));
    /// assert_eq!(Json::from(7).as_str(), None);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::Raw(raw) => raw.strip_prefix('"')?.strip_suffix('"'),
            Repr::Escaped(string) => Some(&string.decoded),
        }
    }

    /// Returns the boolean; `None` if the value is not a boolean.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::from(true).as_bool(), Some(true));
    /// assert_eq!(Json::from("true").as_bool(), None);
    /// ```
    pub fn as_bool(&self) -> Option<bool> {
        match self.as_raw() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Returns the number as `i64`; `None` if the value is not an integer or does not fit.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::from(-3).as_i64(), Some(-3));
    /// assert_eq!(Json::parse("25.0")?.as_i64(), None);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn as_i64(&self) -> Option<i64> {
        self.as_raw().parse().ok()
    }

    /// Returns the number as `u64`; `None` if the value is not a non-negative integer or does not fit.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::from(u64::MAX).as_u64(), Some(u64::MAX));
    /// assert_eq!(Json::from(-1).as_u64(), None);
    /// ```
    pub fn as_u64(&self) -> Option<u64> {
        self.as_raw().parse().ok()
    }

    /// Returns the number as the nearest `f64`; `None` if the value is not a number or exceeds the range of `f64`.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::parse("1.0E-4")?.as_f64(), Some(0.0001));
    /// assert_eq!(Json::from(2).as_f64(), Some(2.0));
    /// assert_eq!(Json::parse("1e400")?.as_f64(), None);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn as_f64(&self) -> Option<f64> {
        match self.raw().kind {
            Kind::Number => self.as_raw().parse().ok().filter(|number: &f64| number.is_finite()),
            Kind::Null | Kind::Bool(_) | Kind::String { .. } | Kind::Array | Kind::Object => None,
        }
    }

    /// Parses the entries of an object; `None` if the value is not an object.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// let reading = Json::parse(r#"{"celsius":25.0}"#)?;
    /// assert!(reading.to_object().unwrap().contains_key("celsius"));
    /// assert_eq!(Json::from([1, 2]).to_object(), None);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn to_object(&self) -> Option<Object> {
        Object::from_raw(self.raw(), usize::MAX).ok()
    }

    /// Parses the elements of an array; `None` if the value is not an array.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// let tags = Json::from(["important", "urgent"]).to_array().unwrap();
    /// assert_eq!(tags[1].as_str(), Some("urgent"));
    /// ```
    pub fn to_array(&self) -> Option<Vec<Self>> {
        let elements = self.raw().elements().ok()?;
        Some(elements.map(|element| Self::from_canonical(element.text.to_owned())).collect())
    }

    /// Deserializes the value as a Rust type.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// let scores = Json::parse("[1, 2, -3]")?;
    /// assert_eq!(scores.deserialize_as::<Vec<i8>>().unwrap(), [1, 2, -3]);
    /// let error = scores.deserialize_as::<Vec<u8>>().unwrap_err();
    /// assert!(error.to_string().starts_with("`[2]`: invalid value"));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the value does not match the type. The error names the path and the expected type.
    pub fn deserialize_as<T: DeserializeOwned>(&self) -> Result<T, StructuredError> {
        StructuredError::decode(self.as_raw())
    }
}

/// Copies a well-formed text without white space and with canonical strings, and checks its depth.
fn canonical(text: &str, depth: usize) -> Result<String, DecodeError> {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut open = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {
                at += 1;
                continue;
            }
            b'"' => {
                at = copy_string(text, at, &mut out)?;
                continue;
            }
            b'{' | b'[' => {
                open += 1;
                if open > depth {
                    return Err(scan::too_deep());
                }
            }
            b'}' | b']' => open -= 1,
            _ => {}
        }
        // Outside its strings a JSON text is ASCII.
        out.push(char::from(byte));
        at += 1;
    }
    Ok(out)
}

/// Copies the string that begins at `start` and returns the position after it.
fn copy_string(text: &str, start: usize, out: &mut String) -> Result<usize, DecodeError> {
    let bytes = text.as_bytes();
    let mut escaped = false;
    let mut at = scan::next_special(bytes, start + 1);
    while bytes.get(at) == Some(&b'\\') {
        escaped = true;
        at = scan::next_special(bytes, at + 2);
    }
    let inner = text.get(start + 1..at).unwrap_or_default();
    if escaped {
        write::string(out, &scan::unescape(inner)?);
    } else {
        out.push('"');
        out.push_str(inner);
        out.push('"');
    }
    Ok(at + 1)
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_raw())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_raw())
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        if is_plain(text.as_bytes()) { Self(Repr::Raw(quoted(text))) } else { Self::from(text.to_owned()) }
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        let raw = quoted(&text);
        if raw.len() == text.len() + 2 {
            return Self(Repr::Raw(raw));
        }
        Self(Repr::Escaped(Box::new(EscapedString { raw, decoded: text.into_boxed_str() })))
    }
}

fn quoted(text: &str) -> Box<str> {
    let mut out = String::with_capacity(text.len() + 2);
    write::string(&mut out, text);
    out.into_boxed_str()
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self(Repr::Raw(if value { "true".into() } else { "false".into() }))
    }
}

macro_rules! from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Json {
            fn from(value: $integer) -> Self {
                Self::from_canonical(value.to_string())
            }
        }
    )*};
}
from_integer!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl From<f64> for Json {
    /// `NaN` and infinities become `null`, as in `serde_json` and JavaScript.
    fn from(value: f64) -> Self {
        serde_json::Number::from_f64(value).map_or_else(Self::null, |number| Self::from_canonical(number.to_string()))
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(values: Vec<T>) -> Self {
        let mut out = String::from("[");
        for value in values {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(value.into().as_raw());
        }
        out.push(']');
        Self::from_canonical(out)
    }
}

impl<T: Into<Json>, const N: usize> From<[T; N]> for Json {
    fn from(values: [T; N]) -> Self {
        Self::from(Vec::from(values))
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Self::null, Into::into)
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self::from_canonical(value.to_string())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_text(self.as_raw().to_owned(), serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(text.get()).map_err(serde::de::Error::custom)
    }
}

/// Passes a JSON text through a `serde` serializer unchanged. Only `serde_json`'s serializer supports this.
pub(crate) fn serialize_text<S: Serializer>(text: String, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(text).map_err(serde::ser::Error::custom)?.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Json::parse(text).unwrap().as_raw(), expected);
    }

    #[test]
    fn parse_keeps_number_lexemes() {
        for lexeme in ["25", "25.0", "-0", "1.0E-4", "1e400", "123456789012345678901234567890"] {
            check(lexeme, lexeme);
        }
    }

    #[test]
    fn parse_removes_white_space_outside_strings() {
        check(" { \"a b\" : [ 1 ,\n\t2 ] } ", "{\"a b\":[1,2]}");
    }

    #[test]
    fn parse_normalizes_escapes() {
        check(r#""\u00e9\/\u0041\n\u001f\ud83c\udf0d""#, "\"é/A\\n\\u001f🌍\"");
        check(r#"{"\u0061":"\\\""}"#, r#"{"a":"\\\""}"#);
    }

    #[test]
    fn parse_rejects_lone_surrogate() {
        let error = Json::parse(r#"["\ud83c"]"#).unwrap_err();
        assert_eq!(error.kind(), crate::DecodeErrorKind::LoneSurrogate);
    }

    #[test]
    fn escaped_strings_are_equal_however_they_are_made() {
        let text = "a \"b\"\n🌍";
        let expected = Json::from(text);
        assert_eq!(expected.as_str(), Some(text));
        let raw = expected.as_raw().to_owned();
        for value in [
            Json::from(text.to_owned()),
            Json::parse(&raw).unwrap(),
            Json::parse(r#""a \u0022b\u0022\n\ud83c\udf0d""#).unwrap(),
            Json::from_canonical(raw.clone()),
            Json::from([text]).to_array().unwrap().remove(0),
            Object::from([("key", text)]).get("key").unwrap().clone(),
            Object::parse(&format!("{{\"key\":{raw}}}")).unwrap().get("key").unwrap().clone(),
            Json::from(serde_json::Value::from(text)),
        ] {
            assert_eq!(value, expected);
            assert_eq!((value.as_raw(), value.as_str()), (&*raw, Some(text)));
        }
    }

    #[test]
    fn numbers_convert_as_in_serde_json() {
        for text in
            ["0", "-0", "7", "-7", "25.0", "1e3", "18446744073709551615", "-9223372036854775808", "\"7\"", "null"]
        {
            let (ours, theirs) = (Json::parse(text).unwrap(), serde_json::from_str::<serde_json::Value>(text).unwrap());
            assert_eq!((ours.as_u64(), ours.as_f64()), (theirs.as_u64(), theirs.as_f64()), "{text}");
        }
        assert_eq!(Json::parse("-0").unwrap().as_i64(), Some(0));
    }

    #[test]
    fn a_value_takes_two_words() {
        assert_eq!(size_of::<Json>(), 2 * size_of::<usize>());
    }

    #[test]
    fn parse_rejects_excessive_depth() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::parse(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(Json::parse(&nested(MAX_DEPTH + 1)).unwrap_err().kind(), crate::DecodeErrorKind::TooDeep);
        assert_eq!(Json::parse(&nested(100_000)).unwrap_err().kind(), crate::DecodeErrorKind::TooDeep);
    }
}
