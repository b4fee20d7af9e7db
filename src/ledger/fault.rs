//! What can be wrong with a line.

/// What is wrong with a line, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("byte {byte}: {what}")]
pub struct JsonFault {
    /// Offset in the line, from 0.
    pub byte: usize,
    /// The fault.
    pub what: JsonError,
}

/// The faults of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The line is empty or white space.
    #[error("an empty line, where one JSON object should be")]
    Empty,
    /// The line's value is none of the form `{…}`.
    #[error("not a JSON object")]
    NotAnObject,
    /// Something stands behind the object, another one for example.
    #[error("something stands behind the line's one JSON object")]
    Trailing,
    /// The line has more values than [`MAX_VALUES`](super::json::MAX_VALUES).
    #[error("more than 4000000 values in one line")]
    TooManyValues,
    /// The line ends inside the object.
    #[error("the line ends before its object does")]
    Truncated,
    /// A byte that RFC 8259 does not allow there.
    #[error("not JSON: {0} expected")]
    Syntax(&'static str),
    /// A sequence that is no UTF-8.
    #[error("invalid UTF-8")]
    Utf8,
    /// U+0000 to U+001F inside a string, not escaped.
    #[error("a control character in a string")]
    Control,
    /// A backslash followed by none of RFC 8259's escapes.
    #[error("not an escape of JSON")]
    Escape,
    /// `\ud800` to `\udfff` without its other half.
    #[error("a lone surrogate")]
    Surrogate,
    /// A member name that stands before in the same object.
    #[error("duplicate member name")]
    Duplicate,
    /// A number that is none of RFC 8259's.
    #[error("not a JSON number")]
    Number,
    /// A number that no finite double is near.
    #[error("a number outside the range of a double")]
    Range,
    /// An integer literal beyond ±(2^53 − 1).
    #[error("an integer literal beyond 2^53 - 1")]
    Integer,
    /// More than [`super::json::MAX_DEPTH`] objects and arrays inside each other.
    #[error("objects and arrays nest deeper than 128")]
    Depth,
}
