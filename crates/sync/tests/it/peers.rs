//! Two hosts whose clocks are compared by messages between them.

use timeloom_sync::{Crossing, Crossings, Directions, Limits, PeerClock, PeerFit};
use timeloom_time::Time;

const SECOND: i64 = 1_000_000_000;
const MILLISECOND: i64 = 1_000_000;
/// 2026-11-16.
const START: i64 = 1_794_800_000 * SECOND;

/// A peer whose clock differs: ahead by `offset_ns` at the start, and faster by `ppm`.
struct Peer {
    offset_ns: i64,
    ppm: i64,
    /// Its clock is set by so much after so many seconds.
    step: Option<(i64, i64)>,
}

impl Peer {
    fn time(&self, here_ns: i64) -> i64 {
        let elapsed = here_ns - START;
        let set = self.step.filter(|(second, _)| elapsed >= second * SECOND);
        here_ns + self.offset_ns + elapsed / 1_000_000 * self.ppm + set.map_or(0, |(_, by)| by)
    }

    /// Ten minutes of messages: to the peer every 97 ms, from the peer every 53 ms.
    fn messages(&self) -> (Crossings, Crossings) {
        let (mut there, mut back) = (Crossings::default(), Crossings::default());
        let mut delays = Delays(0x2545_F491);
        for step in 0..6_180 {
            let sent = START + step * 97 * MILLISECOND;
            let received = sent + delays.next(300_000);
            there.add(Crossing {
                sent_ns: sent,
                received_ns: self.time(received),
            });
        }
        for step in 0..11_300 {
            let sent = START + step * 53 * MILLISECOND;
            let received = sent + delays.next(500_000);
            back.add(Crossing {
                sent_ns: self.time(sent),
                received_ns: received,
            });
        }
        (there, back)
    }
}

/// Delays from a least one upwards: many small, few large.
struct Delays(u64);

impl Delays {
    #[expect(clippy::cast_possible_truncation, reason = "a delay of milliseconds")]
    fn next(&mut self, least: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let share = (self.0 >> 40) as f64 / (1_u64 << 24) as f64;
        let random = -(1.0 - share).ln() * 400_000.0;
        least + random as i64
    }
}

fn fitted(from_peer: &Crossings, to_peer: &Crossings) -> PeerClock {
    match PeerClock::fit(from_peer, to_peer, &Limits::default()).expect("times of a clock") {
        PeerFit::Clock(clock) => clock,
        other => panic!("{other:?}"),
    }
}

/// Seconds at which the result is compared with the truth.
fn checked_seconds() -> impl Iterator<Item = i64> {
    (0..600).step_by(7)
}

#[test]
fn messages_both_ways_bound_offset_and_drift() {
    let peer = Peer {
        offset_ns: 37 * SECOND + 12_345_678,
        ppm: 23,
        step: None,
    };
    let (there, back) = peer.messages();
    let clock = fitted(&back, &there);
    assert_eq!((clock.directions(), clock.steps()), (Directions::Both, 0));
    for second in checked_seconds() {
        let truth = START + second * SECOND;
        let mapped = clock.convert(peer.time(truth)).unwrap();
        assert!(
            mapped.bounds.contain(Time::from_nanos(truth)),
            "{second}: {mapped:?}"
        );
        let width = mapped.bounds.width().unwrap().nanos();
        // Both least delays together are 800 µs.
        assert!((800_000..2_500_000).contains(&width), "{second}: {width}");
        let error = mapped.host.nanos() - truth;
        assert!(error.abs() < 400_000, "{second}: {error}");
        let back = clock.convert_back(truth).unwrap();
        assert!(
            back.bounds.contain(Time::from_nanos(peer.time(truth))),
            "{second}: {back:?}"
        );
    }
}

#[test]
fn messages_one_way_bound_one_side_only() {
    let peer = Peer {
        offset_ns: -5 * MILLISECOND,
        ppm: -40,
        step: None,
    };
    let (there, back) = peer.messages();
    let none = Crossings::default();
    for (clock, directions) in [
        (fitted(&back, &none), Directions::FromPeer),
        (fitted(&none, &there), Directions::ToPeer),
    ] {
        assert_eq!(clock.directions(), directions);
        for second in checked_seconds() {
            let truth = START + second * SECOND;
            let mapped = clock.convert(peer.time(truth)).unwrap();
            let bounds = mapped.bounds;
            assert!(
                bounds.contain(Time::from_nanos(truth)),
                "{second}: {mapped:?}"
            );
            let sides = (bounds.lower.is_some(), bounds.upper.is_some());
            assert_eq!(
                sides,
                (
                    directions == Directions::ToPeer,
                    directions == Directions::FromPeer
                )
            );
            // Off by the least delay, and little more.
            let error = (mapped.host.nanos() - truth).abs();
            assert!(error < 900_000, "{second}: {error}");
        }
    }
}

#[test]
fn a_clock_that_is_set_keeps_its_bounds_before_and_after() {
    for by in [-500 * MILLISECOND, 500 * MILLISECOND, 3 * SECOND] {
        let peer = Peer {
            offset_ns: SECOND,
            ppm: 10,
            step: Some((301, by)),
        };
        let (there, back) = peer.messages();
        let clock = fitted(&back, &there);
        assert!(clock.steps() >= 1, "{by}");
        for second in checked_seconds().filter(|second| (second - 301).abs() > 8) {
            let truth = START + second * SECOND;
            let mapped = clock.convert(peer.time(truth)).unwrap();
            assert!(
                mapped.bounds.contain(Time::from_nanos(truth)),
                "{by} {second}: {mapped:?}"
            );
        }
    }
}

#[test]
fn messages_that_arrive_before_they_were_sent_contradict_each_other() {
    let peer = Peer {
        offset_ns: 0,
        ppm: 0,
        step: None,
    };
    let (there, back) = peer.messages();
    // The sender is on a third host, 5 ms ahead.
    let mut wrong = Crossings::default();
    for crossing in back.iter() {
        wrong.add(Crossing {
            sent_ns: crossing.sent_ns + 5 * MILLISECOND,
            ..*crossing
        });
    }
    let fit = PeerClock::fit(&wrong, &there, &Limits::default()).unwrap();
    let PeerFit::Contradiction(contradiction) = fit else {
        panic!("{fit:?}");
    };
    assert!(contradiction.lower_ns > contradiction.upper_ns);
    assert!(contradiction.pairs > contradiction.of / 2);
}

#[test]
fn without_messages_there_is_no_evidence() {
    let none = Crossings::default();
    let fit = PeerClock::fit(&none, &none, &Limits::default()).unwrap();
    assert!(matches!(fit, PeerFit::NoMessages), "{fit:?}");
}
