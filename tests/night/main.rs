//! The command from end to end: real exports in, real snapshots out, faults refused.

mod bad_input;
mod command;
mod corrections;
mod flipped_bits;
mod golden;
mod same_bytes;
mod secrecy;
mod stages;
