#![doc = include_str!("../README.md")]

mod goto;
mod help;
mod key;
mod keyboard;
mod meter;
mod player_screen;
mod rate_ladder;
mod recorder_screen;
mod screen;
mod terminal;
mod text_screen;
mod theme;
mod timeline;

#[doc(hidden)]
pub use key::KeyParser;
pub use keyboard::{Keyboard, has_keyboard};
pub use player_screen::PlayerScreen;
pub use ratatui::crossterm::event::KeyCode;
pub use recorder_screen::RecorderScreen;
pub use screen::{Flow, Screen};
pub use terminal::{Ended, show};
pub use text_screen::TextScreen;
pub use theme::Theme;
