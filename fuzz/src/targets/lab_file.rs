//! Lab files: TOML, its matrix, its variables.

use std::path::Path;

use plimsoll_lab::file::Document;
use plimsoll_lab::{FormName, Lab};

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "lab_file",
    run,
    seeds: &[
        b"[lab]\ntitle=\"x\"\n[axes]\na=[1,2]\nb={values=[\"y\"],when={a=1}}\n[[exclude]]\na=2\n[load]\ncommand=\"echo {a} {seconds}\"\ntool=\"wrk\"\n",
        b"[lab]\ntitle=\"x\"\n[[system]]\nname=\"s\"\ncommand=\"true {port.x} '{{port}}'\"\nports=\"x\"\nready={http=\"/\",within=\"1s\"}\n[load]\nhttp={url=\"http://{s.address.x}/\"}\nrate=10\nduration=\"1s\"\n",
        b"[lab]\ntitle=\"x\"\n[variables]\nv=\"{w}\"\n[[variables]]\nwhen={a=\"b\"}\nw=1\n[axes]\na=[\"b\"]\nplace=\"far\"\n[[place]]\nname=\"far\"\nround-trip=\"1ms\"\nrate=\"1Gbit/s\"\nloss=\"1%\"\n[load]\nthroughput=\"tcp\"\nto=\"{v}\"\n[[objective]]\nmetric=\"latency\"\np=95\nat-most=\"5ms\"\n[[compare]]\naxis=\"a\"\n[forms.quick]\nshare=0.5\nonly={a=\"b\"}\n",
        b"[lab]\ntitle=\"x\"\n[[service]]\nname=\"db\"\nkind=\"postgres\"\nsettings={a=1}\n[seed]\ncommand=\"true\"\nexpect={n=1}\n[load]\ngrpc={address=\"{db.address}\",call=\"a/b\"}\nwork={workers=2,loops=3}\n",
    ],
    words: &[
        "[[load]]", "[[system]]", "[[service]]", "when", "{a}", "{{", "}}", "=", "[", "]", "{", "}", "\"", "'''",
        "\n", "1s", "values", "name", "config", "include", "port", "share", "certificates", "repeats", "inf", "1e999",
    ],
};

fn run(data: &[u8]) {
    let text = text(data);
    if let Ok(document) = Document::of_text(Path::new("/nowhere/lab.toml"), &text) {
        for which in [FormName::Quick, FormName::Standard, FormName::Full] {
            if let Ok(lab) = Lab::of(document.clone(), which) {
                let message = plimsoll_lab::plan::text(&lab);
                assert!(!message.is_empty());
                plimsoll_lab::plan::json(&lab);
            }
        }
    }
}
