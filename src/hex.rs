//! Digests as they are written and published: lower-case hexadecimal.

/// The digits of some bytes.
pub(crate) fn hex(digest: &[u8]) -> String {
    digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}
