//! Behaviour of the room `trace` through its public API.

mod capture;
mod synchronizer;
mod wire;
