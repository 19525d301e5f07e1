use std::collections::VecDeque;

use timeloom_bag::{TriggerFiring, TriggerWindow};

use super::triggers::Firing;

/// The windows of time around firings. Windows that overlap are one.
///
/// A message belongs to a window from its begin to its end, both included, by its log time. A window ends when its time
/// is over; it is final when no later firing can overlap it.
#[derive(Debug)]
pub struct Windows {
    longest_before_ns: i64,
    /// The most windows; 0 without limit.
    most: u32,
    opened: u32,
    current: Option<Current>,
    /// Windows up to this number are final.
    final_window: u32,
    records: VecDeque<TriggerWindow>,
    has_news: bool,
}

#[derive(Debug, Clone, Copy)]
struct Current {
    span: WindowSpan,
    is_over: bool,
}

/// The time of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSpan {
    /// Its number, from 1.
    pub number: u32,
    /// The log time of its begin.
    pub begin_ns: i64,
    /// The log time of its end.
    pub end_ns: i64,
}

impl WindowSpan {
    /// Whether a message of that time belongs to it.
    #[inline]
    pub fn contains(&self, time_ns: i64) -> bool {
        self.begin_ns <= time_ns && time_ns <= self.end_ns
    }
}

/// Why a window ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowEnd {
    /// Its time is over.
    Complete,
    /// The recording ended before.
    RecordingEnded,
    /// The clock jumped back.
    ClockJumpedBack,
}

/// Effect of a firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// A new window begins.
    New(WindowSpan),
    /// The current window gets longer, at its end or at its begin.
    Longer(WindowSpan),
    /// There are enough windows.
    Refused,
}

/// The most windows that are remembered.
const MOST_RECORDS: usize = 1000;
/// The most firings that are remembered of a window.
const MOST_FIRINGS: usize = 100;

impl WindowEnd {
    fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::RecordingEnded => "recording ended",
            Self::ClockJumpedBack => "clock jumped back",
        }
    }
}

impl Windows {
    /// At most `most` windows, 0 without limit, for triggers that want at most so much time before them.
    pub fn new(longest_before_ns: i64, most: u32) -> Self {
        Self {
            longest_before_ns,
            most,
            opened: 0,
            current: None,
            final_window: 0,
            records: VecDeque::new(),
            has_news: false,
        }
    }

    /// Opens a window for a firing, or makes the current one longer.
    pub fn fire(&mut self, firing: &Firing) -> Opening {
        let begin_ns = firing.time_ns.saturating_sub(firing.before_ns);
        let end_ns = firing.time_ns.saturating_add(firing.after_ns);
        if let Some(current) = &mut self.current
            && begin_ns <= current.span.end_ns
        {
            let span = &mut current.span;
            span.begin_ns = span.begin_ns.min(begin_ns);
            span.end_ns = span.end_ns.max(end_ns);
            current.is_over = false;
            let span = *span;
            self.note(firing);
            return Opening::Longer(span);
        }
        if self.most > 0 && self.opened >= self.most {
            return Opening::Refused;
        }
        self.end(WindowEnd::Complete);
        self.opened = self.opened.saturating_add(1);
        let span = WindowSpan {
            number: self.opened,
            begin_ns,
            end_ns,
        };
        self.current = Some(Current {
            span,
            is_over: false,
        });
        self.records.push_back(TriggerWindow {
            number: span.number,
            ..TriggerWindow::default()
        });
        if self.records.len() > MOST_RECORDS {
            self.records.pop_front();
        }
        self.note(firing);
        Opening::New(span)
    }

    fn note(&mut self, firing: &Firing) {
        self.has_news = true;
        let (Some(current), Some(record)) = (&self.current, self.records.back_mut()) else {
            return;
        };
        (record.begin_ns, record.end_ns) = (current.span.begin_ns, current.span.end_ns);
        record.end.clear();
        if record.firings.len() >= MOST_FIRINGS {
            record.more_firings += 1;
            return;
        }
        record.firings.push(TriggerFiring {
            trigger: firing.name.clone(),
            time_ns: firing.time_ns,
            condition: firing.condition.clone(),
            reason: firing.reason.clone(),
        });
    }

    /// The window that a message of that time belongs to.
    #[inline]
    pub fn of(&self, time_ns: i64) -> Option<u32> {
        let span = &self.current.as_ref()?.span;
        span.contains(time_ns).then_some(span.number)
    }

    /// Lets time pass.
    #[inline]
    pub fn advance(&mut self, now_ns: i64) {
        let Some(current) = &mut self.current else {
            return;
        };
        if now_ns <= current.span.end_ns {
            return;
        }
        if !current.is_over {
            current.is_over = true;
            self.close_record(WindowEnd::Complete);
        }
        let last = self.most > 0 && self.opened >= self.most;
        if let Some(current) = &self.current
            && (last || now_ns.saturating_sub(current.span.end_ns) > self.longest_before_ns)
        {
            self.final_window = current.span.number;
            self.current = None;
        }
    }

