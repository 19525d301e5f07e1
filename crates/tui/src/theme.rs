use ratatui::style::{Color, Modifier, Style};

/// Styles of the views; without colour they differ by weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    color: bool,
}

impl Theme {
    /// With colours, or without (`NO_COLOR`).
    pub fn new(color: bool) -> Self {
        Self { color }
    }

    fn with(self, color: Color, modifier: Modifier) -> Style {
        let style = Style::new().add_modifier(modifier);
        if self.color { style.fg(color) } else { style }
    }

    /// Titles and what is in the foreground.
    pub(crate) fn strong(self) -> Style {
        self.with(Color::Reset, Modifier::BOLD)
    }

    /// Explanations.
    pub(crate) fn quiet(self) -> Style {
        self.with(Color::Reset, Modifier::DIM)
    }

    /// All is well and moving.
    pub(crate) fn good(self) -> Style {
        self.with(Color::Green, Modifier::BOLD)
    }

    /// It stands, or waits.
    pub(crate) fn waiting(self) -> Style {
        self.with(Color::Yellow, Modifier::BOLD)
    }

    /// Something is lost.
    pub(crate) fn bad(self) -> Style {
        self.with(Color::Red, Modifier::BOLD | Modifier::REVERSED)
    }

    /// Marks and the playhead.
    pub(crate) fn mark(self) -> Style {
        self.with(Color::Cyan, Modifier::BOLD)
    }
}
