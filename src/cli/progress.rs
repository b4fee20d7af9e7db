//! Progress: a moving line on a terminal, plain log lines otherwise.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Sends log lines to standard error; with `verbose`, this program's lines for those who tune it too.
pub(super) fn log(verbose: bool) {
    let terminal = std::io::stderr().is_terminal();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(terminal)
        .with_target(false)
        // A log that nobody takes is no reason to stop, and the default complains on the same closed pipe.
        .log_internal_errors(false)
        .with_max_level(if verbose { tracing::Level::DEBUG } else { tracing::Level::INFO });
    let _ = subscriber.try_init();
}

/// One stage being shown.
pub(super) struct Stage {
    name: &'static str,
    bar: Option<ProgressBar>,
    begun: Instant,
}

impl Stage {
    /// Begins to show a stage.
    pub fn begin(name: &'static str) -> Stage {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix:8} {msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.set_prefix(name);
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        if bar.is_none() {
            tracing::info!("{name}: begun");
        }
        Stage { name, bar, begun: Instant::now() }
    }

    /// Says how far it is. Log lines say it only at the end.
    pub fn entries(&self, entries: u64) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{entries} entries"));
        }
    }

    /// Ends it, with what it did in a few words. Returns the seconds it took.
    pub fn end(self, what: &str) -> f64 {
        let seconds = self.begun.elapsed().as_secs_f64();
        match &self.bar {
            Some(bar) => bar.finish_with_message(what.to_owned()),
            None => tracing::info!("{}: {what}, {seconds:.2} s", self.name),
        }
        seconds
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.as_ref().filter(|bar| !bar.is_finished()) {
            bar.abandon();
        }
    }
}
