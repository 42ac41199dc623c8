//! A running zanzibar server, and its tuples in several forms.

// Each test uses only a part of this module.
#![allow(dead_code)]

use plimsoll_testkit::program::{Ended, Program, Running, Signal};
use serde_json::{Value, json};

use crate::client::Client;

pub const CHECK: &str = "/zanzigo.v1.ZanzigoService/Check";

pub struct Served {
    running: Running,
    pub url: String,
}

pub fn program() -> Program {
    Program::at(env!("CARGO_BIN_EXE_plimsoll-serve"))
}

pub fn serve(flags: &[&str]) -> Served {
    let mut running = program()
        .args(["zanzibar", "--listen=127.0.0.1:0", "--threads=2"])
        .args(flags)
        .start();
    let places: Value = serde_json::from_str(&running.line()).unwrap();
    assert_eq!(places["system"], "zanzibar");
    let url = places["url"].as_str().unwrap().to_owned();
    Served { running, url }
}

impl Served {
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    pub fn get(&self, path: &str) -> (u16, String) {
        let mut client = Client::connect(&self.url, "", false, false).unwrap();
        let response = client.get(path).unwrap();
        (response.status, String::from_utf8(response.body).unwrap())
    }

    pub fn metric(&self, name: &str) -> u64 {
        let (_, text) = self.get("/metrics");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
    }

    pub fn end(self) -> Ended {
        self.running.signal(Signal::TERM);
        self.running.wait()
    }

    pub fn kill(self) {
        self.running.signal(Signal::KILL);
        self.running.wait();
    }
}

fn parts(text: &str) -> [&str; 6] {
    let (object, subject) = text.split_once('@').unwrap();
    let part = |text| {
        let (name, rest): (&str, &str) = str::split_once(text, ':').unwrap();
        let (id, relation) = rest.split_once('#').unwrap_or((rest, ""));
        [name, id, relation]
    };
    let ([a, b, c], [d, e, f]) = (part(object), part(subject));
    [a, b, c, d, e, f]
}

/// `type:id#relation@type:id#relation` as JSON; the last relation is omitted if there is none.
pub fn tuple(text: &str) -> Value {
    let [
        object_type,
        object_id,
        object_relation,
        subject_type,
        subject_id,
        subject_relation,
    ] = parts(text);
    let mut tuple = json!({
        "objectType": object_type,
        "objectId": object_id,
        "objectRelation": object_relation,
        "subjectType": subject_type,
        "subjectId": subject_id,
    });
    if !subject_relation.is_empty() {
        tuple["subjectRelation"] = subject_relation.into();
    }
    tuple
}

/// The same in protobuf's binary form.
pub fn tuple_message(text: &str) -> Vec<u8> {
    (1..)
        .zip(parts(text))
        .flat_map(|(number, value)| field(number, value.as_bytes()))
        .collect()
}

/// A field of a text or a message, shorter than 128 bytes (protobuf's encoding, "Length-
/// Delimited Records").
pub fn field(number: u8, value: &[u8]) -> Vec<u8> {
    let length = u8::try_from(value.len()).unwrap();
    assert!(length < 128);
    [&[number << 3 | 2, length], value].concat()
}
