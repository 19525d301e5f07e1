//! The library as C sees it.

mod declarations;
mod example;
mod header;
mod misuse;
