//! The files of an export (profile 1.1).

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use zstd::Encoder;

use super::json::{Json, object};
use super::time::{DAY, stamp};
use super::words::{BUREAU, COURT_PROCEDURE};
use super::world::{Key, World};

/// Everything but the ledger.
pub fn surroundings(world: &World, out: &Path, start: i64) -> io::Result<()> {
    fs::write(out.join("anchor.salt"), &world.salt)?;
    fs::write(out.join("policy.toml"), format!("bureau = \"{BUREAU}\"\ncourt_procedure = \"{COURT_PROCEDURE}\"\n"))?;
    lines(
        out.join("identities.jsonl.zst"),
        world.agents.iter().map(|agent| {
            let owner = &world.owners[agent.owner];
            let mut line = object([
                ("handle", agent.handle.as_str().into()),
                ("name_system", if owner.is_domain { "ans" } else { "pan" }.into()),
                ("anchor", owner.anchor.as_str().into()),
                ("anchor_kind", if owner.is_domain { "domain" } else { "email" }.into()),
                ("bound_at", stamp(owner.bound_at).into()),
                ("keys", keys(&agent.keys)),
            ]);
            line.put_some("operator", owner.operator.as_deref());
            line.put_some("owner_account", owner.account.as_deref());
            line.put_some("unbound_at", owner.unbound_at.map(stamp));
            line.put_some("owner_keys", world.owner_keys.get(&agent.owner).map(|key| keys(std::slice::from_ref(key))));
            line
        }),
    )?;
    let charters = world.companies.iter().filter_map(|company| Some((&company.domain, company.charter.as_ref()?)));
    lines(
        out.join("charters.jsonl.zst"),
        charters.map(|(domain, charter)| {
            let proof = charter.proof.iter().map(|(from, to)| period(object([]), *from, *to));
            let mandates = charter.mandates.iter();
            let mandates =
                mandates.map(|(account, from, to)| period(object([("account", account.as_str().into())]), *from, *to));
            object([
                ("id", charter.id.as_str().into()),
                ("domain", domain.as_str().into()),
                ("domain_proof", Json::List(proof.collect())),
                ("mandates", Json::List(mandates.collect())),
            ])
        }),
    )?;
    lines(
        out.join("reporters.jsonl.zst"),
        world.reporters.iter().map(|reporter| {
            let from = start - 900 * DAY;
            let mut line = object([
                ("reporter", reporter.name.as_str().into()),
                ("keys", keys(&reporter.keys)),
                ("configured_from", stamp(from).into()),
            ]);
            line.put_some("configured_to", reporter.until.map(stamp));
            line
        }),
    )
}

fn period(mut object: Json<'_>, from: i64, to: Option<i64>) -> Json<'_> {
    object.put("from", stamp(from));
    object.put_some("to", to.map(stamp));
    object
}

/// Each key until the next.
fn keys(keys: &[Key]) -> Json<'_> {
    let next = keys.iter().skip(1).map(|key| Some(key.from)).chain([None]);
    Json::List(
        keys.iter()
            .zip(next)
            .map(|(key, to)| period(object([("key", key.public.as_str().into())]), key.from, to))
            .collect(),
    )
}

fn lines<'a>(path: PathBuf, values: impl Iterator<Item = Json<'a>>) -> io::Result<()> {
    let mut out = Encoder::new(File::create(path)?, 3)?;
    let mut line = Vec::new();
    for value in values {
        line.clear();
        value.canonical(&mut line);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    out.finish()?.flush()
}

/// The files of `ledger/`, one after the other.
pub struct Ledger {
    folder: PathBuf,
    /// How many entries a file holds.
    every: u64,
    entries: u64,
    file: Option<Encoder<'static, BufWriter<File>>>,
    /// Bytes before compression.
    pub bytes: u64,
}

impl Ledger {
    /// A ledger in a new folder.
    pub fn new(folder: PathBuf, every: u64) -> io::Result<Ledger> {
        fs::create_dir(&folder)?;
        Ok(Ledger { folder, every, entries: 0, file: None, bytes: 0 })
    }

    /// Appends lines that lie in one file.
    pub fn write(&mut self, entries: u64, lines: &[u8]) -> io::Result<()> {
        if self.entries.is_multiple_of(self.every) {
            self.finish()?;
            let name = format!("{:06}.jsonl.zst", self.entries / self.every);
            let file = BufWriter::new(File::create(self.folder.join(name))?);
            self.file = Some(Encoder::new(file, 1)?);
        }
        self.entries += entries;
        self.bytes += lines.len() as u64;
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(lines))
    }

    /// Ends the file.
    pub fn finish(&mut self) -> io::Result<()> {
        self.file.take().map_or(Ok(()), |file| file.finish()?.flush())
    }
}
