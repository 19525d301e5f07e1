//! The library as C sees it.

mod example;
mod header;
mod misuse;
