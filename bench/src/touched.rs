//! Counts the cache lines that a program touches between two system calls, by the kind of memory that they belong to.
//!
//! The input is what `valgrind --tool=lackey --trace-mem=yes --trace-syscalls=yes` writes: a line for each instruction
//! (`I  04001000,3`), load (` L 1ffeffe7e0,8`), store (`S`) and both (`M`), and a line for each system call. Addresses
//! are hexadecimal, sizes decimal. Only user space is in it.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::symbols::{Owner, Symbols};

/// Bytes of a cache line of x86-64 and of most 64-bit ARM processors.
const LINE: u64 = 64;

/// The bits of an address that distinguish an image from objects of its users (crates/quickjs/src/image/space.rs).
const IMAGE_SHIFT: u32 = 42;

/// The system calls that send data. The start of each one separates two requests.
const SENDS: [&str; 4] = ["sys_sendto", "sys_sendmsg", "sys_writev", "sys_sendmmsg"];

/// Part of the address space of the traced program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Region {
    /// Code, constants and variables of a file.
    File,
    ScriptStack,
    ThreadStack,
    /// An image of the heap of a script.
    Image,
    /// Later objects of its users, in small blocks.
    MadeSince,
    /// All other memory: heap allocations.
    Heap,
}

/// The memory of the traced program.
#[derive(Debug, Default)]
pub struct Regions {
    /// By the first address, with the address after the last.
    regions: BTreeMap<u64, (u64, Region)>,
    /// Where the file of the program is mapped.
    program: Option<(u64, u64)>,
}

impl Regions {
    /// Reads `/proc/PID/maps` (proc(5)) of a program with this path. A mapping of `script_stack` bytes is the stack of
    /// a script.
    pub fn read(maps: &str, program: &str, script_stack: u64) -> Regions {
        let mut regions = BTreeMap::new();
        let mut code: Option<(u64, u64)> = None;
        let mut guard_before = false;
        for line in maps.lines() {
            let mut fields = line.split_whitespace();
            let (Some(range), Some(rights)) = (fields.next(), fields.next()) else {
                continue;
            };
            let file = fields.nth(3).unwrap_or("");
            let Some((from, to)) = range.split_once('-') else {
                continue;
            };
            let (Ok(from), Ok(to)) = (u64::from_str_radix(from, 16), u64::from_str_radix(to, 16))
            else {
                continue;
            };
            if file == program {
                code = Some((code.map_or(from, |(first, _)| first), to));
            }
            let region = match file {
                "[stack]" => Region::ThreadStack,
                _ if file.starts_with('/') => Region::File,
                _ if guard_before && to - from == script_stack => Region::ScriptStack,
                // A thread's stack is 2 MiB in Rust, 8 MiB otherwise.
                _ if guard_before && matches!((to - from) >> 20, 2 | 8) => Region::ThreadStack,
                _ => Region::Heap,
            };
            guard_before = rights.starts_with("---");
            if !guard_before {
                regions.insert(from, (to, region));
            }
        }
        Regions {
            regions,
            program: code,
        }
    }

    /// The address as it appears in the program's symbol table.
    fn in_program(&self, address: u64) -> Option<u64> {
        let (from, to) = self.program?;
        (from..to).contains(&address).then(|| address - from)
    }

    /// The region of an address. Memory that is not mapped yet will be allocated.
    pub fn of(&self, address: u64) -> Region {
        match address >> IMAGE_SHIFT {
            8 => return Region::Image,
            9 => return Region::MadeSince,
            _ => {}
        }
        match self.regions.range(..=address).next_back() {
            Some((_, (to, region))) if address < *to => region.clone(),
            _ => Region::Heap,
        }
    }
}

/// One line of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Instruction {
        address: u64,
        size: u64,
    },
    Data {
        address: u64,
        size: u64,
        is_write: bool,
    },
    Send,
    Other,
}

