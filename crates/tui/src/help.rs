use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

use crate::theme::Theme;

/// Draws the keys over the middle of the view.
pub(crate) fn draw_help(frame: &mut Frame<'_>, title: &str, keys: &[(&str, &str)], theme: Theme) {
    let whole = frame.area();
    let lines: Vec<Line<'_>> = keys
        .iter()
        .map(|(key, words)| Line::from(format!(" {key:<13} {words}")))
        .collect();
    let widest = lines.iter().map(Line::width).max().unwrap_or(0);
    let width = size(widest + 4).min(whole.width);
    let height = size(lines.len() + 2).min(whole.height);
    let area = Rect {
        x: whole.x + (whole.width - width) / 2,
        y: whole.y + (whole.height - height) / 2,
        width,
        height,
    };
    let frame_of_it = Block::bordered()
        .title(format!(" {title} "))
        .title_style(theme.strong());
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).block(frame_of_it), area);
}

fn size(cells: usize) -> u16 {
    u16::try_from(cells).unwrap_or(u16::MAX)
}
