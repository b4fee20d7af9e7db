//! Taking typed members out of an object, with the message of `entry.schema` where one is not as 1.5 has it.
//!
//! An optional member that is null counts as absent.

use super::node::{Hint, Kind, Node};
use crate::instant;
use std::fmt;

/// What an entry's members lack (1.7 `entry.schema`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaFault {
    /// A required member is absent or null.
    #[error("{0} is missing")]
    Missing(String),
    /// A member is there and is not what it should be.
    #[error("{0} is not {1}")]
    IsNot(String, &'static str),
    /// A rule over several members.
    #[error("{0}")]
    Rule(&'static str),
}

/// Where an object stands, for messages: `detail`, `detail.claim.nda`.
#[derive(Debug, Clone, Copy)]
struct Path<'p> {
    above: Option<&'p Path<'p>>,
    name: &'p str,
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.above {
            Some(above) => write!(f, "{above}.{}", self.name),
            None => f.write_str(self.name),
        }
    }
}

/// An object whose members are taken out one by one.
///
/// Those that are taken in the order of the line, which is that of their names in canonical form, cost one step each.
#[derive(Debug)]
pub(super) struct Object<'a, 'p> {
    node: Node<'a>,
    path: Path<'p>,
    hint: Hint,
}

type Taken<T> = Result<T, SchemaFault>;

impl<'a, 'p> Object<'a, 'p> {
    /// The members of `node`, which the caller has found to be an object, under the name that messages give it.
    pub fn new(node: Node<'a>, name: &'p str) -> Object<'a, 'p> {
        Object { node, path: Path { above: None, name }, hint: Hint::default() }
    }

