//! All curves of one bend.

use super::group::{Floor, Group, Level};
use super::likely_delay::likely_delay;
use super::{LeastDelay, Prior, Sums, UNLIKELY, peak};

/// Slopes that are integrated over.
const SLOPES: usize = 16;
/// Slopes are searched this many deviations around zero.
const WIDEST: f64 = 60.0;
/// All curves of one bend, by their slope relative to the reference line.
#[derive(Debug)]
pub(super) struct Slice<'a> {
    groups: &'a [Group; 3],
    prior: &'a Prior,
    delay: f64,
    reference: f64,
    /// The prior's penalty of the bend.
    bent: f64,
    /// The effective number of minima of each group.
    voices: [f64; 3],
    /// The approximate deviation of likely slopes.
    width: f64,
    /// The best slope, and its likelihood.
    best: (f64, f64),
}

impl<'a> Slice<'a> {
    pub(super) fn new(
        groups: &'a mut [Group; 3],
        bend: f64,
        width: f64,
        prior: &'a Prior,
        delay: f64,
        reference: f64,
    ) -> Self {
        for group in groups.iter_mut() {
            group.straighten(bend);
        }
        let all = groups.iter().map(Group::count).sum();
        let bent = bend / prior.bend;
        let mut slice = Self {
            groups,
            prior,
            delay,
            reference,
            // Most clocks hardly bend, some do much; the same holds for slopes.
            bent: (bent * bent).ln_1p(),
            voices: [0, 1, 2].map(|group| groups[group].voices(all)),
            width,
            best: (0.0, 0.0),
        };
        let limits = slice.limits();
        slice.best = peak::highest(0.0, width, limits, |slope| slice.at(slope));
        slice
    }

    /// The slopes that are searched, relative to the reference.
    fn limits(&self) -> (f64, f64) {
        let widest = WIDEST * self.prior.slope;
        (-widest - self.reference, widest - self.reference)
    }

    /// The likelihood of the best curve.
    pub(super) const fn best(&self) -> f64 {
        self.best.1
    }

    pub(super) const fn best_slope(&self) -> f64 {
        self.best.0
    }

    /// Adds all likely curves; `best` is the likelihood of the best one of all bends.
    pub(super) fn integrate(&self, best: f64, sums: &mut Sums) {
        let (top, most) = self.best;
        let limits = self.limits();
        let end = |limit: f64| {
            peak::end(top, self.width, limit, most - UNLIKELY, |slope| {
                self.at(slope)
            })
        };
        let (from, until) = (end(limits.0), end(limits.1));
        let step = (until - from) / SLOPES as f64;
        for place in 0..SLOPES {
            let slope = from + step * (place as f64 + 0.5);
            let floors = self.floors(slope);
            let weight = step * (self.likelihood(slope, &floors) - best).exp();
            let levels = self.levels(&floors);
            if let Some(height) = height(&levels, self.prior.least_delay, self.delay) {
                sums.add(weight, slope, height);
            }
        }
    }

    #[inline]
    fn floors(&self, slope: f64) -> [Option<Floor>; 3] {
        let [packets, answers, requests] = self.groups;
        [
            packets.floor(slope),
            answers.floor(slope),
            requests.floor(slope),
        ]
    }

    fn levels(&self, floors: &[Option<Floor>; 3]) -> [Option<Level>; 3] {
        [0, 1, 2].map(|group| floors[group].map(|floor| self.groups[group].level_of(&floor)))
    }

    #[inline]
    fn likelihood(&self, slope: f64, floors: &[Option<Floor>; 3]) -> f64 {
        let off = (self.reference + slope) / self.prior.slope;
        let mut likelihood = -(off * off).ln_1p() - self.bent;
        for (floor, voices) in floors.iter().zip(self.voices) {
            likelihood += floor.map_or(0.0, |floor| Group::likelihood(&floor, voices));
        }
        let [packets, answers, requests] = floors.map(|floor| floor.map(|floor| floor.least));
        if let Some(below) = requests {
            // A request cannot bound the clock above a later arrival.
            let above = packets
                .unwrap_or(f64::INFINITY)
                .min(answers.unwrap_or(f64::INFINITY));
            likelihood -= ((-below - above) / self.prior.grain).max(0.0);
        }
        likelihood
    }

    fn at(&self, slope: f64) -> f64 {
        self.likelihood(slope, &self.floors(slope))
    }
}

/// The estimated height and its variance.
///
/// `usual` is the usual size of the smallest delay of packets.
fn height(levels: &[Option<Level>; 3], least_delay: LeastDelay, usual: f64) -> Option<(f64, f64)> {
    let [packets, answers, requests] = levels;
    let floor = |level: &Level| level.least - level.gap;
    let Some(packets) = packets else {
        let (above, below) = (answers.as_ref()?, requests.as_ref()?);
        let height = f64::midpoint(floor(above), -floor(below));
        return Some((height, (above.sigma.powi(2) + below.sigma.powi(2)) / 4.0));
    };
    let Some(requests) = requests else {
        return Some((floor(packets), packets.sigma.powi(2)));
    };
    let arrived = answers.as_ref().map_or(f64::INFINITY, |level| level.least);
    let above = floor(packets).min(arrived);
    let below = (-requests.least).min(above);
    if least_delay == LeastDelay::Given {
        return Some((above.max(below), packets.sigma.powi(2)));
    }
    let corridor = (above + floor(requests)).max(0.0);
    let (delay, share) = likely_delay(corridor, usual);
    let kept = 1.0 - share;
    let variance = (kept * packets.sigma).powi(2) + (share * requests.sigma).powi(2);
    Some(((above - delay).max(below), variance))
}
