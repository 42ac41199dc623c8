//! Scripts generated from bytes: they call all functions of the engine and the host, with arguments that change values while
//! these are read (getters and conversions that resize, detach and delete). Every program is valid, so all time is spent on
//! calls.

use std::fmt::Write as _;

use plimsoll_script::{Packed, in_memory};

use super::Target;
use super::script::LIMITS;

pub const TARGET: Target = Target {
    name: "script_calls",
    run,
    seeds: &[
        b"\x00\x00\x01\x02\x03\x04",
        b"\x06\x01\x04\x00\x00\x05\x07\x02\x05\x01\x00\x03\x11\x01\x02\x03",
        b"\x09\x02\x08\x00\x01\x04\x03\x00\x02\x10\x01\x00\x0b\x03\x02\x05",
    ],
    words: &[],
};

/// The start of every program. `v` holds values, `k` finds the n-th name of a value or its prototypes, and `t` runs
/// one step.
const BEGIN: &str = "\
import k6 from 'k6'; import http from 'k6/http'; import html from 'k6/html'; import enc from 'k6/encoding';
import k6crypto from 'k6/crypto'; import data from 'k6/data'; import metrics from 'k6/metrics';
import exec from 'k6/execution'; import csv from 'k6/experimental/csv'; import fs from 'k6/experimental/fs';
import grpc from 'k6/net/grpc'; import ws from 'k6/websockets';
const b = new ArrayBuffer(16, { maxByteLength: 64 });
const page = html.parseHTML('<ul id=u><li class=a>1<li>2</ul><form><input name=n value=3></form>');
const v = [b, new Uint8Array(b, 2), new DataView(b, 1), new ArrayBuffer(9), new Float64Array(4), 'text', 'ab\\ud800', 3.7, -1,
  2 ** 32, {}, [1, 'b', { c: 2 }], () => v[2], class { x = 1 }, Promise.resolve(1), new Proxy([], {}), new Map([[1, 2]]),
  /a(?<n>b)*/gd, Symbol.iterator, 10n, new TextDecoder(), new TextEncoder(), new TextDecoder('utf-16le', { fatal: true }),
  crypto, crypto.subtle, k6crypto, k6crypto.createHash('md5'), http, page, page.find('li'), page.find('li').get(0), enc,
  data, metrics, exec, exec.vu, csv, fs, grpc, ws, k6, globalThis, Reflect, Object, JSON, Uint8Array, DataView,
  ArrayBuffer, __ENV, 'SHA-256', { name: 'AES-CBC', iv: b, length: 128 }, ['encrypt', 'decrypt', 'sign'], { stream: true }];
const k = (o, n) => { const all = []; for (let p = Object(o), i = 0; p && i < 4; p = Reflect.getPrototypeOf(p), i++)
  all.push(...Reflect.ownKeys(p).slice(0, 200)); return all[n % all.length]; };
const g = (i) => v[i % v.length];
const t = (d, f) => { try { v[d % 64] = f(); } catch (e) { if (d > 200) v[d % 64] = e; } };
";

/// Maximum steps of one program.
const STEPS: usize = 40;

fn run(data: &[u8]) {
    let mut writer = Writer {
        bytes: data.iter(),
        text: BEGIN.to_owned(),
    };
    for _ in 0..STEPS {
        if writer.bytes.as_slice().is_empty() {
            break;
        }
        writer.step(0);
    }
    let _ = in_memory::run(writer.text.as_bytes(), Packed::default(), LIMITS);
}

/// Converts bytes to the source of a program.
struct Writer<'a> {
    bytes: std::slice::Iter<'a, u8>,
    text: String,
}

impl Writer<'_> {
    /// The next byte; 0 after the last.
    fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or(0)
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }

    /// Adds one statement, which may contain others in callbacks.
    fn step(&mut self, depth: u8) {
        let (kind, target) = (self.byte(), self.byte());
        let (a, b, c, d) = (self.byte(), self.byte(), self.byte(), self.byte());
        self.put(format_args!("t({target}, () => "));
        match kind % 20 {
            0 | 1 => self.put(format_args!("g({a})[k(g({a}), {b})](g({c}), g({d}))")),
            2 => self.put(format_args!("g({a})[k(g({a}), {b})](g({c}), g({d}), g({}))", a ^ d)),
            3 => self.put(format_args!("new (g({a}))(g({b}), g({c}), g({d}))")),
            4 => self.put(format_args!("new (g({a})[k(g({a}), {b})])(g({c}), g({d}))")),
            5 => self.put(format_args!("g({a})[k(g({a}), {b})]")),
            6 => self.put(format_args!("g({a})[k(g({c}), {b})] = g({d})")),
            7 => {
                self.put(format_args!("Object.defineProperty(g({a}), k(g({a}), {b}), {{ configurable: true, get() {{ "));
                self.inner(depth);
                self.put(format_args!("return g({c}); }} }})"));
            }
            8 => {
                self.put(format_args!("({{ valueOf() {{ "));
                self.inner(depth);
                self.put(format_args!("return g({a}); }}, toString() {{ "));
                self.inner(depth);
                self.put(format_args!("return 'x' + {b}; }}, get length() {{ "));
                self.inner(depth);
                self.put(format_args!("return {c}; }} }})"));
            }
            9 => {
                self.put(format_args!("(x, y) => {{ "));
                self.inner(depth);
                self.put(format_args!("return [g({a}), x, y][{b} % 3]; }}"));
            }
            10 => self.put(format_args!("delete g({a})[k(g({a}), {b})]")),
            11 => self.put(format_args!("g({a}).resize({b} % 80)")),
            12 => self.put(format_args!("g({a}).transfer({b})")),
            13 => self.put(format_args!("Reflect.construct(g({a}), [g({b}), g({c})], g({d}))")),
            14 => self.put(format_args!("Object.setPrototypeOf(g({a}), g({b}))")),
            15 => self.put(format_args!("[...g({a}), ...g({b})]")),
            16 => self.put(format_args!("new Proxy(g({a}), g({b}))")),
            17 => self.put(format_args!("[{a}, -{b}, 'z'.repeat({c}), {d} / 7, NaN, 1e300, '', null, undefined, true][{b} % 10]")),
            18 => {
                self.put(format_args!("setTimeout(() => {{ "));
                self.inner(depth);
                self.put(format_args!("}}, {a} % 2)"));
            }
            _ => self.put(format_args!("Promise.resolve(g({a})).then(g({b}), g({c})).finally(g({d}))")),
        }
        self.put(format_args!(");\n"));
    }

    fn inner(&mut self, depth: u8) {
        if depth < 3 {
            self.step(depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_script::in_memory::Limits;

    use super::*;

    /// An error in the common part of all programs would make the target useless.
    #[test]
    fn every_kind_of_step_is_a_valid_program() {
        let all: Vec<u8> = (0..20).flat_map(|kind| [kind, 70, 1, 2, 3, 4]).collect();
        let mut writer = Writer {
            bytes: all.iter(),
            text: BEGIN.to_owned(),
        };
        while !writer.bytes.as_slice().is_empty() {
            writer.step(0);
        }
        // Long enough for a busy machine under AddressSanitizer.
        let limits = Limits {
            time: Duration::from_secs(20),
            ..LIMITS
        };
        let ended = in_memory::run(
            (writer.text + "throw new Error(`steps ran: ${v.length}`);").as_bytes(),
            Packed::default(),
            limits,
        );
        let message = format!("{ended:?}");
        assert!(message.contains("steps ran: "), "{message}");
    }
}
