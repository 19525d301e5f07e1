use ratatui::Frame;
use ratatui::crossterm::event::KeyEvent;

/// What comes after a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow<C> {
    /// Nothing but another look.
    Stay,
    /// This is asked of the machine.
    Ask(C),
    /// The view is closed.
    Leave,
}

/// A view: it draws itself, and keys become controls.
pub trait Screen {
    /// What it can ask for.
    type Control;

    /// Draws the whole view.
    fn draw(&self, frame: &mut Frame<'_>);

    /// A key was pressed.
    fn key(&mut self, key: KeyEvent) -> Flow<Self::Control>;

    /// What came of the last control, in a few words; empty if there is nothing to say.
    fn tell(&mut self, words: String);
}
