//! Rates generated tables: by default 1,000,000 decisions of 20,000 agents, the workload of the performance section.
//!
//!     cargo bench --bench rating -- [DECISIONS [AGENTS]]
//!
//! The tables are the same on every machine. Prints rows, seconds, decisions a second, and the peak of resident memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use bureau::engine::{Resources, Session};
use bureau::rating::{Parameters, rate};

/// 2026-11-30T00:00:00Z.
const AS_OF: i64 = 1_796_000_000_000 - 3_200_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let (decisions, agents) = (numbers.next().unwrap_or(1_000_000), numbers.next().unwrap_or(20_000).max(1));
    let scratch = tempfile::tempdir()?;
    let tables = scratch.path().join("rating");
    let bytes = generate(&tables, decisions, agents)?;
    eprintln!("{decisions} decisions of {agents} agents, {} MB", bytes / 1_000_000);
    let started = Instant::now();
    let resources = Resources::new(std::thread::available_parallelism()?.get(), 512 << 20);
    let session = Session::open(&resources, &scratch.path().join("spill"))?;
    let parameters = Parameters { as_of: AS_OF, expires_at: AS_OF + 93_600_000, window_decisions: 1000 };
    let ratings = rate(&tables, &scratch.path().join("store"), &session, &parameters)?;
    let documents: usize = ratings.documents().map(|document| document.to_string().len()).sum();
    let rows: usize = ratings.flat()?.iter().map(|(_, batch)| batch.num_rows()).sum();
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{} ratings ({} MB, {rows} flat rows), {} refused, {seconds:.2} s, {:.0} decisions a second, peak {} MB",
        ratings.ratings.len(),
        documents / 1_000_000,
        ratings.refused.len(),
        decisions as f64 / seconds,
        peak_kilobytes() / 1024
    );
    Ok(())
}

/// SplitMix64: a stream that is the same everywhere.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }

    fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }
}

/// Writes the tables and returns how many bytes of decisions there are.
fn generate(dir: &Path, decisions: u64, agents: u64) -> std::io::Result<u64> {
    std::fs::create_dir_all(dir)?;
    let mut stream = Stream(4);
    let create = |name: &str| File::create(dir.join(name)).map(|file| BufWriter::with_capacity(1 << 20, file));
    let mut file = create("organizations.jsonl")?;
    let organizations = agents.div_ceil(3);
    for place in 0..organizations {
        let level = match place % 4 {
            0 => r#""domain":"d.example","verification_level":"domain","verified_at":"2026-09-20T00:00:00Z""#,
            1 => r#""verification_level":"kyb","verified_at":"2026-02-20T00:00:00Z","verified_by":"operator""#,
            _ => r#""verification_level":"none""#,
        };
        writeln!(file, r#"{{"id":"org_{place}",{level}}}"#)?;
    }
    file.flush()?;
    let mut file = create("agents.jsonl")?;
    let ids: Vec<String> = (0..agents).map(|_| stream.uuid()).collect();
    for (place, id) in ids.iter().enumerate() {
        writeln!(
            file,
            r#"{{"id":"{id}","mpp_did":"did:mpp:{place}","organization_id":"org_{}","per_transaction_limit":"{}","data_provenance":"live","created_at":"2026-01-01T00:00:00Z"}}"#,
            place as u64 % organizations,
            stream.below(200)
        )?;
    }
    file.flush()?;
    let mut file = create("slash_events.jsonl")?;
    for place in 0..agents / 50 {
        let status = stream.pick(&["executed", "pending", "disputed", "reversed"]);
        let agent = &ids[stream.below(agents) as usize];
        writeln!(
            file,
            r#"{{"id":"slash_{place}","agent_id":"{agent}","status":"{status}","created_at":"2026-06-01T00:00:00Z"}}"#
        )?;
    }
    file.flush()?;
    let mut file = create("transactions.jsonl")?;
    for _ in 0..decisions {
        // A few agents decide most: half of the decisions belong to a hundredth of them.
        let busy = if stream.below(2) == 0 { agents.div_ceil(100) } else { agents };
        decision(&mut file, &mut stream, busy, &ids)?;
    }
    file.flush()?;
    Ok(std::fs::metadata(dir.join("transactions.jsonl"))?.len())
}

fn decision(file: &mut impl Write, stream: &mut Stream, agents: u64, ids: &[String]) -> std::io::Result<()> {
    let (id, agent) = (stream.uuid(), &ids[stream.below(agents) as usize]);
    let (month, day, time) = (6 + stream.below(5), 1 + stream.below(28), stream.below(86_400_000));
    let (status, reason) = match stream.below(20) {
        0 => ("denied", "\"VENDOR_NOT_ALLOWLISTED\""),
        1 => ("denied", "\"REQUIRES_HUMAN_APPROVAL\""),
        2 => ("pending", "null"),
        _ => ("approved", "null"),
    };
    writeln!(
        file,
        r#"{{"id":"{id}","agent_id":"{agent}","created_at":"2026-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z","route":"{}","amount_usd":"{}.{:02}","approval_status":"{status}","denial_reason":{reason},"settlement_status":"{}","gate6_tier":"{}","attestation_status":"{}","receipt_signed":{},"metadata":{{"caller_authenticated":true,"attestation_receipt_available":true}}}}"#,
        time / 3_600_000,
        time / 60_000 % 60,
        time / 1000 % 60,
        time % 1000,
        stream.pick(&["/authorize-intent", "/x402-pay"]),
        stream.below(50),
        stream.below(100),
        stream.pick(&["pending", "confirmed", "confirmed", "failed"]),
        stream.pick(&["safe", "safe", "safe", "watch", "warn", "critical"]),
        stream.pick(&["matched", "matched", "matched", "missing"]),
        stream.below(8) > 0,
    )
}

/// `VmHWM`, where the system says it.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
