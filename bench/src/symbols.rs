//! Finds the part of a program that an instruction belongs to, with the program's symbol table.

use std::collections::BTreeMap;

/// Part of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The script engine, which is C.
    Engine,
    /// The memory allocator.
    Allocator,
    /// A crate, by its place in the list of names.
    Crate(u16),
    /// Other C code: the C library, cryptography.
    Other,
}

/// Functions by address.
#[derive(Debug, Default)]
pub struct Symbols {
    owners: BTreeMap<u64, Owner>,
    crates: Vec<String>,
}

impl Symbols {
    /// Reads the output of `nm --demangle --defined-only PROGRAM`: an address, a letter and a name.
    pub fn read(nm: &str) -> Symbols {
        let mut symbols = Symbols::default();
        let functions: Vec<(u64, &str)> = nm
            .lines()
            .filter_map(|line| {
                let (address, rest) = line.split_once(' ')?;
                let (kind, name) = rest.split_once(' ')?;
                let is_code = matches!(kind, "t" | "T" | "w" | "W" | "u" | "i");
                Some((u64::from_str_radix(address, 16).ok()?, name)).filter(|_| is_code)
            })
            .collect();
        // The linker places the engine's files one after the other, and most of their functions have no common prefix.
        // The parts that gcc splits off as cold are elsewhere.
        let engine = functions
            .iter()
            .filter(|(_, name)| is_engine(name))
            .map(|(address, _)| *address);
        let (first, last) = (engine.clone().min(), engine.max());
        for (address, name) in functions {
            let within = first <= Some(address) && Some(address) <= last;
            let owner = if is_engine(name) || (within && !name.contains("::")) {
                Owner::Engine
            } else if name.starts_with("mi_") || name.starts_with("_mi_") {
                Owner::Allocator
            } else if let Some(found) = crate_of(name) {
                symbols.number(found)
            } else {
                Owner::Other
            };
            symbols.owners.insert(address, owner);
        }
        symbols
    }

    fn number(&mut self, name: &str) -> Owner {
        let place = self.crates.iter().position(|known| known == name);
        let place = place.unwrap_or_else(|| {
            self.crates.push(name.to_owned());
            self.crates.len() - 1
        });
        u16::try_from(place).map_or(Owner::Other, Owner::Crate)
    }

    /// The owner of the instruction at an address relative to the load address. `None` if the address is outside the program.
    pub fn owner(&self, address: Option<u64>) -> Owner {
        let found = address.and_then(|at| self.owners.range(..=at).next_back());
        found.map_or(Owner::Other, |(_, owner)| *owner)
    }

    /// The name of an owner in a table.
    pub fn name(&self, owner: Owner) -> &str {
        match owner {
            Owner::Engine => "script engine",
            Owner::Allocator => "allocator",
            Owner::Other => "C library and others",
            Owner::Crate(place) => self.crates.get(usize::from(place)).map_or("", |name| name),
        }
    }
}

fn is_engine(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    ["JS_", "js_", "lre_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        && !name.contains("::")
}

/// The crate that a demangled name belongs to. A generic function belongs to our own crate that it is instantiated for.
fn crate_of(name: &str) -> Option<&str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if let Some(at) = name.find("plimsoll_") {
        let ours = name.get(at..)?;
        return ours.split(|letter| !is_part(letter)).next();
    }
    let path = name.get(..name.find("::")?)?;
    let found = path.rsplit(|letter| !is_part(letter)).next()?;
    Some(match found {
        "core" | "alloc" | "std" | "hashbrown" => "std",
        found => found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_owner_that_their_name_or_place_tells() {
        let symbols = Symbols::read(
            "0000000000000100 T JS_Call\n\
             0000000000000180 t find_own_property\n\
             00000000000001f0 t js_array_push\n\
             0000000000000200 t <plimsoll_http::Client as core::ops::drop::Drop>::drop\n\
             0000000000000280 t core::ptr::drop_in_place<plimsoll_k6::User>\n\
             0000000000000300 t <&mut tokio::time::Sleep as core::future::Future>::poll\n\
             0000000000000380 T mi_malloc\n\
             0000000000000400 t core::fmt::write\n\
             0000000000000480 T ring_core_aes\n\
             0000000000000500 D DATA\n",
        );
        let name = |address| symbols.name(symbols.owner(Some(address)));
        assert_eq!(name(0x1a0), "script engine");
        assert_eq!(name(0x210), "plimsoll_http");
        assert_eq!(name(0x280), "plimsoll_k6");
        assert_eq!(name(0x37f), "tokio");
        assert_eq!(name(0x380), "allocator");
        assert_eq!(name(0x410), "std");
        assert_eq!(name(0x490), "C library and others");
        assert_eq!(symbols.owner(None), Owner::Other);
    }
}
