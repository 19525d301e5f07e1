//! A real server on 127.0.0.1 and real clients: our own, Python's `websockets`, and Chromium.
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests say and fail as tests do"
)]

mod bag_show;
mod browser;
mod client;
mod fuzz;
mod graph_view;
mod limits;
mod playback;
mod player_view;
mod protocol;
mod python;
mod slow_clients;
mod toy;
