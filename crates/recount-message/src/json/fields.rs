//! The fields of one object, found but not yet read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use smallvec::SmallVec;

use super::error::DecodeError;
use super::object::Object;
use super::scan::{Kind, MAX_DEPTH, MAX_DOCUMENT_DEPTH, Raw, Scanner, unquoted};
use super::value::Json;
use super::wire::{Place, Wire};

type Slots<'a> = SmallVec<[Option<(Raw<'a>, Raw<'a>)>; 12]>;

/// Up to this many fields a repeated key is looked for one by one, beyond it by a map.
const FEW: usize = 32;

/// The fields of one object. Who reads it takes those that it knows by name, and keeps the rest.
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
    /// Where the next field is looked for first: canonical texts have their fields in the order they are asked for.
    next: usize,
    /// How many have been taken.
    taken: usize,
    /// The keys whose first value counts where they are repeated.
    first_counts: &'static [&'static str],
}

impl<'a> Fields<'a> {
    /// Scans a text that must be one object. The last value of a repeated key counts.
    ///
    /// ```
    /// use recount_message::wire::Fields;
    ///
    /// assert!(Fields::document("[]").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// When the text is no JSON object, or nests too deep.
    pub fn document(text: &'a str) -> Result<Self, DecodeError> {
        let mut fields = Self::default();
        fields.scan_document(text)?;
        Ok(fields)
    }

    /// The same for who takes the first value of some keys, as Jackson does for what says the type.
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
    /// As [`document`](Self::document).
    pub fn document_by_first(text: &'a str, keys: &'static [&'static str]) -> Result<Self, DecodeError> {
        let mut fields = Self { first_counts: keys, ..Self::default() };
        fields.scan_document(text)?;
        Ok(fields)
    }

    /// Scans a text that must be one object. Fields are large, so who reads many of them scans in place.
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

    /// The fields of a value that must be an object.
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
    /// When it is no object.
    pub fn of(raw: Raw<'a>) -> Result<Self, DecodeError> {
        let mut fields = Self::default();
        fields.scan_value(raw)?;
        Ok(fields)
    }

    /// The same for who takes the first value of some keys.
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
    /// As [`of`](Self::of).
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

    /// The value under a name, left where it is.
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

    /// Takes the value under a name. It is found at once where fields are taken in their order.
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

    /// Reads the value under a name as its type, where there is one.
    #[inline]
    pub(crate) fn read<T: Wire<'a>>(&mut self, name: &str, place: Place<'_>) -> Result<Option<T>, DecodeError> {
        match self.take(name) {
            None => Ok(None),
            Some(raw) if raw.kind == Kind::Null && !T::NULLABLE => Ok(None),
            Some(raw) => T::decode(raw, place).map(Some).map_err(|error| error.within(name)),
        }
    }

    /// Reads a value that must be there.
    #[inline]
    pub(crate) fn require<T: Wire<'a>>(&mut self, name: &str, place: Place<'_>) -> Result<T, DecodeError> {
        match self.take(name) {
            None => Err(DecodeError::missing(name)),
            Some(raw) => T::decode(raw, place).map_err(|error| error.within(name)),
        }
    }

    /// Whether every field has been taken.
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

    /// What no one has taken, in its order.
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
    /// When a value nests deeper than [`MAX_DEPTH`], or holds half a surrogate pair.
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

/// A bit for the key, and the bits that it could be a repetition of. An escaped key can spell any other.
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

/// The same fields with one value of each key, in the place of its first.
#[cold]
fn without_repeats<'a>(fields: &Slots<'a>, first_counts: &[&str]) -> Slots<'a> {
    let mut places = HashMap::new();
    let mut kept = Slots::new();
    for (key, value) in fields.iter().flatten() {
        // A key with half a surrogate pair has no text; reading it will say so.
        let name = key.to_str().unwrap_or(Cow::Borrowed(key.text));
        match places.entry(name) {
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push(Some((*key, *value)));
            }
            Entry::Occupied(place) => {
                if let Some(Some((_, earlier))) = kept.get_mut(*place.get())
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
    fn the_last_value_of_a_repeated_key_counts_in_the_place_of_the_first() {
        assert_eq!(names(r#"{"a":1,"b":2,"a":3}"#), r#"{"a":3,"b":2}"#);
        assert_eq!(names(r#"{"ab":1,"\u0061b":2}"#), r#"{"ab":2}"#);
        assert_eq!(names(r#"{"\u0061b":1,"ab":2}"#), r#"{"ab":2}"#);
    }

    #[test]
    fn fields_are_found_in_any_order() {
        let mut fields = Fields::document(r#"{"c":3,"a":1,"b":2}"#).unwrap();
        for (name, text) in [("a", "1"), ("c", "3"), ("b", "2")] {
            assert_eq!(fields.take(name).unwrap().text, text);
        }
        assert!(fields.take("a").is_none());
    }
}
