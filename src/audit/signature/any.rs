//! Signatures that may verify under one of several keys: a reporter's, around a rotation.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Item, Key, verify_all, verify_strict};

/// A signature to decide, with its candidate keys, the preferred first.
#[derive(Debug, Clone, Copy)]
pub struct AnyItem<'a> {
    /// The keys it may verify under.
    pub keys: &'a [Arc<Key>],
    /// R and S.
    pub signature: &'a [u8; 64],
    /// What was signed.
    pub message: &'a [u8],
}

impl AnyItem<'_> {
    fn holds_under(&self, place: usize) -> bool {
        self.keys.get(place).is_some_and(|key| verify_strict(key, self.message, self.signature))
    }

    /// The first of the keys under which it verifies, `likely` asked before the others.
    fn first_key(&self, likely: usize) -> Option<usize> {
        if self.holds_under(likely) {
            return Some(likely);
        }
        (0..self.keys.len()).filter(|&place| place != likely).find(|&place| self.holds_under(place))
    }
}

/// For each item, the place of the key under which it verifies.
///
/// There is one such place at most, unless a key stands twice: a signature fits both A and A' only where
/// \[k\]A = \[k'\]A', and k' = SHA-512(R ‖ A' ‖ message) is fixed by the A' that would have to be solved for.
///
/// An item with one key costs what it costs in [`verify_all`]. Items with the same several keys are expected to come in
/// the ledger's order: where the first and the last of them verify under one key, those between are tried under it in
/// the batch, and only what fails there is decided under the others.
pub fn verify_any(items: &[AnyItem<'_>]) -> Vec<Option<usize>> {
    let mut verdicts = vec![None; items.len()];
    let guesses = guesses(items);
    let mut batch = Vec::with_capacity(items.len());
    let mut places = Vec::with_capacity(items.len());
    for (place, (item, guess)) in items.iter().zip(guesses).enumerate() {
        if let Some(key) = item.keys.get(guess) {
            batch.push(Item { key, signature: item.signature, message: item.message });
            places.push((place, guess));
        }
    }
    for ((place, guess), good) in places.into_iter().zip(verify_all(&batch)) {
        let Some((item, verdict)) = items.get(place).zip(verdicts.get_mut(place)) else {
            continue;
        };
        let others = || (0..item.keys.len()).filter(|&other| other != guess).find(|&other| item.holds_under(other));
        *verdict = if good { Some(guess) } else { others() };
    }
    verdicts
}

/// The key under which to try each item first. A wrong guess costs time only.
fn guesses(items: &[AnyItem<'_>]) -> Vec<usize> {
    let mut guesses = vec![0; items.len()];
    let mut owners: HashMap<Vec<*const Key>, Vec<usize>> = HashMap::new();
    for (place, item) in items.iter().enumerate().filter(|(_, item)| item.keys.len() > 1) {
        owners.entry(item.keys.iter().map(Arc::as_ptr).collect()).or_default().push(place);
    }
    for places in owners.into_values() {
        let members = || places.iter().filter_map(|&place| items.get(place));
        let key_of =
            |item: Option<&AnyItem<'_>>, likely| item.and_then(|item| item.first_key(likely)).unwrap_or(likely);
        let first = key_of(members().next(), 0);
        let settled = key_of(members().next_back(), first) == first;
        let mut likely = first;
        for (&place, item) in places.iter().zip(members()) {
            if !settled {
                likely = item.first_key(likely).unwrap_or(likely);
            }
            if let Some(guess) = guesses.get_mut(place) {
                *guess = likely;
            }
        }
    }
    guesses
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::{Signer as _, SigningKey};

    fn pair(seed: u8) -> (SigningKey, Arc<Key>) {
        let signing = SigningKey::from_bytes(&[seed; 32]);
        let key = Arc::new(Key::from_bytes(signing.verifying_key().as_bytes()).unwrap());
        (signing, key)
    }

    /// Who signs item `i` of 900: the key of each case, `None` for a stranger's.
    fn check(keys: &[usize], signer: impl Fn(usize) -> Option<usize>) {
        let pairs: Vec<_> = (1..6).map(pair).collect();
        let candidates: Vec<Arc<Key>> = keys.iter().map(|&k| pairs[k].1.clone()).collect();
        let stranger = pair(99).0;
        let messages: Vec<Vec<u8>> = (0..900usize).map(|i| i.to_be_bytes().to_vec()).collect();
        let signatures: Vec<[u8; 64]> = messages
            .iter()
            .enumerate()
            .map(|(i, m)| signer(i).map_or(&stranger, |place| &pairs[keys[place]].0).sign(m).to_bytes())
            .collect();
        let items: Vec<AnyItem<'_>> = messages
            .iter()
            .zip(&signatures)
            .map(|(message, signature)| AnyItem { keys: &candidates, signature, message })
            .collect();
        let expected: Vec<Option<usize>> = (0..900).map(signer).collect();
        assert_eq!(verify_any(&items), expected);
    }

    #[test]
    fn names_the_key_that_signed() {
        check(&[0], |_| Some(0));
        check(&[0, 1, 2], |_| Some(2));
        check(&[0, 1], |i| Some(usize::from(i > 400)));
        check(&[3, 1, 2], |i| Some(i % 3));
        check(&[0, 1], |i| (i != 0 && i != 899 && i % 100 != 7).then_some(1));
        check(&[0, 1], |_| None);
    }

    #[test]
    fn no_key_no_verdict() {
        assert_eq!(verify_any(&[AnyItem { keys: &[], signature: &[0; 64], message: b"" }]), [None]);
        assert!(verify_any(&[]).is_empty());
    }
}
