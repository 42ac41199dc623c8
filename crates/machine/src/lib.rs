//! Reads system information about the machine: `/proc`, `/sys`, control groups, limits and clocks.
//!
//! This crate only reads. The verdict judges the values, and the caller chooses metrics for them.
//! Information that the system does not provide is `None`, or zero if the type documents it.
//!
//! * [`MachineMeter`], [`MachineReading`]: counters of the whole machine, read twice and subtracted.
//! * [`descriptors`], [`waiting_ports`]: how close the process is to the limits of the kernel.
//! * [`ThreadMeter`]: processor time, waiting and timer lateness of one thread.
//! * [`cpu_time`], [`memory`], [`ProcessReading`], [`ProcessUse`], [`descendants`],
//!   [`listening_processes`]: this process and others.
//! * [`Programs`]: processor time of programs that do not belong to a measurement.
//! * [`System`]: processor, memory, operating system and their settings.
//! * [`read_file`] and related functions: read files that users name, with a size limit to protect
//!   memory.
//! * [`collect_files`], [`with_files`]: provide another process with the files that this process
//!   has read.
//! * [`run_in_background`]: a lower priority for threads that must not delay the load.
//! * [`shortage`]: advice on errors caused by a lack of resources.

mod background;
mod clock_step;
mod file_set;
mod limits;
mod listening;
mod meter;
mod mount;
mod open_file;
mod others;
mod process;
mod quota;
mod read_file;
mod reading;
pub mod shortage;
mod system;
mod thread;

pub use background::run_in_background;
pub use clock_step::clock_step;
pub use file_set::{FileSet, collect_files, file_exists, is_file_set, read_in_set, with_files};
pub use limits::{descriptors, waiting_ports};
pub use listening::listening_processes;
pub use meter::MachineMeter;
pub use mount::file_system;
pub use others::{OtherUse, Programs};
pub use process::{
    ProcessReading, ProcessUse, cpu_time, descendants, memory, peak_memory, processors,
};
pub use read_file::{
    LimitedReader, open_limited, read_file, read_stream, read_text, read_text_file,
};
pub use reading::MachineReading;
pub use system::System;
pub use thread::{ThreadMeter, ThreadReading};
