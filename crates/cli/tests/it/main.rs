//! The real binary, at the boundary of its process: exit code, stdout and stderr.
#![expect(
    clippy::unwrap_used,
    reason = "in helpers of tests too a failure is a failed test"
)]

#[cfg(feature = "query")]
mod align;
mod bad_input;
mod cat;
mod check;
mod check_live;
mod clock_live;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
mod cluster_failures;
#[cfg(feature = "cluster")]
mod cluster_world;
mod compatibility;
mod convert;
mod deploy;
mod diff;
mod distributions;
mod docs;
mod doctor;
mod export;
mod extras;
mod fleet_live;
mod foreign;
mod guest_live;
mod help;
#[cfg(feature = "query")]
mod index;
mod info;
mod list;
mod live;
mod live_bad_data;
mod live_docs;
mod live_flags;
mod live_loss;
mod live_networks;
mod live_node;
mod live_send;
mod live_types;
#[cfg(feature = "zenoh")]
mod live_zenoh;
mod logging;
mod merge;
mod options_file;
mod play_in_step_live;
mod play_listener;
mod play_live;
mod play_usage;
#[cfg(feature = "query")]
mod query;
mod record_docs_live;
mod record_hardship_live;
mod record_live;
mod record_options_live;
mod record_robot;
mod record_rules;
mod record_triggers_live;
mod record_types_live;
#[cfg(feature = "zenoh")]
mod record_zenoh;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "remote")]
mod remote_live;
#[cfg(feature = "remote")]
#[expect(dead_code, reason = "the tests of timeloom-remote also count bytes")]
#[path = "../../../remote/tests/it/server.rs"]
mod remote_server;
mod repair;
mod replay_live;
mod replay_plan;
mod robot;
mod robot_state_live;
mod ros_args;
mod ros_package;
#[cfg(feature = "remote")]
mod s3;
mod support;
mod sync;
mod sync_bags;
mod sync_honest;
mod sync_live;
mod sync_pf_live;
mod sync_tables;
#[cfg(feature = "query")]
mod tables;
mod trace;
mod trace_bag;
mod trace_live;
#[cfg(feature = "query")]
mod trace_one_truth;
mod trace_peer;
mod trace_plain;
mod trace_text;
mod tui;
#[cfg(feature = "remote")]
mod upload;
#[cfg(feature = "remote")]
mod upload_live;
#[cfg(feature = "remote")]
mod upload_proxy;
mod view;
mod view_live;
#[cfg(feature = "zenoh")]
mod zenoh_node;
#[cfg(feature = "zenoh")]
mod zenoh_robot;
