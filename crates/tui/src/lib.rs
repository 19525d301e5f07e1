#![doc = include_str!("../README.md")]

mod goto;
mod help;
mod meter;
mod player_screen;
mod rate_ladder;
mod recorder_screen;
mod screen;
mod terminal;
mod theme;
mod timeline;

pub use meter::{Meter, Reading};
pub use player_screen::PlayerScreen;
pub use recorder_screen::RecorderScreen;
pub use screen::{Flow, Screen};
pub use terminal::{Ended, show};
pub use theme::Theme;
