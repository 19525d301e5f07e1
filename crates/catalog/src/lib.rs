#![doc = include_str!("../README.md")]

mod bag_folder;
mod catalog;
mod discover;
mod entry;
mod error;
mod hex;
mod index;
mod save;
mod store;
mod table;
mod topic_sets;

pub use bag_folder::BagFolder;
pub use catalog::{CATALOG_FILE, Catalog};
pub use discover::{FoundBag, discover};
pub use entry::{Content, Entry};
pub use error::{Error, Result};
pub use index::{IndexReport, Indexer, Scope};
pub use store::{CatalogStore, LocalStore, Saved, StoredCatalog};
