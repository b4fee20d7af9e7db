//! An explanation in lines for a person.

use std::fmt::Write;

use super::amount;
use super::explain::{CapabilityScore, Explanation};

impl Explanation {
    /// The lines; of each pool at most `events` events, and of the entries that count for nothing as many.
    pub fn to_text(&self, events: usize) -> String {
        let mut out = format!("{} as of {}\n", self.subject, self.as_of);
        for score in &self.capabilities {
            out.push('\n');
            score.write(&mut out, events);
        }
        if self.capabilities.is_empty() {
            out.push_str("\nno report for this capability\n");
        }
        if !self.nothing.is_empty() {
            let _ = writeln!(out, "\n{} entries count for nothing, or for no score:", self.nothing.len());
            for line in self.nothing.iter().take(events) {
                let _ = writeln!(out, "  {:>9}  {:<12}  {}", line.seq, line.action, line.why.join(", "));
            }
            more(&mut out, self.nothing.len(), events);
        }
        out
    }
}

impl CapabilityScore {
    fn write(&self, out: &mut String, most: usize) {
        let name = self.capability.as_deref().unwrap_or("(no capability)");
        let _ = writeln!(out, "{name}: {}", self.state);
        if self.state == "UNENROLLED" {
            out.push_str("  not enrolled: facts alone, no quality\n");
            return;
        }
        let (sum_w, sum_wv) = (shown(&self.sum_w, 15), shown(&self.sum_wv, 17));
        let prior = match self.prior_from_agents {
            0 => "uniform prior".to_owned(),
            agents => format!("prior lent by {agents} other agents of the anchor"),
        };
        let _ =
            writeln!(out, "  n_eff  Σ w                        {sum_w}   (RATED from {})", shown(&self.threshold, 15));
        let _ = writeln!(out, "  a      {:.6} + Σ w·v          {:.6}   (Σ w·v {sum_wv}, {prior})", self.a0, self.a);
        let _ = writeln!(out, "  b      {:.6} + Σ w·(1 − v)    {:.6}", self.b0, self.b);
        let _ = writeln!(out, "  mean   a / (a + b)                {:.6}", self.mean);
        let _ = writeln!(out, "  sd     √(ab / ((a+b)² (a+b+1)))   {:.6}", self.sd);
        let served = if self.served { "served" } else { "not served: the report has n_eff alone" };
        let _ = writeln!(out, "  lcb    mean − 1.2816 · sd         {:.6}   ({served})", self.lcb);
        if self.missing_events > 0 && self.state != "WITHDRAWN" {
            let judgments = match self.missing_value_judgments {
                Some(judgments) => format!(", or {judgments} value judgments"),
                None => String::new(),
            };
            let _ = writeln!(
                out,
                "  to be RATED: {} new events of full weight at this instant{judgments}",
                self.missing_events
            );
        }
        self.events(out, most);
        for outside in &self.outside {
            let places = match outside.interactions {
                1 => format!("seq {}", outside.first_seq),
                _ => format!("seq {} to {}", outside.first_seq, outside.last_seq),
            };
            let _ = writeln!(out, "  in no pool: {:>5}  {} ({places})", outside.interactions, outside.reason);
        }
    }

    fn events(&self, out: &mut String, most: usize) {
        if self.events.is_empty() {
            out.push_str("  no event is in the pool\n");
            return;
        }
        match self.events.len() {
            1 => out.push_str("  1 event:\n"),
            events => _ = writeln!(out, "  {events} events, the heaviest first:"),
        }
        out.push_str("        seq  ended                      age d  kind      code            v    weight    share  attested by\n");
        for event in self.events.iter().take(most) {
            let _ = writeln!(
                out,
                "  {:>9}  {}  {:>7}  {:<8}  {:<13}  {}  {}  {:>6}%  {}",
                event.seq,
                event.t,
                event.age_days(),
                event.kind,
                event.code,
                event.v,
                shown(&event.weight, 15),
                amount::short(event.share_millionths.into(), 4, 2),
                event.attester.as_deref().map_or("", |hash| hash.get(..19).unwrap_or(hash)),
            );
        }
        more(out, self.events.len(), most);
    }
}

fn more(out: &mut String, all: usize, shown: usize) {
    if all > shown {
        let _ = writeln!(out, "  … and {} more", all - shown);
    }
}

/// An exact decimal to six places.
fn shown(text: &str, places: u32) -> String {
    amount::read(text, places).map_or_else(|| text.to_owned(), |units| amount::short(units, places, 6))
}
