//! Runs random programs with users of an image and with users that have their own runtimes. Both must report the same.

mod fuzz;
mod hot;
mod objects;
mod parts;
