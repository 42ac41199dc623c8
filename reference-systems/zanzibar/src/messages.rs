//! The messages of the service, generated from `proto/zanzigo/v1/zanzigo.proto`.

#![allow(clippy::all)]

tonic::include_proto!("zanzigo.v1");
