//! An entry as a line, all but its two hashes, which need the entry before it (profile 1.2).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::act::{Act, Kind};
use super::detail::Desk;
use super::json::{HASH_LEN, Hole, Json, Speller, Style, object};
use super::random::Random;
use super::sign::Pen;
use super::time::{stamp, stamp_with_micros, stamp_with_offset};
use super::words::NUMBERS;
use super::world::World;

/// How the lines of a ledger are spelt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Spelling {
    /// Every line is its own canonical form.
    Canonical,
    /// Any order of members, white space, escapes, offsets, unlisted members and unknown actions.
    Mixed,
}

/// What all entries have in common.
#[derive(Clone, Copy)]
pub struct Clerk<'w> {
    pub world: &'w World,
    pub seed: u64,
    pub spelling: Spelling,
    /// One entry in so many has a signature that fails; 0 for none.
    pub spoil: u64,
}

/// A line that waits for its hashes.
pub struct Draft {
    line: Vec<u8>,
    holes: [usize; 2],
    /// The hash so far: over the canonical form, without the hash before.
    hash: Sha256,
}

/// The first entry's `prev_hash`: 32 zero bytes in base64.
pub const NO_HASH: [u8; HASH_LEN] = *b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

impl Clerk<'_> {
    /// Writes and signs an entry.
    pub fn draft(&self, act: &Act) -> Draft {
        let mut random = Random::new(self.seed.rotate_left(32) ^ act.seq);
        let spoils = self.spoil > 0 && act.seq.is_multiple_of(self.spoil);
        let desk = Desk { world: self.world, pen: Pen { spoils } };
        let mut entry = object([
            ("seq", (act.seq as i64).into()),
            ("at", self.instant(act.at, &mut random).into()),
            ("action", act.kind.action().into()),
            ("subject", self.world.agents[act.subject].handle.as_str().into()),
            ("detail", desk.detail(act)),
            ("entry_hash", Json::Hole(Hole::EntryHash)),
            ("prev_hash", Json::Hole(Hole::PrevHash)),
        ]);
        match act.capability {
            Some(capability) => entry.put("capability", capability),
            None if random.per_mille(500) => entry.put("capability", Json::Null),
            None => {}
        }
        let mut style = Style::Canonical;
        if self.spelling == Spelling::Mixed {
            style = random.pick(&[Style::Canonical, Style::Compact, Style::Ascii, Style::Loose]);
            if matches!(act.kind, Kind::Noted) || random.per_mille(50) {
                entry.put("x_meta", unlisted(&mut random));
            }
        }
        let mut line = Vec::with_capacity(1024);
        entry.canonical(&mut line);
        let hash = Sha256::new_with_prefix(&line);
        line.clear();
        let mut speller = Speller::new(style, random);
        speller.write(&entry, &mut line);
        line.push(b'\n');
        Draft { line, holes: speller.holes, hash }
    }

    fn instant(&self, at: i64, random: &mut Random) -> String {
        match self.spelling {
            Spelling::Mixed if random.per_mille(100) => stamp_with_offset(at, random.between(-11, 13)),
            Spelling::Mixed if random.per_mille(200) => stamp_with_micros(at, random.next()),
            _ => stamp(at),
        }
    }
}

/// A member that the profile does not list.
fn unlisted(random: &mut Random) -> Json<'static> {
    let number = |random: &mut Random| {
        let (canonical, spellings) = random.pick(&NUMBERS);
        Json::Number(canonical, spellings)
    };
    let list = (0..random.below(4)).map(|_| number(random)).collect();
    object([
        ("n", number(random)),
        ("list", Json::List(list)),
        ("A", Json::Null),
        ("text", "tab\tquote\" bell\u{7} \u{2028} 𝄞 ﬁ".into()),
    ])
}

impl Draft {
    /// Chains the entry to the one before and appends its line. Returns its hash.
    pub fn finish(mut self, prev_hash: &[u8; HASH_LEN], out: &mut Vec<u8>) -> [u8; HASH_LEN] {
        let digest = self.hash.chain_update(prev_hash).finalize();
        let mut entry_hash = NO_HASH;
        // 32 bytes are 44 characters of base64, so the slice is exactly filled.
        let _ = STANDARD.encode_slice(digest, &mut entry_hash);
        for (hole, hash) in self.holes.into_iter().zip([&entry_hash, prev_hash]) {
            self.line[hole..hole + HASH_LEN].copy_from_slice(hash);
        }
        out.extend(&self.line);
        entry_hash
    }
}
