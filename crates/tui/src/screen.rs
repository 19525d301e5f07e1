use ratatui::Frame;
use ratatui::crossterm::event::KeyEvent;

/// The effect of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow<C> {
    /// Only redraw.
    Stay,
    /// Send a control.
    Ask(C),
    /// Close the view.
    Leave,
}

/// A view: it draws itself, and keys become controls.
pub trait Screen {
    /// The controls that its keys send.
    type Control;

    /// Draws the whole view.
    fn draw(&self, frame: &mut Frame<'_>);

    /// Handles a key.
    fn key(&mut self, key: KeyEvent) -> Flow<Self::Control>;

    /// Shows the result of the last control; empty clears it.
    fn show_message(&mut self, message: String);
}
