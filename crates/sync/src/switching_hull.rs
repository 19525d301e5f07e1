//! The convex hull of cuckoo time translator, with its switch: a baseline.

use timeloom_time::{Duration, Steady, Time};

use crate::anchor::whole_nanos;
use crate::device_time::DeviceTime;
use crate::estimator::{Estimate, Estimator, Maturity, Outcome};
use crate::hull::{self, Point};
use crate::line::{Line, nanos_between, seconds_between};
use crate::sample::{ActiveSample, PassiveSample};

/// No hull has more points; the oldest go first.
const MOST_POINTS: usize = 4_096;

/// Two lower hulls of arrivals that take turns: one answers while the other fills.
///
/// Simple and good on a quiet path with a stable floor; it does not know path shifts, requests or bounds.
#[derive(Debug, Clone)]
pub struct SwitchingHull {
    period: Duration,
    /// The device time and offset that points are relative to.
    origin: Option<(i64, i64)>,
    answering: Vec<Point>,
    filling: Vec<Point>,
    switched: Time<Steady>,
    newest: f64,
    line: Option<Line>,
    spread: f64,
}

impl SwitchingHull {
    /// An estimator without samples, whose hulls change places every `period`.
    pub const fn new(period: Duration) -> Self {
        Self {
            period,
            origin: None,
            answering: Vec::new(),
            filling: Vec::new(),
            switched: Time::ZERO,
            newest: f64::NEG_INFINITY,
            line: None,
            spread: 0.0,
        }
    }

    fn switch_if_due(&mut self, host: Time<Steady>) {
        if host - self.switched >= self.period {
            std::mem::swap(&mut self.answering, &mut self.filling);
            self.filling.clear();
            self.switched = host;
        }
    }

    /// The edge of the hull over the middle of its time.
    fn fit(&mut self, at: i64, offset: i64) {
        let Some((origin_at, origin_offset)) = self.origin else {
            return;
        };
        let edge = match (self.answering.first(), self.answering.last()) {
            (Some(first), Some(last)) if self.answering.len() >= 3 => {
                let middle = f64::midpoint(first.0, last.0);
                hull::slope_at(&self.answering, middle)
            }
            _ => None,
        };
        self.line = Some(match edge {
            None => Line::flat(at, offset),
            Some(slope) => Line {
                at: origin_at,
                offset: origin_offset,
                residual: hull::support(&self.answering, slope).unwrap_or(0.0),
                slope,
            },
        });
    }
}

impl Estimator for SwitchingHull {
    fn name(&self) -> &'static str {
        "hull"
    }

    fn passive(&mut self, sample: &PassiveSample) -> Outcome {
        let at = sample.device_stamp().nanos();
        let offset = sample.host_rx.nanos() - at;
        let (origin_at, origin_offset) = *self.origin.get_or_insert((at, offset));
        let t = seconds_between(origin_at, at);
        if t <= self.newest {
            return Outcome::Ignored;
        }
        if self.newest == f64::NEG_INFINITY {
            self.switched = sample.host_rx;
        }
        self.newest = t;
        self.switch_if_due(sample.host_rx);
        let point = (t, nanos_between(origin_offset, offset));
        for points in [&mut self.answering, &mut self.filling] {
            hull::push(points, point);
            if points.len() > MOST_POINTS {
                points.remove(0);
            }
        }
        self.fit(at, offset);
        let above = self.line.map_or(0.0, |line| line.above(at, offset));
        self.spread += 0.01 * (above.min(4.0 * self.spread + 1e5) - self.spread);
        Outcome::Used
    }

    fn active(&mut self, _: &ActiveSample) -> Outcome {
        Outcome::Ignored
    }

    fn restart(&mut self) {
        *self = Self::new(self.period);
    }

    fn estimate(&self, device: DeviceTime) -> Option<Estimate> {
        Some(Estimate {
            host: Time::from_nanos(self.line?.host(device)),
            sigma: Duration::from_nanos(whole_nanos(self.spread / 10.0)),
        })
    }

    fn skew_ppm(&self) -> Option<f64> {
        Some(self.line?.slope * 1e-3)
    }

    fn maturity(&self) -> Maturity {
        match (self.line, self.answering.first()) {
            (None, _) => Maturity::Empty,
            (_, Some(first)) if self.newest - first.0 >= 5.0 => Maturity::Settled,
            _ => Maturity::Settling,
        }
    }

    fn memory(&self) -> usize {
        size_of::<Self>()
            + (self.answering.capacity() + self.filling.capacity()) * size_of::<Point>()
    }
}
