//! The scanned, not yet parsed fields of one object.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use smallvec::SmallVec;

use super::error::DecodeError;
use super::object::Object;
use super::scan::{Kind, MAX_DEPTH, MAX_DOCUMENT_DEPTH, Raw, Scanner, unquoted};
use super::value::Json;
use super::wire::{DecodeContext, Wire};

type Slots<'a> = SmallVec<[Option<(Raw<'a>, Raw<'a>)>; 12]>;

/// Up to this many fields, duplicate keys are found by linear search, beyond it by a map.
const FEW: usize = 32;

/// The fields of one object. A parser takes the known fields by name and preserves the rest.
///
/// ```
/// use recount_message::wire::Fields;
///
/// let mut fields = Fields::document(r#"{"mimeType":"image/png","novel":1}"#)?;
/// let media_type = fields.take("mimeType").map(|raw| raw.to_str()).transpose()?;
/// assert_eq!((media_type.as_deref(), fields.rest()?.to_json()), (Some("image/png"), r#"{"novel":1}"#.into()));
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Default)]
pub struct Fields<'a> {
    fields: Slots<'a>,
    /// Index at which the next field is expected: canonical texts have their fields in the order in which they are taken.
    next: usize,
    /// Number of fields that have been taken.
    taken: usize,
    /// The keys for which the first of duplicate values is used.
    first_counts: &'static [&'static str],
}

impl<'a> Fields<'a> {
    /// Scans a text that contains one object. Of duplicate keys, the last value is used.
    ///
    /// ```
    /// use recount_message::wire::Fields;
    ///
    /// assert!(Fields::document("[]").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the text is not a JSON object, or nests too deep.
    pub fn document(text: &'a str) -> Result<Self, DecodeError> {
        let mut fields = Self::default();
        fields.scan_document(text)?;
        Ok(fields)
    }

