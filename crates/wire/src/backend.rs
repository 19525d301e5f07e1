//! What transports are built of, once for all of them.

mod notes;
mod observers;

pub use notes::{Note, NoteKind, Notes, Reporter};
pub use observers::Observers;
