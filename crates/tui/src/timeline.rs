use ratatui::text::{Line, Span};
use timeloom_time::{Ros, Time};

use crate::theme::Theme;

/// From the beginning of a bag to its end, with the playhead and the part that is repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeline {
    pub(crate) range: (Time<Ros>, Time<Ros>),
    pub(crate) now: Time<Ros>,
    pub(crate) repeated: Option<(Time<Ros>, Time<Ros>)>,
    pub(crate) mark_a: Option<Time<Ros>>,
}

impl Timeline {
    /// The column of a time.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the width, and clamped"
    )]
    fn column(&self, time: Time<Ros>, width: usize) -> usize {
        let (start, end) = self.range;
        let length = end.checked_since(start).unwrap_or_default().as_secs_f64();
        let passed = time.checked_since(start).unwrap_or_default().as_secs_f64();
        let last = width.saturating_sub(1);
        if length <= 0.0 {
            return 0;
        }
        ((passed / length * last as f64).round().max(0.0) as usize).min(last)
    }

    /// The line, so many columns wide.
    pub(crate) fn line(&self, width: usize, theme: Theme) -> Line<'static> {
        let head = self.column(self.now, width);
        let repeated = self
            .repeated
            .map(|(a, b)| (self.column(a, width), self.column(b, width)));
        let lone = self.mark_a.filter(|_| repeated.is_none());
        let lone = lone.map(|mark| self.column(mark, width));
        let spans = (0..width).map(|column| {
            if column == head {
                return Span::styled("●", theme.mark());
            }
            if lone == Some(column) || repeated.is_some_and(|(a, _)| a == column) {
                return Span::styled("A", theme.mark());
            }
            if repeated.is_some_and(|(_, b)| b == column) {
                return Span::styled("B", theme.mark());
            }
            let inside = repeated.is_none_or(|(a, b)| (a..=b).contains(&column));
            match (inside, column < head) {
                (true, true) => Span::styled("━", theme.good()),
                (true, false) => Span::raw("─"),
                (false, _) => Span::styled("·", theme.quiet()),
            }
        });
        spans.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(now: i64, repeated: Option<(i64, i64)>, width: usize) -> String {
        let at = Time::from_nanos;
        let timeline = Timeline {
            range: (at(0), at(100)),
            now: at(now),
            repeated: repeated.map(|(a, b)| (at(a), at(b))),
            mark_a: None,
        };
        timeline.line(width, Theme::new(false)).to_string()
    }

    #[test]
    fn the_playhead_spans_the_timeline() {
        assert_eq!(text(0, None, 11), "●──────────");
        assert_eq!(text(50, None, 11), "━━━━━●─────");
        assert_eq!(text(100, None, 11), "━━━━━━━━━━●");
        assert_eq!(text(-50, None, 11), "●──────────", "before the beginning");
        assert_eq!(text(900, None, 11), "━━━━━━━━━━●", "behind the end");
    }

    #[test]
    fn the_repeated_part_is_marked() {
        assert_eq!(text(50, Some((20, 80)), 11), "··A━━●──B··");
    }

    #[test]
    fn no_width_and_no_length_are_drawn() {
        assert_eq!(text(50, None, 0), "");
        assert_eq!(text(50, None, 1), "●");
    }
}
