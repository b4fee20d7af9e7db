//! The command. See [`bureau::cli`].

use std::ffi::{c_int, c_long};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

unsafe extern "C" {
    fn mi_option_get(option: c_int) -> c_long;
    fn mi_option_set(option: c_int, value: c_long);
}

fn main() -> ExitCode {
    bureau::cli::main(keep_memory)
}

/// Freed memory stays with the process for its next use, whichever thread freed it. A night asks for the same buffers again and again, and each time that
/// the system has to clear new pages for them costs more than the work on them.
fn keep_memory() {
    // mimalloc's `purge_delay`, in milliseconds; -1 is never. Its default tells whether it is the option meant.
    const PURGE_DELAY: c_int = 15;
    const DEFAULTS: [c_long; 2] = [10, 1000];
    // SAFETY: both take any number of an option and touch nothing but the settings of the allocator; no other thread runs yet.
    unsafe {
        if DEFAULTS.contains(&mi_option_get(PURGE_DELAY)) {
            mi_option_set(PURGE_DELAY, -1);
        }
    }
}
