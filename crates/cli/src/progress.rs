//! A progress line on a terminal.

use std::io::{self, Write as _};

use timeloom_text::grouped;
use timeloom_time::{Clock, Duration, Steady, Time};

const INTERVAL: Duration = Duration::from_millis(100);
const BAR: usize = 24;

/// The progress line; it vanishes when dropped.
pub(crate) struct Progress {
    label: &'static str,
    visible: bool,
    clock: Clock<Steady>,
    last: Option<Time<Steady>>,
    drawn: bool,
}

impl Progress {
    pub(crate) fn new(label: &'static str, visible: bool, clock: Clock<Steady>) -> Self {
        Self {
            label,
            visible,
            clock,
            last: None,
            drawn: false,
        }
    }

    /// Draws the line if the last drawing is long enough ago. `fraction` is from 0 to 1.
    pub(crate) fn update(&mut self, fraction: f64, messages: u64) {
        if !self.visible || !self.is_due() {
            return;
        }
        self.drawn = true;
        self.write(&format!("\r\x1b[K{}", line(self.label, fraction, messages)));
    }

    /// The same for bytes.
    #[cfg(feature = "remote")]
    pub(crate) fn update_bytes(&mut self, done: u64, all: u64) {
        if !self.visible || !self.is_due() {
            return;
        }
        self.drawn = true;
        let bar = bar(self.label, done as f64 / all.max(1) as f64);
        self.write(&format!("\r\x1b[K{bar}  {}", timeloom_text::size(done)));
    }

    /// The same for things that are counted.
    #[cfg(feature = "query")]
    pub(crate) fn update_count(&mut self, done: u64, all: u64, noun: &str) {
        if !self.visible || !self.is_due() {
            return;
        }
        self.drawn = true;
        let bar = bar(self.label, done as f64 / all.max(1) as f64);
        let count = timeloom_text::counted(done, noun);
        self.write(&format!("\r\x1b[K{bar}  {count}"));
    }

    /// Whether to redraw the line now; short work shows none.
    fn is_due(&mut self) -> bool {
        let now = self.clock.now();
        let last = *self.last.get_or_insert(now);
        let due = now
            .checked_since(last)
            .is_some_and(|passed| passed >= INTERVAL);
        if due {
            self.last = Some(now);
        }
        due
    }

    fn write(&mut self, text: &str) {
        // The work continues without a terminal.
        self.visible = io::stderr().write_all(text.as_bytes()).is_ok();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn {
            self.write("\r\x1b[K");
        }
    }
}

fn line(label: &str, fraction: f64, messages: u64) -> String {
    format!("{}  {} messages", bar(label, fraction), grouped(messages))
}

fn bar(label: &str, fraction: f64) -> String {
    let fraction = if fraction.is_finite() {
        fraction.clamp(0.0, 1.0)
    } else {
        0.0
    };
    // 0 to 100 by the clamp above.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is between 0 and 100"
    )]
    let percent = (fraction * 100.0) as usize;
    let filled = percent * BAR / 100;
    let (done, open) = ("█".repeat(filled), "░".repeat(BAR - filled));
    format!("{label} {done}{open} {percent:3} %")
}

#[cfg(test)]
mod tests {
    use timeloom_time::VirtualTime;

    use super::*;

    #[test]
    fn the_line_is_drawn_ten_times_a_second() {
        let world = VirtualTime::manual();
        let mut progress = Progress::new("x", true, Clock::on(&world.base()));
        let mut drawn = 0;
        for _ in 0..1000 {
            drawn += u32::from(progress.is_due());
            world.advance(Duration::from_millis(1));
        }
        assert_eq!(drawn, 9);
    }

    #[test]
    fn the_line_stays_within_its_bounds() {
        assert_eq!(
            line("converting", 0.5, 1_234_567),
            "converting ████████████░░░░░░░░░░░░  50 %  1,234,567 messages"
        );
        assert!(line("x", 7.0, 0).contains("100 %"));
        assert!(line("x", f64::NAN, 0).contains("  0 %"));
    }
}