    /// The object itself.
    pub fn node(&self) -> Node<'a> {
        self.node
    }

    /// The member, unless absent or null.
    pub fn some(&self, name: &str) -> Option<Node<'a>> {
        self.node.get_next(name, &self.hint).filter(|value| !value.is_null())
    }

    /// The member as it stands.
    pub fn raw(&self, name: &str) -> Option<Node<'a>> {
        self.node.get_next(name, &self.hint)
    }

    /// The fault of a member that is not `what`.
    pub fn is_not(&self, name: &str, what: &'static str) -> SchemaFault {
        SchemaFault::IsNot(format!("{}.{name}", self.path), what)
    }

    fn required<T>(&self, name: &str, taken: Taken<Option<T>>) -> Taken<T> {
        taken?.ok_or_else(|| SchemaFault::Missing(format!("{}.{name}", self.path)))
    }

    fn optional<T>(
        &self,
        name: &str,
        what: &'static str,
        read: impl FnOnce(Node<'a>) -> Option<T>,
    ) -> Taken<Option<T>> {
        match self.some(name) {
            Some(value) => read(value).map(Some).ok_or_else(|| self.is_not(name, what)),
            None => Ok(None),
        }
    }

    pub fn text_opt(&self, name: &str) -> Taken<Option<&'a str>> {
        self.optional(name, "a string", Node::as_str)
    }

    pub fn text(&self, name: &str) -> Taken<&'a str> {
        self.required(name, self.text_opt(name))
    }

    /// A string that a signed line holds between colons (1.4).
    pub fn field_opt(&self, name: &str) -> Taken<Option<&'a str>> {
        self.optional(name, "a string without a colon", |v| v.as_str().filter(|t| !t.contains(':')))
    }

    pub fn field(&self, name: &str) -> Taken<&'a str> {
        self.required(name, self.field_opt(name))
    }

    /// A subject: a handle without a colon, or an ANS name with that of `ans://` alone.
    pub fn subject_opt(&self, name: &str) -> Taken<Option<&'a str>> {
        self.optional(name, "a string without a colon", |v| v.as_str().filter(|t| is_subject(t)))
    }

    pub fn one_of_opt(&self, name: &str, set: &[&'static str]) -> Taken<Option<&'a str>> {
        self.optional(name, "of its value set", |v| v.as_str().filter(|t| set.contains(t)))
    }

    pub fn one_of(&self, name: &str, set: &[&'static str]) -> Taken<&'a str> {
        self.required(name, self.one_of_opt(name, set))
    }

    /// A hashed anchor or a digest: `sha256:` and 64 lower-case hexadecimal digits (1.3).
    pub fn hash_opt(&self, name: &str) -> Taken<Option<&'a str>> {
        self.optional(name, HASH, |v| v.as_str().filter(|t| is_hash(t)))
    }

    pub fn hash(&self, name: &str) -> Taken<&'a str> {
        self.required(name, self.hash_opt(name))
    }

    /// An instant in milliseconds since 1970 UTC.
    pub fn instant_opt(&self, name: &str) -> Taken<Option<i64>> {
        self.optional(name, INSTANT, |v| instant::parse(v.as_str()?).ok())
    }

    pub fn instant(&self, name: &str) -> Taken<i64> {
        self.required(name, self.instant_opt(name))
    }

    pub fn integer_opt(&self, name: &str) -> Taken<Option<i64>> {
        self.optional(name, "an integer", Node::as_i64)
    }

    pub fn integer(&self, name: &str) -> Taken<i64> {
        self.required(name, self.integer_opt(name))
    }

    pub fn number_opt(&self, name: &str) -> Taken<Option<f64>> {
        self.optional(name, "a number", Node::as_f64)
    }

    pub fn boolean(&self, name: &str) -> Taken<bool> {
        self.required(name, self.optional(name, "a boolean", Node::as_bool))
    }

    /// Reads the members of an inner object.
    pub fn object_opt<T>(&self, name: &str, read: impl FnOnce(&Object<'a, '_>) -> Taken<T>) -> Taken<Option<T>> {
        match self.some(name) {
            Some(node) if node.is_object() => {
                read(&Object { node, path: Path { above: Some(&self.path), name }, hint: Hint::default() }).map(Some)
            }
            Some(_) => Err(self.is_not(name, "an object")),
            None => Ok(None),
        }
    }

    pub fn object<T>(&self, name: &str, read: impl FnOnce(&Object<'a, '_>) -> Taken<T>) -> Taken<T> {
        self.required(name, self.object_opt(name, read))
    }

    /// Reads the objects of a list.
    pub fn objects_opt<T>(
        &self,
        name: &str,
        mut read: impl FnMut(&Object<'a, '_>) -> Taken<T>,
    ) -> Taken<Option<Vec<T>>> {
        let path = Path { above: Some(&self.path), name };
        self.list_opt(name, "a list of objects", |node| match node.kind() {
            Kind::Object => read(&Object { node, path, hint: Hint::default() }).map(Some),
            _ => Ok(None),
        })
    }

    pub fn objects<T>(&self, name: &str, read: impl FnMut(&Object<'a, '_>) -> Taken<T>) -> Taken<Vec<T>> {
        self.required(name, self.objects_opt(name, read))
    }

    pub fn texts_opt(&self, name: &str) -> Taken<Option<Vec<&'a str>>> {
        self.list_opt(name, "a list of strings", |node| Ok(node.as_str()))
    }

    pub fn texts(&self, name: &str) -> Taken<Vec<&'a str>> {
        self.required(name, self.texts_opt(name))
    }

    pub fn hashes(&self, name: &str) -> Taken<Vec<&'a str>> {
        self.required(
            name,
            self.list_opt(name, "a list of hashed anchors", |node| Ok(node.as_str().filter(|t| is_hash(t)))),
        )
    }

    fn list_opt<T>(
        &self,
        name: &str,
        what: &'static str,
        mut read: impl FnMut(Node<'a>) -> Taken<Option<T>>,
    ) -> Taken<Option<Vec<T>>> {
        let Some(list) = self.some(name) else {
            return Ok(None);
        };
        if !list.is_array() {
            return Err(self.is_not(name, what));
        }
        let mut items = Vec::new();
        for node in list.items() {
            items.push(read(node)?.ok_or_else(|| self.is_not(name, what))?);
        }
        Ok(Some(items))
    }
}

const HASH: &str = "sha256: and 64 lower-case hexadecimal digits";
pub(super) const INSTANT: &str = "an RFC 3339 instant with Z or an offset";

pub(super) fn is_subject(text: &str) -> bool {
    !text.strip_prefix("ans://").unwrap_or(text).contains(':')
}

fn is_hash(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    // Every byte is looked at, for the compiler then takes many at a time.
    digits.len() == 64 && digits.bytes().fold(true, |all, b| all & matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
