//! The thin layer over Cyclone DDS: the only `unsafe` code of the crate.
//!
//! `ffi` declares the C names; each other module wraps one concept so that the rest of the crate is safe code.

mod builtin;
mod entity;
mod ffi;
mod hooks;
mod inline_qos;
mod last_numbers;
mod layout;
mod listener;
mod log;
mod matched;
mod qos;
mod reader;
mod receive_buffers;
mod serdata;
mod sertype;
mod writer;

pub(crate) use builtin::{BuiltinReader, Discovered, Presence};
pub(crate) use entity::{DdsResult, Domain, ReturnCode, after_call, inside_call, inside_callback};
pub(crate) use inline_qos::SampleIdentity;
pub(crate) use last_numbers::{has_announced_since, is_lease_expired, last_number, new_question};
pub(crate) use listener::EndpointListener;
pub(crate) use log::{LogLine, watch_log};
pub(crate) use matched::MatchedEndpoint;
pub(crate) use qos::Qos;
pub(crate) use reader::{RawReader, ReaderHandle, TakenSample};
pub(crate) use receive_buffers::ReceiveBuffers;
pub(crate) use writer::{RawWriter, Written};
