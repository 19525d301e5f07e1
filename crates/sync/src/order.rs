//! Host times that never go back.

use timeloom_time::{Steady, Time};

use crate::device_time::DeviceTime;

/// The conversions of an epoch that later ones must not contradict.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Order {
    /// The largest device time that was converted.
    furthest: Option<(DeviceTime, Time<Steady>)>,
    /// The last one.
    last: Option<(DeviceTime, Time<Steady>)>,
}

impl Order {
    /// The host time nearest to `host` that contradicts neither the furthest nor the last conversion.
    pub(crate) fn keep(&mut self, device: DeviceTime, mut host: Time<Steady>) -> Time<Steady> {
        for (other, at) in [self.last, self.furthest].into_iter().flatten() {
            host = if device >= other {
                host.max(at)
            } else {
                host.min(at)
            };
        }
        self.last = Some((device, host));
        if self.furthest.is_none_or(|(furthest, _)| device >= furthest) {
            self.furthest = self.last;
        }
        host
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_over_an_older_time_does_not_let_later_times_go_back() {
        let mut order = Order::default();
        let mut keep = |device: i64, host: i64| {
            let host = order.keep(DeviceTime::from_nanos(device), Time::from_nanos(host));
            host.nanos()
        };
        assert_eq!(keep(10, 100), 100);
        assert_eq!(keep(5, 94), 94);
        assert_eq!(keep(11, 99), 100, "the estimate went down meanwhile");
        assert_eq!(keep(6, 120), 100);
        assert_eq!(keep(12, 101), 101);
    }
}
