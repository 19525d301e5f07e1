use crate::analysis::Engine;

/// An engine that is fed, with a callback after each publication.
pub trait Sink {
    /// The engine.
    fn engine(&mut self) -> &mut Engine;

    /// Called after each publication.
    fn taken(&mut self) {}

    /// Whether reading can stop.
    fn is_done(&self) -> bool {
        false
    }
}

impl Sink for Engine {
    fn engine(&mut self) -> &mut Engine {
        self
    }
}
