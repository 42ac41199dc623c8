//! The fuzz targets, one file each.

mod gateway_config;
mod gateway_request;
mod zanzibar_model;
mod zanzibar_request;

use crate::target::{Target, text};

pub const TARGETS: &[&Target] = &[
    &gateway_config::TARGET,
    &gateway_request::TARGET,
    &zanzibar_model::TARGET,
    &zanzibar_request::TARGET,
];
