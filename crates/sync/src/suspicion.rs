//! Telling jumps of a clock from late packets and from single bad stamps.

use crate::event::Reason;
use crate::line::{nanos_between, seconds_between};
use crate::sensor_clock::Doubt;

/// The relation of a sample to the earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// As expected.
    Usual,
    /// Much later than expected, by so many nanoseconds: a stall, or a clock that jumped.
    Late(i64),
    /// Impossible, unless a clock jumped: far too early, or against a bound.
    Impossible,
    /// The device's clock went back.
    Backwards,
}

/// The origin of a sample: fitting packets do not clear requests that do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// An unsolicited packet.
    Packet,
    /// An answer to a request.
    Request,
}

/// The decision on a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Use it. So many samples before it were wrong.
    Use { outliers: u32 },
    /// Do not use it yet.
    Withhold,
    /// A clock has jumped: restart with this sample.
    Jumped(Reason),
}

/// Impossible samples in a row that agree with each other, before a clock counts as jumped.
const CONFIRM: u32 = 3;
/// Seconds of host time that each of the pieces of a late run lasts, and how many are compared.
const PIECE: f64 = 0.5;
const PIECES: usize = 4;
/// Late samples whose least delays differ by less than this are a clock that jumped, in nanoseconds.
const RIGID: f64 = 5e6;
/// And by less than this share of what they are late by: queues waver more.
const RIGID_SHARE: f64 = 0.05;
/// Seconds of nothing but late samples after which a clock counts as jumped in any case.
const PATIENCE: f64 = 60.0;
/// Unless they are late by less than this, in nanoseconds: that may be a queue.
const QUEUE: i64 = 100_000_000;

/// Seconds of host time after which misfits are forgotten if no sample of their kind followed.
const FORGOTTEN: f64 = 30.0;

/// Samples that do not fit, until it is clear what they are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Suspicion {
    impossible: Option<Impossible>,
    late: Option<Late>,
    /// Whether the newest sample is withheld.
    withholds: bool,
}

#[derive(Debug, Clone)]
struct Impossible {
    count: u32,
    device: i64,
    offset: i64,
    reason: Reason,
    origin: Origin,
    all: u32,
}

#[derive(Debug, Clone)]
struct Late {
    from: i64,
    piece_from: i64,
    piece_least: i64,
    least: [i64; PIECES],
    pieces: usize,
}

impl Suspicion {
    /// Whether samples are being withheld, or have been late for a while.
    pub(crate) const fn is_open(&self) -> bool {
        self.impossible.is_some() || self.late.is_some()
    }

    /// The assessment of the newest sample.
    pub(crate) const fn doubt(&self) -> Doubt {
        if self.withholds {
            Doubt::Withheld
        } else if self.late.is_some() {
            Doubt::Late
        } else {
            Doubt::None
        }
    }

    /// The device and host stamp of the newest sample, if it is withheld.
    pub(crate) fn withheld(&self) -> Option<(i64, i64)> {
        let run = self.impossible.as_ref().filter(|_| self.withholds)?;
        Some((run.device, run.device.saturating_add(run.offset)))
    }

    /// Judges a sample by its look; `agreement` is how far offsets of one clock may differ.
    pub(crate) fn judge(
        &mut self,
        look: Look,
        origin: Origin,
        (device, host): (i64, i64),
        agreement: f64,
    ) -> Judgement {
        let impossible = |suspicion: &mut Self, reason| {
            suspicion.impossible(device, host, agreement, (reason, origin))
        };
        let judgement = match look {
            Look::Usual => self.usual(origin, host),
            Look::Late(by) => self.late(device, host, by),
            Look::Impossible => impossible(self, Reason::ClockStep),
            Look::Backwards => impossible(self, Reason::DeviceReset),
        };
        self.withholds = judgement == Judgement::Withhold;
        match judgement {
            Judgement::Jumped(_) => self.close(judgement),
            other => other,
        }
    }

    fn usual(&mut self, origin: Origin, host: i64) -> Judgement {
        let open = self.impossible.as_ref();
        let stays = open.is_some_and(|run| {
            let arrival = run.device.saturating_add(run.offset);
            run.origin != origin && seconds_between(arrival, host) < FORGOTTEN
        });
        if stays {
            self.late = None;
            return Judgement::Use { outliers: 0 };
        }
        let outliers = open.map_or(0, |run| run.all);
        self.close(Judgement::Use { outliers })
    }

    fn close(&mut self, judgement: Judgement) -> Judgement {
        *self = Self::default();
        judgement
    }