/// Reads a line of the trace.
pub fn event(line: &[u8]) -> Event {
    let (kind, rest) = match line {
        [b'I', b' ', b' ', rest @ ..] => (b'I', rest),
        [b' ', kind @ (b'L' | b'S' | b'M'), b' ', rest @ ..] => (*kind, rest),
        [b'S', b'Y', b'S', ..] => return call(line),
        _ => return Event::Other,
    };
    let mut address = 0_u64;
    let mut digits = rest.iter();
    for byte in digits.by_ref() {
        let Some(digit) = char::from(*byte).to_digit(16) else {
            break;
        };
        address = address << 4 | u64::from(digit);
    }
    let size = digits
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0, |size, byte| size * 10 + u64::from(byte - b'0'));
    match kind {
        b'I' => Event::Instruction { address, size },
        kind => Event::Data {
            address,
            size,
            is_write: kind != b'L',
        },
    }
}

fn call(line: &[u8]) -> Event {
    // The end of a call that waited is on a separate line, without the name.
    let text = String::from_utf8_lossy(line);
    if SENDS.iter().any(|name| text.contains(name)) {
        Event::Send
    } else {
        Event::Other
    }
}

/// The owner of a cache line: the rows of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Code(Owner),
    /// Constants and variables of the program and its libraries.
    Static,
    ScriptStack,
    ThreadStack,
    /// The engine's memory that all users share until they change it.
    Image,
    /// The engine's memory that it wrote before the first request.
    EngineBefore,
    /// The engine's memory that it wrote first after that.
    EngineAfter,
    /// Memory that others allocated, by the code that accesses it most.
    Heap(Owner),
}

/// Counts lines in windows of a number of sends.
pub struct Count<'a> {
    symbols: &'a Symbols,
    /// Sends in a window, and how many windows to leave out and to count.
    window: u64,
    skip: u64,
    regions: Regions,
    sends: u64,
    code_at: u64,
    /// Lines written before the first send.
    early: HashSet<u64>,
    code: HashSet<u64>,
    data: HashMap<u64, HashMap<Owner, u32>>,
    /// Distinct lines of each counted window.
    pub windows: Vec<BTreeMap<Kind, u64>>,
}

