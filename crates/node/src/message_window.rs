use std::collections::VecDeque;

/// Arrival times and sizes of the newest messages of a topic.
#[derive(Debug, Clone)]
pub struct MessageWindow {
    size: usize,
    samples: VecDeque<(i64, usize)>,
}

/// The times between messages, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MessageGaps {
    /// The average.
    pub mean: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
    /// The standard deviation.
    pub deviation: f64,
}

impl MessageWindow {
    /// A window of this many messages.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            samples: VecDeque::new(),
        }
    }

    /// Adds a message; the oldest one leaves a full window.
    pub fn add(&mut self, time_ns: i64, bytes: usize) {
        if self.samples.len() >= self.size {
            self.samples.pop_front();
        }
        self.samples.push_back((time_ns, bytes));
    }

    /// Number of messages in the window.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Whether the window has no messages.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// The gaps in the window; `None` for fewer than two messages.
    pub fn gaps(&self) -> Option<MessageGaps> {
        let pairs = self.samples.iter().zip(self.samples.iter().skip(1));
        let gaps: Vec<f64> = pairs
            .map(|((earlier, _), (later, _))| later.saturating_sub(*earlier) as f64 / 1e9)
            .collect();
        if gaps.is_empty() {
            return None;
        }
        let count = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / count;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
        Some(MessageGaps {
            mean,
            min: gaps.iter().copied().fold(f64::INFINITY, f64::min),
            max: gaps.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            deviation: variance.sqrt(),
        })
    }

    /// The sizes: sum, smallest, largest.
    pub fn bytes(&self) -> (usize, usize, usize) {
        let sizes = self.samples.iter().map(|(_, bytes)| *bytes);
        (
            sizes.clone().sum(),
            sizes.clone().min().unwrap_or(0),
            sizes.max().unwrap_or(0),
        )
    }

    /// Time from the oldest message to `now_ns`, in seconds.
    pub fn seconds_until(&self, now_ns: i64) -> f64 {
        let oldest = self.samples.front().map_or(now_ns, |(time, _)| *time);
        now_ns.saturating_sub(oldest) as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_count() {
        let mut window = MessageWindow::new(3);
        assert_eq!(window.gaps(), None);
        for (second, bytes) in [(0, 100), (1, 10), (2, 20), (4, 30)] {
            window.add(second * 1_000_000_000, bytes);
        }
        assert_eq!((window.len(), window.bytes()), (3, (60, 10, 30)));
        let gaps = window.gaps().unwrap();
        assert_eq!(
            (gaps.mean, gaps.min, gaps.max, gaps.deviation),
            (1.5, 1.0, 2.0, 0.5)
        );
        assert_eq!(
            format!("{:.3}", window.seconds_until(5_000_000_000)),
            "4.000"
        );
    }
}