    fn impossible(
        &mut self,
        device: i64,
        host: i64,
        agreement: f64,
        (reason, origin): (Reason, Origin),
    ) -> Judgement {
        let offset = host - device;
        let before = self.impossible.take();
        let agrees = before.as_ref().is_some_and(|run| {
            device >= run.device && nanos_between(run.offset, offset).abs() <= agreement
        });
        let (count, reason) = match &before {
            Some(run) if agrees => (run.count + 1, run.reason),
            _ => (1, reason),
        };
        let all = before.map_or(0, |run| run.all).saturating_add(1);
        if count >= CONFIRM {
            return Judgement::Jumped(reason);
        }
        self.impossible = Some(Impossible {
            count,
            device,
            offset,
            reason,
            origin,
            all,
        });
        Judgement::Withhold
    }

    fn late(&mut self, device: i64, host: i64, by: i64) -> Judgement {
        let offset = host - device;
        let late = self.late.get_or_insert(Late {
            from: host,
            piece_from: host,
            piece_least: offset,
            least: [0; PIECES],
            pieces: 0,
        });
        late.piece_least = late.piece_least.min(offset);
        if seconds_between(late.piece_from, host) >= PIECE {
            late.least.rotate_left(1);
            late.least[PIECES - 1] = late.piece_least;
            late.pieces += 1;
            late.piece_from = host;
            late.piece_least = i64::MAX;
        }
        let (least, most) = late
            .least
            .iter()
            .fold((i64::MAX, i64::MIN), |(least, most), piece| {
                (least.min(*piece), most.max(*piece))
            });
        let rigid = RIGID.min(RIGID_SHARE * by as f64);
        let is_rigid = late.pieces >= PIECES && nanos_between(least, most) < rigid;
        let is_long = by > QUEUE && seconds_between(late.from, host) > PATIENCE;
        if is_rigid || is_long {
            return Judgement::Jumped(Reason::ClockStep);
        }
        Judgement::Use { outliers: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn one_bad_stamp_is_an_outlier_and_three_that_agree_are_a_jump() {
        let mut suspicion = Suspicion::default();
        let first = suspicion.judge(Look::Impossible, Origin::Packet, (5, 0), 1e8);
        assert_eq!(first, Judgement::Withhold);
        assert_eq!(suspicion.withheld(), Some((5, 0)));
        let usual = suspicion.judge(Look::Usual, Origin::Packet, (100, 200), 1e8);
        assert_eq!(usual, Judgement::Use { outliers: 1 });
        assert!(!suspicion.is_open());

        for device in [1, 2] {
            let judgement = suspicion.judge(Look::Backwards, Origin::Packet, (device, 900), 1e8);
            assert_eq!(judgement, Judgement::Withhold);
        }
        let third = suspicion.judge(Look::Backwards, Origin::Packet, (3, 900), 1e8);
        assert_eq!(third, Judgement::Jumped(Reason::DeviceReset));
        assert!(!suspicion.is_open());
    }

    #[test]
    fn bad_stamps_that_disagree_are_not_a_jump() {
        let mut suspicion = Suspicion::default();
        for step in 0..50 {
            let wild = (step % 7) * 1_000 * SECOND;
            let judgement = suspicion.judge(Look::Impossible, Origin::Packet, (wild, step), 1e8);
            assert_eq!(judgement, Judgement::Withhold, "{step}");
        }
    }

    #[test]
    fn a_stall_is_not_a_jump_but_a_rigid_delay_is() {
        let mut suspicion = Suspicion::default();
        // Ten seconds of packets that arrive at once.
        for step in 0..100 {
            let judgement = suspicion.judge(
                Look::Late(SECOND),
                Origin::Packet,
                (step * SECOND / 10, 10 * SECOND),
                1e8,
            );
            assert_eq!(judgement, Judgement::Use { outliers: 0 });
        }
        suspicion.judge(Look::Usual, Origin::Packet, (0, 0), 1e8);
        let jumped = (0..100).position(|step| {
            let device = step * SECOND / 10;
            let judgement = suspicion.judge(
                Look::Late(SECOND),
                Origin::Packet,
                (device, device + SECOND),
                1e8,
            );
            judgement == Judgement::Jumped(Reason::ClockStep)
        });
        assert_eq!(jumped, Some(20), "after two seconds");
    }

    #[test]
    fn packets_that_fit_do_not_vouch_for_requests_that_do_not() {
        let mut suspicion = Suspicion::default();
        for step in 0..3 {
            let at = step * SECOND / 4;
            let usual = suspicion.judge(Look::Usual, Origin::Packet, (at, at), 1e8);
            assert_eq!(usual, Judgement::Use { outliers: 0 });
            let request = suspicion.judge(Look::Impossible, Origin::Request, (at, at), 1e8);
            let expected = match step {
                2 => Judgement::Jumped(Reason::ClockStep),
                _ => Judgement::Withhold,
            };
            assert_eq!(request, expected, "{step}");
        }
        suspicion.judge(Look::Impossible, Origin::Request, (0, 0), 1e8);
        let later = suspicion.judge(Look::Usual, Origin::Packet, (0, 40 * SECOND), 1e8);
        assert_eq!(
            later,
            Judgement::Use { outliers: 1 },
            "no request ever since"
        );
    }
}
