//! Commands, flags, progress and exit codes.
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | published, or valid |
//! | 1 | the input is bad, or a check failed |
//! | 2 | the command line is wrong |
//! | 3 | the machine stands in the way: disk, permissions, memory, another run |
//!
//! What a command says about itself goes to standard error; its result, and with `--json` one JSON object, to standard output.

mod arguments;
mod commands;
mod excerpt;
mod progress;
mod summary;

use std::process::ExitCode;

use clap::Parser;

/// From so much `--memory` on, speed comes before a small process.
const ROOMY: usize = 2 << 30;

/// Runs the command line of this process. `keep_memory` is called first where the command has room: it may tell the allocator to keep
/// what is freed.
pub fn main(keep_memory: fn()) -> ExitCode {
    let arguments = match arguments::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(fault) => {
            let usage = fault.use_stderr();
            let _ = fault.print();
            return if usage { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    if arguments.command.memory().is_some_and(|bytes| bytes >= ROOMY) {
        keep_memory();
    }
    progress::log(arguments.verbose);
    match commands::run(arguments.command) {
        Ok(_) if summary::lost() => {
            summary::complain("standard output cannot be written; the result is lost");
            ExitCode::from(3)
        }
        Ok(code) => code,
        Err(fault) => {
            summary::complain(&fault.to_string());
            ExitCode::from(fault.exit_code())
        }
    }
}
