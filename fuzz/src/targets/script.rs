//! Scripts as source code, with the modules, packages and data that they load. The engine compiles and runs them within limits.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_script::Packed;
use plimsoll_script::in_memory::{self, Limits};

use super::Target;

pub const TARGET: Target = Target {
    name: "script",
    run,
    seeds: &[
        b"import http from 'k6/http'; import { check, group } from 'k6'; export const options = { vus: 1 }; export default function () { check(http.get('http://a'), { ok: (r) => r.status === 200 }); }",
        b"const v = new DataView(new ArrayBuffer(8)); Object.defineProperty(v, 'buffer', { get() { return new ArrayBuffer(2); } }); new TextDecoder().decode(v); crypto.subtle.digest('SHA-256', v);",
        b"const b = new ArrayBuffer(8, { maxByteLength: 64 }); const a = new Uint8Array(b); a.fill({ valueOf() { b.resize(0); return 1; } }); new TextDecoder('utf-16le').decode(a, { stream: true });",
        b"import { SharedArray } from 'k6/data'; const s = new SharedArray('x', () => [{ a: 1 }, [2]]); for (const x of s) JSON.stringify(x); s[0].a = 3;",
        b"import { parseHTML } from 'k6/html'; const d = parseHTML('<ul><li>1<li>2</ul>'); d.find('li').each((i, e) => e.parentNode()).map((i, e) => e.text()).toArray();",
        b"import { x } from './other.js'; import p from 'p'; import data from './data.json'; export default () => x + p;\0export const x = 1;\0{\"main\":\"i.js\",\"exports\":{\".\":\"./i.js\"}}\0module.exports = 2;\0{\"a\":[1]}",
        b"const m = require('./other.js'); class A { #p = 1; static { this.q = new Proxy({}, { get: (t, k) => k }); } *g() { yield* this.q.a; } }\0exports.y = [...'ab'].map((c) => c.codePointAt(0) ** 2n);",
        b"setTimeout(async () => { for await (const x of [Promise.resolve(1)]) { throw x; } }, 0); Promise.reject(1).catch((e) => /(?<=a)b+?\\k<n>(?<n>c)/u.exec('abc'));",
        b"import { Counter, Trend } from 'k6/metrics'; new Counter('c').add(1, { a: 'b' }); new Trend('t', true).add(NaN); import exec from 'k6/execution'; exec.test.options; exec.vu.tags['x'] = 1;",
        b"import enc from 'k6/encoding'; enc.b64decode('!!!', 'rawstd', 's'); const h = require('k6/crypto').createHMAC('sha256', new Uint8Array([1]).buffer); h.update('a'); h.digest('hex');",
        b"import { parse } from 'k6/crypto/x509'; try { parse('-----BEGIN CERTIFICATE-----\nMIIBADCBpwIBATAKBggqhkjOPQQDAjAA\n-----END CERTIFICATE-----'); } catch (e) {} import { nothing } from 'k6/metrics'; nothing();",
        b"import { ReadableStream } from 'k6/experimental/streams'; const s = new ReadableStream({ pull(c) { c.enqueue(1); c.close(); } }); const r = s.getReader(); r.read().then(() => r.releaseLock());",
        b"const k = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']); await crypto.subtle.importKey('jwk', await crypto.subtle.exportKey('jwk', k.publicKey), { name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']);",
        b"await crypto.subtle.importKey('jwk', { kty: 'RSA', n: 'uw', e: 'AQAB', d: 'AQ', p: 'Cw', q: 'EQ' }, { name: 'RSA-OAEP', hash: 'SHA-1' }, true, ['decrypt']);",
    ],
    words: &[
        "ArrayBuffer(", "Uint8Array(", "DataView(", "TextDecoder(", "TextEncoder(", ".buffer", ".decode(", ".encode(",
        ".resize(", ".transfer(", "maxByteLength", "valueOf", "toString", "Symbol.iterator", "Symbol.species",
        "Symbol.toPrimitive", "Object.defineProperty(", "Object.setPrototypeOf(", "new Proxy(", "Reflect.construct(", "get ",
        "set ", "async ", "await ", "yield ", "function ", "class ", "extends ", "super", "=> ", "...", "??=", "?.", "`${",
        "import ", "export ", "default ", "from ", "require(", "'./other.js'", "'./data.json'", "'p'", "'k6'", "'k6/http'",
        "'k6/html'", "'k6/data'", "'k6/crypto'", "'k6/encoding'", "'k6/metrics'", "'k6/execution'", "'k6/experimental/fs'",
        "'k6/experimental/csv'", "'k6/experimental/streams'", "'k6/secrets'", "'k6/crypto/x509'", "'k6/net/grpc'", "'k6/ws'", "crypto.subtle.", "open('./data.json')", "JSON.parse(",
        "new Map(", "new WeakRef(", "BigInt(", "eval(", "with (", "label: ", "try { ", "} finally { ", "/x/g", "\0",
    ],
};

pub(super) const LIMITS: Limits = Limits {
    memory: 32 << 20,
    time: Duration::from_millis(100),
};

/// Zero bytes separate the script, `other.js`, the package `p` (its description and its code) and `data.json`.
fn run(data: &[u8]) {
    const FILES: [&str; 4] = [
        "/other.js",
        "/node_modules/p/package.json",
        "/node_modules/p/i.js",
        "/data.json",
    ];
    let mut parts = data.splitn(FILES.len() + 1, |&byte| byte == 0);
    let source = parts.next().unwrap_or_default();
    let files: BTreeMap<PathBuf, Arc<[u8]>> = FILES
        .iter()
        .zip(parts)
        .map(|(name, part)| (PathBuf::from(name), Arc::from(part)))
        .collect();
    let packed = Packed {
        files,
        web: BTreeMap::new(),
    };
    // Most inputs throw. They must only end, without invalid memory accesses.
    let _ = in_memory::run(source, packed, LIMITS);
}