    /// Ends the current window.
    pub fn end(&mut self, reason: WindowEnd) {
        if let Some(current) = self.current.take() {
            self.final_window = current.span.number;
            if !current.is_over {
                self.close_record(reason);
            }
        }
    }

    fn close_record(&mut self, reason: WindowEnd) {
        self.has_news = true;
        if let Some(record) = self.records.back_mut() {
            reason.name().clone_into(&mut record.end);
        }
    }

    /// Whether a trigger has fired in the current window.
    pub fn has_fired(&self, trigger: &str) -> bool {
        let record = self.records.back().filter(|_| self.current.is_some());
        let mut firings = record.into_iter().flat_map(|record| &record.firings);
        firings.any(|firing| firing.trigger == trigger)
    }

    /// Counts messages of the current window that were lost.
    pub fn lose(&mut self, messages: u64) {
        if let Some(record) = self.records.back_mut() {
            record.lost += messages;
        }
    }

    /// Windows up to this number are final.
    pub fn final_window(&self) -> u32 {
        self.final_window
    }

    /// Whether the last window that is allowed is final.
    pub fn are_all_done(&self) -> bool {
        self.most > 0 && self.opened >= self.most && self.current.is_none()
    }

    /// Number of opened windows, and whether the last one is still open.
    pub fn count(&self) -> (u32, bool) {
        let open = self
            .current
            .as_ref()
            .is_some_and(|current| !current.is_over);
        (self.opened, open)
    }

    /// The windows so far, if one was opened, made longer or ended since the last call.
    pub fn take_news(&mut self) -> Option<Vec<TriggerWindow>> {
        std::mem::take(&mut self.has_news).then(|| self.records())
    }

    /// The windows so far, oldest first.
    pub fn records(&self) -> Vec<TriggerWindow> {
        self.records.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firing(time_ns: i64) -> Firing {
        Firing {
            name: "x".into(),
            condition: "received(/x)".into(),
            time_ns,
            reason: String::new(),
            before_ns: 30,
            after_ns: 10,
        }
    }

    fn span(number: u32, begin_ns: i64, end_ns: i64) -> WindowSpan {
        WindowSpan {
            number,
            begin_ns,
            end_ns,
        }
    }

    #[test]
    fn windows_that_overlap_are_one() {
        let mut windows = Windows::new(30, 0);
        let first = windows.fire(&firing(100));
        assert_eq!(first, Opening::New(span(1, 70, 110)));
        assert_eq!((windows.of(69), windows.of(70)), (None, Some(1)));
        assert_eq!((windows.of(110), windows.of(111)), (Some(1), None));
        windows.advance(130);
        assert_eq!(windows.count(), (1, false));
        let longer = windows.fire(&firing(140));
        assert_eq!(longer, Opening::Longer(span(1, 70, 150)));
        assert_eq!(windows.count(), (1, true));
        assert_eq!(windows.of(150), Some(1));
        windows.advance(180);
        assert_eq!(windows.final_window(), 0, "a firing at 180 would overlap");
        windows.advance(181);
        assert_eq!(windows.final_window(), 1);
        let second = windows.fire(&firing(181));
        assert_eq!(second, Opening::New(span(2, 151, 191)));
        let records = windows.take_news().unwrap();
        assert_eq!(records.len(), 2);
        assert_eq!((records[0].begin_ns, records[0].end_ns), (70, 150));
        assert_eq!(records[0].firings.len(), 2);
        assert_eq!(records[0].end, "complete");
        assert_eq!(records[1].end, "");
        assert_eq!(windows.take_news(), None);
        windows.end(WindowEnd::RecordingEnded);
        assert_eq!(windows.records()[1].end, "recording ended");
    }

    #[test]
    fn no_window_beyond_the_limit() {
        let mut windows = Windows::new(30, 1);
        windows.fire(&firing(100));
        let longer = windows.fire(&firing(105));
        assert_eq!(longer, Opening::Longer(span(1, 70, 115)));
        assert!(!windows.are_all_done());
        windows.advance(116);
        assert!(windows.are_all_done());
        assert_eq!(windows.fire(&firing(200)), Opening::Refused);
    }

    #[test]
    fn memory_is_bounded() {
        let mut windows = Windows::new(30, 0);
        for time in 0..3_000 {
            windows.fire(&firing(time * 100));
        }
        for _ in 0..300 {
            windows.fire(&firing(300_000));
        }
        let records = windows.records();
        assert_eq!(records.len(), MOST_RECORDS);
        let last = records.last().unwrap();
        assert_eq!((last.firings.len(), last.more_firings), (MOST_FIRINGS, 200));
    }
}