    /// Scans a text that contains one object. Of duplicate `keys`, the first value is used, as Jackson does for type fields.
    ///
    /// ```
    /// use recount_message::wire::Fields;
    ///
    /// let mut fields = Fields::document_by_first(r#"{"type":"a","id":1,"type":"b","id":2}"#, &["type"])?;
    /// assert_eq!((fields.take("type").unwrap().text, fields.take("id").unwrap().text), (r#""a""#, "2"));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`document`](Self::document).
    pub fn document_by_first(text: &'a str, keys: &'static [&'static str]) -> Result<Self, DecodeError> {
        let mut fields = Self { first_counts: keys, ..Self::default() };
        fields.scan_document(text)?;
        Ok(fields)
    }

    /// Scans a text that contains one object, without moving `self`, which is large.
    #[inline]
    pub(crate) fn scan_document(&mut self, text: &'a str) -> Result<(), DecodeError> {
        let mut scanner = Scanner::new(text);
        scanner.skip_space();
        if scanner.peek() != Some(b'{') {
            return Err(Raw::document(text)?.expected("an object"));
        }
        self.scan(&mut scanner)?;
        scanner.finish()
    }

    /// Scans a value that is an object.
    ///
    /// ```
    /// use recount_message::wire::{Fields, Raw};
    ///
    /// let mut fields = Fields::of(Raw::document(r#"{"a":{"b":1}}"#)?)?;
    /// let mut inner = Fields::of(fields.take("a").unwrap())?;
    /// assert_eq!(inner.take("b").unwrap().text, "1");
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the value is not an object.
    pub fn of(raw: Raw<'a>) -> Result<Self, DecodeError> {
        let mut fields = Self::default();
        fields.scan_value(raw)?;
        Ok(fields)
    }

    /// Scans a value that is an object. Of duplicate `keys`, the first value is used.
    ///
    /// ```
    /// use recount_message::wire::{Fields, Raw};
    ///
    /// let mut fields = Fields::of_by_first(Raw::document(r#"{"role":"USER","role":"TOOL"}"#)?, &["role"])?;
    /// assert_eq!(fields.take("role").unwrap().text, r#""USER""#);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`of`](Self::of).
    pub fn of_by_first(raw: Raw<'a>, keys: &'static [&'static str]) -> Result<Self, DecodeError> {
        let mut fields = Self { first_counts: keys, ..Self::default() };
        fields.scan_value(raw)?;
        Ok(fields)
    }

    fn scan_value(&mut self, raw: Raw<'a>) -> Result<(), DecodeError> {
        if raw.kind != Kind::Object {
            return Err(raw.expected("an object"));
        }
        self.scan(&mut Scanner::new(raw.text))
    }

    #[inline]
    fn scan(&mut self, scanner: &mut Scanner<'a>) -> Result<(), DecodeError> {
        let Self { fields, first_counts, .. } = self;
        let mut seen = 0_u64;
        scanner.object(MAX_DOCUMENT_DEPTH - 1, |key, value| {
            let (own, clashes) = fingerprint(key);
            if seen & clashes != 0
                && fields.len() <= FEW
                && let Some((_, earlier)) = fields.iter_mut().flatten().find(|(other, _)| same_key(*other, key))
            {
                if !first_counts.iter().any(|name| is_key(key, name)) {
                    *earlier = value;
                }
            } else {
                fields.push(Some((key, value)));
            }
            seen |= own;
        })?;
        if fields.len() > FEW {
            *fields = without_repeats(fields, first_counts);
        }
        Ok(())
    }

    /// Returns the value of a field without taking it.
    ///
    /// ```
    /// use recount_message::wire::Fields;
    ///
    /// let fields = Fields::document(r#"{"type":"text"}"#)?;
    /// assert!(fields.peek("type").is_some() && fields.peek("type").is_some());
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn peek(&self, name: &str) -> Option<Raw<'a>> {
        self.fields.iter().flatten().find(|(key, _)| is_key(*key, name)).map(|(_, value)| *value)
    }

    /// Takes the value of a field. This is fastest if fields are taken in their order.
    ///
    /// ```
    /// use recount_message::wire::Fields;
    ///
    /// let mut fields = Fields::document(r#"{"a":1}"#)?;
    /// assert!(fields.take("a").is_some() && fields.take("a").is_none());
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    #[inline]
    pub fn take(&mut self, name: &str) -> Option<Raw<'a>> {
        if let Some(slot) = self.fields.get_mut(self.next)
            && slot.is_some_and(|(key, _)| is_key(key, name))
        {
            self.next += 1;
            self.taken += 1;
            return slot.take().map(|(_, value)| value);
        }
        self.take_anywhere(name)
    }

    fn take_anywhere(&mut self, name: &str) -> Option<Raw<'a>> {
        let index = self.fields.iter().position(|slot| slot.is_some_and(|(key, _)| is_key(key, name)))?;
        self.next = index + 1;
        self.taken += 1;
        self.fields.get_mut(index)?.take().map(|(_, value)| value)
    }

    /// Takes and decodes a field; `None` if it is missing.
    #[inline]
    pub(crate) fn read<T: Wire<'a>>(
        &mut self,
        name: &str,
        context: DecodeContext<'_>,
    ) -> Result<Option<T>, DecodeError> {
        match self.take(name) {
            None => Ok(None),
            Some(raw) if raw.kind == Kind::Null && !T::NULLABLE => Ok(None),
            Some(raw) => T::decode(raw, context).map(Some).map_err(|error| error.within(name)),
        }
    }

    /// Takes and decodes a required field.
    #[inline]
    pub(crate) fn require<T: Wire<'a>>(&mut self, name: &str, context: DecodeContext<'_>) -> Result<T, DecodeError> {
        match self.take(name) {
            None => Err(DecodeError::missing(name)),
            Some(raw) => T::decode(raw, context).map_err(|error| error.within(name)),
        }
    }

    /// Returns whether all fields have been taken.
    ///
    /// ```
    /// use recount_message::wire::Fields;
    ///
    /// let mut fields = Fields::document(r#"{"a":1}"#)?;
    /// assert!(!fields.is_exhausted());
    /// fields.take("a");
    /// assert!(fields.is_exhausted());
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn is_exhausted(&self) -> bool {
        self.taken == self.fields.len()
    }

    /// Returns the fields that have not been taken, in order.
    ///
    /// ```
    /// use recount_message::wire::Fields;
    ///
    /// let mut fields = Fields::document(r#"{"a":1,"b":[ 2 ]}"#)?;
    /// fields.take("a");
    /// assert_eq!(fields.rest()?.to_json(), r#"{"b":[2]}"#);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if a value nests deeper than [`MAX_DEPTH`], or contains a lone surrogate.
    #[inline]
    pub fn rest(&self) -> Result<Object, DecodeError> {
        let mut extra = Object::new();
        if self.taken == self.fields.len() {
            return Ok(extra);
        }
        for &(key, value) in self.fields.iter().flatten() {
            let key = key.to_str()?.into_owned();
            let value = Json::from_raw(value, MAX_DEPTH).map_err(|error| error.within(&key))?;
            extra.push(key, value);
        }
        Ok(extra)
    }
}

