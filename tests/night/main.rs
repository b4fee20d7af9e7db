//! The command from end to end: real exports in, real snapshots out, faults refused.

mod bad_input;
mod carried;
mod command;
mod corrections;
mod early;
mod flipped_bits;
mod golden;
mod same_bytes;
mod secrecy;
mod stages;
