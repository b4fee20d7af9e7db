//! The vocabulary of the exports.

pub const BUREAU: &str = "https://bureau.lanternfield.example";
pub const COURT_PROCEDURE: &str = "https://bureau.lanternfield.example/how-findings-of-courts-are-checked";

pub const AGENTS: [&str; 24] = [
    "Abacus", "Beadle", "Brook", "Caliper", "Clerk", "Draper", "Envoy", "Ferry", "Gauge", "Hatch", "Índice", "Jotter",
    "Kiln", "Loom", "Marrow", "Notary", "Plinth", "Quill", "Ratchet", "Sieve", "Tally", "Umbra", "Vane", "Œuvre",
];
pub const PEOPLE: [&str; 24] = [
    "aino", "bashir", "carme", "daoud", "eszter", "femke", "giang", "hana", "ilse", "joaquín", "keiko", "lwazi",
    "maeve", "nasrin", "ottó", "pilar", "qadir", "rhian", "søren", "tamsin", "ulla", "veda", "wen", "yusra",
];
pub const PLACES: [&str; 24] = [
    "alderbank",
    "birchmere",
    "copperlane",
    "dunmoor",
    "eastquay",
    "fennwick",
    "graniteford",
    "heathrow-farm",
    "inglenook",
    "junipergate",
    "kestrelhill",
    "limehouse",
    "marshgate",
    "netherby",
    "oakhurst",
    "pinefold",
    "quarrytown",
    "rowanlea",
    "saltmarsh",
    "tollgate",
    "underwood",
    "viaduct",
    "wychelm",
    "yarrowdale",
];
pub const TRADES: [&str; 8] = ["assay", "bakery", "cartage", "drafting", "forge", "ledgers", "printing", "surveys"];

pub const CAPABILITIES: [&str; 40] = [
    "accounts.reconcile",
    "advert-copy",
    "audio.transcribe",
    "billing-dispute",
    "booking.travel",
    "brief.summarise",
    "catalogue-entry",
    "chart.plot",
    "claims-triage",
    "code.migrate",
    "code.port",
    "code.test",
    "contract.compare",
    "customs-forms",
    "data.clean",
    "data.label",
    "diagram.trace",
    "email.sort",
    "fleet-plan",
    "geo.lookup",
    "grant-search",
    "image.caption",
    "invoice-match",
    "legal.cite",
    "log-triage",
    "menu.translate",
    "minutes",
    "offering:ox_41",
    "offering:ox_77",
    "parts.source",
    "payroll-check",
    "proofread.en",
    "proofread.fr",
    "rota-plan",
    "schema.design",
    "sql.tune",
    "stock-count",
    "survey.code",
    "tender-watch",
    "vertaling.nl",
];

/// A promise that subjects make.
#[derive(Debug)]
pub struct Promise {
    pub id: &'static str,
    pub class: &'static str,
    pub text: &'static str,
    pub kind: Option<&'static str>,
    pub bound: Option<i64>,
}

/// How many of [`PROMISES`], from the first, a mesh can verify.
pub const VERIFIABLE: usize = 3;
pub const PROMISES: [Promise; 6] = [
    promise(
        "fast",
        "mesh-verifiable",
        "Nineteen answers of twenty within two seconds.",
        Some("latency_p95_ms"),
        Some(2000),
    ),
    promise("shape", "mesh-verifiable", "Every answer is valid under the published schema.", Some("schema"), None),
    promise("there", "mesh-verifiable", "Reachable on working days.", Some("availability"), Some(99)),
    promise("cites", "probe-verifiable", "Names the source of each figure.", None, None),
    promise("forgets", "attested-only", "Keeps no copy once the work is handed over – ever.", None, None),
    promise("lone", "attested-only", "Passes no work on to another agent.", None, None),
];

const fn promise(
    id: &'static str,
    class: &'static str,
    text: &'static str,
    kind: Option<&'static str>,
    bound: Option<i64>,
) -> Promise {
    Promise { id, class, text, kind, bound }
}

pub const NOTES: [&str; 8] = [
    "As ordered.",
    "One column was swapped; right after a hint.",
    "Late, but correct.",
    "\"Done\" – and half of it missing.",
    "Gave up on page 3 and said so.",
    "Très propre, merci.",
    "Cited a source that does not exist.\nChecked twice.",
    "Path was C:\\in\\batch; worked anyway.",
];
pub const REASONS: [&str; 4] = [
    "The hours went into the wrong question.",
    "Half of the spend repeated earlier work.",
    "Nothing that we could use by the date.",
    "Far above what the same work costs elsewhere.",
];
pub const DERIVED_GOOD: [&str; 3] = ["accepted", "artifacts-conform", "no-rework"];
pub const DERIVED_CORRECTED: [&str; 2] = ["retry-then-accept", "problem-report-resolved"];
pub const DERIVED_BAD: [&str; 3] = ["escalated", "abandoned", "artifact-missing"];
pub const PROVIDERS: [&str; 4] = ["gatewarden", "plain-sieve", "tollhouse", "watchroom"];
pub const PROGRAMS: [&str; 3] = ["plumbline-v1", "plumbline-v2", "touchstone"];
pub const LIBRARIES: [&str; 6] = ["v2025.11", "v2026.01", "v2026.03", "v2026.05", "v2026.07", "v2026.09"];
pub const GROUNDS: [(&str, &str, &str); 8] = [
    ("screening", "delivery", "The text asks the reader to send on what it holds."),
    ("screening", "intake", "Carries a tool call that nobody requested."),
    ("scope", "admission", "The offering named is none of the scope."),
    ("scope", "boundary", "Not among the declared capabilities."),
    ("volume", "admission", "Over the agreed number of tasks a day."),
    ("qualification", "formation", "No proof of cover for goods in transit."),
    ("mandate", "approval", "The mandate had run out."),
    ("mandate", "approval", "Above the limit that the mandate sets."),
];
pub const CATEGORIES: [&str; 5] = ["financial", "personal", "relationship", "solicitation", "technical"];
pub const DISCLOSURES: [&str; 3] = ["rfp_release", "sow_task", "delivery"];
pub const ANSWERS: [&str; 4] = [
    "The passage was public before we saw it.",
    "We have opened an inquiry of our own.",
    "The material named reached us from another house.",
    "Wrong party: our agent was not engaged then.",
];

/// Numbers that unlisted members hold: the canonical form and other spellings of the same double.
pub const NUMBERS: [(&str, &[&str]); 8] = [
    ("1.5", &["1.5", "1.50", "15e-1"]),
    ("100", &["100", "1E2", "100.0"]),
    ("0", &["0", "-0", "0.0e5"]),
    ("1e+21", &["1e21", "1000000000000000000000.0"]),
    ("0.000001", &["1e-6", "0.0000010"]),
    ("1e-7", &["1E-7", "0.0000001"]),
    ("-12.25", &["-12.25", "-1225e-2"]),
    ("333333333.3333333", &["333333333.33333329", "3333333333333333E-7"]),
];
