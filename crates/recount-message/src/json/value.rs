//! Free JSON: any value, kept as text.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::error::DecodeError;
use super::object::Object;
use super::scan::{self, Kind, MAX_DEPTH, Raw};
use super::write;
use crate::StructuredError;

/// Any JSON value, kept as canonical text: no white space, strings escaped in one way, numbers as they were written.
///
/// Metadata, extras and structured output are made of it, because turning their numbers into `f64` and back would
/// change them: `25.0`, `1.0E-4` and integers beyond 64 bits all survive here.
///
/// ```
/// use recount_message::Json;
///
/// let reading = Json::parse(r#" { "celsius": 25.0, "tags": ["a", "b"] } "#)?;
/// assert_eq!(reading.as_str(), r#"{"celsius":25.0,"tags":["a","b"]}"#);
///
/// let object = reading.to_object().unwrap();
/// assert_eq!(object.get("celsius").unwrap().to::<f64>().unwrap(), 25.0);
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Box<str>);

impl Json {
    /// The value `null`.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::null().as_str(), "null");
    /// assert_eq!(Json::from(None::<u8>), Json::null());
    /// ```
    pub fn null() -> Self {
        Self("null".into())
    }

    /// Reads any JSON text.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::parse(" 1.0E-4 ")?.as_str(), "1.0E-4");
    /// assert!(Json::parse("{a: 1}").is_err());
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the text is not JSON, nests deeper than [`MAX_DEPTH`], or has a lone surrogate.
    pub fn parse(text: &str) -> Result<Self, DecodeError> {
        Self::from_raw(Raw::document(text)?, MAX_DEPTH)
    }

    /// Turns any serialisable value into JSON.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::of(&[1, 2]).unwrap().as_str(), "[1,2]");
    /// ```
    ///
    /// # Errors
    ///
    /// When the value cannot be written as JSON, such as a map whose keys are not strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let text = serde_json::to_string(value)?;
        Self::parse(&text).map_err(serde::ser::Error::custom)
    }

    pub(crate) fn from_raw(raw: Raw<'_>, depth: usize) -> Result<Self, DecodeError> {
        canonical(raw.text, depth).map(|text| Self(text.into_boxed_str()))
    }

    /// Takes a text that is canonical already.
    pub(crate) fn from_canonical(text: String) -> Self {
        Self(text.into_boxed_str())
    }

    /// The canonical text.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::from("say \"hi\"").as_str(), r#""say \"hi\"""#);
    /// ```
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn raw(&self) -> Raw<'_> {
        let kind = match self.0.as_bytes().first() {
            Some(b'"') => Kind::Text { escaped: self.0.contains('\\') },
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b't') => Kind::Bool(true),
            Some(b'f') => Kind::Bool(false),
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        };
        Raw { text: &self.0, kind }
    }

    /// Whether this is `null`.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert!(Json::from(f64::NAN).is_null());
    /// assert!(!Json::from(0).is_null());
    /// ```
    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }

    /// The string that this is, without quotes and escapes.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// assert_eq!(Json::parse(r#""caf\u00e9""#)?.to_text().as_deref(), Some("café"));
    /// assert_eq!(Json::from(7).to_text(), None);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn to_text(&self) -> Option<String> {
        self.raw().to_text().ok().map(String::from)
    }

    /// The object that this is.
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

    /// The elements of the array that this is.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// let tags = Json::from(["important", "urgent"]).to_list().unwrap();
    /// assert_eq!(tags[1].to_text().as_deref(), Some("urgent"));
    /// ```
    pub fn to_list(&self) -> Option<Vec<Self>> {
        let elements = self.raw().elements().ok()?;
        Some(elements.map(|element| Self(element.text.into())).collect())
    }

    /// This value as a Rust type.
    ///
    /// ```
    /// use recount_message::Json;
    ///
    /// let scores = Json::parse("[1, 2, -3]")?;
    /// assert_eq!(scores.to::<Vec<i8>>().unwrap(), [1, 2, -3]);
    /// let error = scores.to::<Vec<u8>>().unwrap_err();
    /// assert!(error.to_string().starts_with("`[2]`: invalid value"));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the value does not fit the type; the error names the place and what was expected there.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, StructuredError> {
        StructuredError::decode(&self.0)
    }
}

/// Copies a well-formed text without white space and with canonical strings, checking its depth on the way.
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

/// Copies the string that begins at `start` and returns where it ends.
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
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        let mut out = String::with_capacity(text.len() + 2);
        write::string(&mut out, text);
        Self::from_canonical(out)
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self(if value { "true".into() } else { "false".into() })
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
    /// What JSON cannot say (not a number, infinity) becomes `null`, as in `serde_json` and JavaScript.
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
            out.push_str(&value.into().0);
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
        serialize_text(self.0.to_string(), serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(text.get()).map_err(serde::de::Error::custom)
    }
}

/// Hands a JSON text to a `serde` serializer as it stands. Only `serde_json`'s understands it.
pub(crate) fn serialize_text<S: Serializer>(text: String, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(text).map_err(serde::ser::Error::custom)?.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Json::parse(text).unwrap().as_str(), expected);
    }

    #[test]
    fn keeps_what_a_number_looked_like() {
        for lexeme in ["25", "25.0", "-0", "1.0E-4", "1e400", "123456789012345678901234567890"] {
            check(lexeme, lexeme);
        }
    }

    #[test]
    fn removes_space_outside_strings_only() {
        check(" { \"a b\" : [ 1 ,\n\t2 ] } ", "{\"a b\":[1,2]}");
    }

    #[test]
    fn escapes_strings_in_one_way() {
        check(r#""\u00e9\/\u0041\n\u001f\ud83c\udf0d""#, "\"é/A\\n\\u001f🌍\"");
        check(r#"{"\u0061":"\\\""}"#, r#"{"a":"\\\""}"#);
    }

    #[test]
    fn refuses_half_a_pair() {
        let error = Json::parse(r#"["\ud83c"]"#).unwrap_err();
        assert_eq!(error.kind(), crate::DecodeErrorKind::LoneSurrogate);
    }

    #[test]
    fn refuses_to_nest_too_deep() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::parse(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(Json::parse(&nested(MAX_DEPTH + 1)).unwrap_err().kind(), crate::DecodeErrorKind::TooDeep);
        assert_eq!(Json::parse(&nested(100_000)).unwrap_err().kind(), crate::DecodeErrorKind::TooDeep);
    }
}
