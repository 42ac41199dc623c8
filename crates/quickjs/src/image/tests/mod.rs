//! Random programs, run by users of an image and by users with a runtime each. Both must report the same.

mod fuzz;
mod objects;
