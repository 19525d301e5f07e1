//! Developer commands of this workspace: `cargo xtask bench` and `cargo xtask tidy`.

pub mod bench;
pub mod tidy;
