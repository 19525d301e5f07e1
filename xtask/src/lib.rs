//! Developer commands of this workspace: `cargo xtask audit`, `cargo xtask bench` and `cargo xtask tidy`.

pub mod audit;
pub mod bench;
pub mod tidy;