impl<'a> Count<'a> {
    /// Counts in windows of `window` sends after `skip` windows.
    pub fn new(symbols: &'a Symbols, window: u64, skip: u64) -> Count<'a> {
        Count {
            symbols,
            window,
            skip,
            regions: Regions::default(),
            sends: 0,
            code_at: 0,
            early: HashSet::new(),
            code: HashSet::new(),
            data: HashMap::new(),
            windows: Vec::new(),
        }
    }

    /// Whether a window is counted now.
    fn is_counting(&self) -> bool {
        self.sends >= self.window * self.skip
    }

    /// Processes the next event. Calls `regions` for the memory map when the first window begins.
    pub fn take(&mut self, event: Event, regions: impl FnOnce() -> Regions) {
        match event {
            Event::Instruction { address, size } => {
                self.code_at = address;
                if self.is_counting() {
                    self.code.extend(lines(address, size));
                }
            }
            Event::Data {
                address,
                size,
                is_write,
            } => {
                if self.sends == 0 {
                    if is_write {
                        self.early.extend(lines(address, size));
                    }
                } else if self.is_counting() {
                    let owner = self.symbols.owner(self.regions.in_program(self.code_at));
                    for line in lines(address, size) {
                        *self.data.entry(line).or_default().entry(owner).or_default() += 1;
                    }
                }
            }
            Event::Send => {
                self.sends += 1;
                let begins = self.window * self.skip;
                if self.sends == begins {
                    self.regions = regions();
                } else if self.sends > begins && (self.sends - begins).is_multiple_of(self.window) {
                    self.end_window();
                }
            }
            Event::Other => {}
        }
    }

    fn end_window(&mut self) {
        let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
        for line in std::mem::take(&mut self.code) {
            let within = self.regions.in_program(line * LINE);
            // A function that begins within the line counts, too.
            let owner = self.symbols.owner(within.map(|at| at + LINE / 2));
            *kinds.entry(Kind::Code(owner)).or_default() += 1;
        }
        for (line, users) in std::mem::take(&mut self.data) {
            let kind = match self.regions.of(line * LINE) {
                Region::File => Kind::Static,
                Region::ScriptStack => Kind::ScriptStack,
                Region::ThreadStack => Kind::ThreadStack,
                Region::Image => Kind::Image,
                Region::MadeSince => Kind::EngineAfter,
                Region::Heap if users.contains_key(&Owner::Engine) => {
                    if self.early.contains(&line) {
                        Kind::EngineBefore
                    } else {
                        Kind::EngineAfter
                    }
                }
                Region::Heap => {
                    let most = users.iter().max_by_key(|(owner, uses)| (**uses, **owner));
                    Kind::Heap(most.map_or(Owner::Other, |(owner, _)| *owner))
                }
            };
            *kinds.entry(kind).or_default() += 1;
        }
        self.windows.push(kinds);
    }
}

fn lines(address: u64, size: u64) -> impl Iterator<Item = u64> {
    let last = address.saturating_add(size.max(1) - 1);
    address / LINE..=last / LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_trace_are_read() {
        let data = |address, size, is_write| Event::Data {
            address,
            size,
            is_write,
        };
        assert_eq!(
            event(b"I  04001090,3"),
            Event::Instruction {
                address: 0x0400_1090,
                size: 3
            }
        );
        assert_eq!(event(b" S 1ffeffe7e0,8"), data(0x1f_feff_e7e0, 8, true));
        assert_eq!(event(b" L 1f,16"), data(0x1f, 16, false));
        assert_eq!(event(b" M 0,4"), data(0, 4, true));
        let send = b"SYSCALL[7,1]( 44) sys_sendto ( 9, 0x1, 70, 16384, 0x0, 0 ) --> [async] ... ";
        assert_eq!(event(send), Event::Send);
        assert_eq!(event(b"==7== Lackey, an example"), Event::Other);
    }

    #[test]
    fn mappings_are_distinguished_by_size_and_file() {
        let maps = "1000-2000 r-xp 00000000 00:00 1 /usr/bin/x\n\
                    2000-3000 ---p 00000000 00:00 0\n\
                    3000-43000 rw-p 00000000 00:00 0\n\
                    50000-90000 rw-p 00000000 00:00 0\n\
                    a0000-b0000 rw-p 00000000 00:00 0 [stack]\n";
        let regions = Regions::read(maps, "/usr/bin/x", 0x40000);
        assert_eq!(regions.in_program(0x1010), Some(0x10));
        assert_eq!(regions.in_program(0x2010), None);
        let of = |address| regions.of(address);
        assert_eq!(of(0x1800), Region::File);
        assert_eq!(of(0x3000), Region::ScriptStack);
        assert_eq!(of(0x50000), Region::Heap, "no guard page precedes it");
        assert_eq!(of(0xa0000), Region::ThreadStack);
        assert_eq!(of(0xc0000), Region::Heap);
        assert_eq!(of(0x2000_0000_1000), Region::Image);
        assert_eq!(of(0x2400_0000_0000), Region::MadeSince);
        assert_eq!(of(0x7fff_0000_0000), Region::Heap);
    }

    #[test]
    fn a_window_has_the_distinct_lines_between_its_sends() {
        let symbols =
            Symbols::read("0000000000000100 t JS_Call\n0000000000000200 t plimsoll_http::go\n");
        let mut count = Count::new(&symbols, 1, 1);
        let mut take = |text: &str| {
            let regions = || Regions::read("0-1000 r-xp 00000000 00:00 1 /x\n", "/x", 1);
            count.take(event(text.as_bytes()), regions);
        };
        // Before the first send the engine writes 0x10000.
        for line in [
            "I  110,4",
            " S 10000,8",
            "SYSCALL[1,1]( 44) sys_sendto ( 1 )",
        ] {
            take(line);
        }
        // Its line and one more of the engine, twice; and one of another crate, across two lines.
        for line in [
            "I  110,4",
            " L 10008,8",
            " S 20000,8",
            " L 20000,8",
            "I  210,4",
            " L 3003c,8",
        ] {
            take(line);
        }
        take("SYSCALL[1,1]( 44) sys_sendto ( 1 )");
        let expected = BTreeMap::from([
            (Kind::Code(Owner::Engine), 1),
            (Kind::Code(Owner::Crate(0)), 1),
            (Kind::EngineBefore, 1),
            (Kind::EngineAfter, 1),
            (Kind::Heap(Owner::Crate(0)), 2),
        ]);
        assert_eq!(count.windows, [expected]);
    }
}
