//! The fuzz targets, one file each. An input that once broke a target is in its `seeds` or in
//! `fuzz/corpora/<target>.txt`.

mod address_rules;
mod archive;
mod attack_results;
mod base64;
mod call_data;
mod certificate;
mod csv_file;
mod digest_challenge;
mod dns_message;
mod duration;
mod environment;
mod event_stream;
mod flag_value;
mod fleet_frame;
mod grpc_messages;
mod grpc_schema;
mod grpc_trailers;
mod hosts_file;
mod html;
mod http2_frames;
mod http3_control;
mod http3_stream;
mod http_response;
mod import;
mod json_selector;
mod lab_file;
mod lab_result;
mod mqtt;
mod mysql;
mod options;
mod proxy;
mod record;
mod report;
mod script;
mod script_calls;
mod set_cookie;
mod target_list;
mod text_decoding;
mod threshold;
mod throughput;
mod trace;
mod typescript;
mod url;
mod websocket;
mod websocket_handshake;

use crate::target::{Target, halves, text};

pub const TARGETS: &[&Target] = &[
    &address_rules::TARGET,
    &archive::TARGET,
    &attack_results::TARGET,
    &base64::TARGET,
    &call_data::TARGET,
    &certificate::TARGET,
    &csv_file::TARGET,
    &digest_challenge::TARGET,
    &dns_message::TARGET,
    &duration::TARGET,
    &environment::TARGET,
    &event_stream::TARGET,
    &flag_value::TARGET,
    &fleet_frame::TARGET,
    &grpc_messages::TARGET,
    &grpc_schema::TARGET,
    &grpc_trailers::TARGET,
    &hosts_file::TARGET,
    &html::TARGET,
    &http2_frames::TARGET,
    &http3_control::TARGET,
    &http3_stream::TARGET,
    &http_response::TARGET,
    &import::CURL,
    &import::HAR,
    &import::JMX,
    &import::OPENAPI,
    &import::POSTMAN,
    &json_selector::TARGET,
    &lab_file::TARGET,
    &lab_result::TARGET,
    &mqtt::TARGET,
    &mysql::TARGET,
    &options::TARGET,
    &proxy::TARGET,
    &record::TARGET,
    &report::TARGET,
    &script::TARGET,
    &script_calls::TARGET,
    &set_cookie::TARGET,
    &target_list::TARGET,
    &text_decoding::TARGET,
    &threshold::TARGET,
    &throughput::TARGET,
    &trace::TARGET,
    &typescript::TARGET,
    &url::TARGET,
    &websocket::TARGET,
    &websocket_handshake::TARGET,
];