#[inline]
fn is_key(key: Raw<'_>, name: &str) -> bool {
    match key.kind {
        Kind::String { escaped: false } => unquoted(key.text) == name,
        _ => key.to_str().is_ok_and(|text| text == name),
    }
}

fn same_key(one: Raw<'_>, other: Raw<'_>) -> bool {
    one.text == other.text || matches!((one.to_str(), other.to_str()), (Ok(one), Ok(other)) if one == other)
}

/// Returns a bit for the key, and the bits of keys that it can be a duplicate of. An escaped key can be equal to any other.
#[inline]
fn fingerprint(key: Raw<'_>) -> (u64, u64) {
    const ESCAPED: u64 = 1 << 63;
    let bytes = unquoted(key.text).as_bytes();
    match (key.kind, bytes) {
        (Kind::String { escaped: false }, [first, .., last]) => {
            let bit = 1 << ((u32::from(*first) * 3 + u32::from(*last) * 5 + bytes.len() as u32 * 7) % 63);
            (bit, bit | ESCAPED)
        }
        _ => (ESCAPED, u64::MAX),
    }
}

/// Removes duplicate keys. The value is at the position of the first.
#[cold]
fn without_repeats<'a>(fields: &Slots<'a>, first_counts: &[&str]) -> Slots<'a> {
    let mut places = HashMap::new();
    let mut kept = Slots::new();
    for (key, value) in fields.iter().flatten() {
        // A key with a lone surrogate cannot be decoded; decoding it later returns the error.
        let name = key.to_str().unwrap_or(Cow::Borrowed(key.text));
        match places.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(kept.len());
                kept.push(Some((*key, *value)));
            }
            Entry::Occupied(entry) => {
                if let Some(Some((_, earlier))) = kept.get_mut(*entry.get())
                    && !first_counts.iter().any(|name| is_key(*key, name))
                {
                    *earlier = *value;
                }
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> String {
        Fields::document(text).unwrap().rest().unwrap().to_json()
    }

    #[test]
    fn duplicate_key_has_last_value_at_first_position() {
        assert_eq!(names(r#"{"a":1,"b":2,"a":3}"#), r#"{"a":3,"b":2}"#);
        assert_eq!(names(r#"{"ab":1,"\u0061b":2}"#), r#"{"ab":2}"#);
        assert_eq!(names(r#"{"\u0061b":1,"ab":2}"#), r#"{"ab":2}"#);
    }

    #[test]
    fn fields_can_be_taken_in_any_order() {
        let mut fields = Fields::document(r#"{"c":3,"a":1,"b":2}"#).unwrap();
        for (name, text) in [("a", "1"), ("c", "3"), ("b", "2")] {
            assert_eq!(fields.take(name).unwrap().text, text);
        }
        assert!(fields.take("a").is_none());
    }
}
