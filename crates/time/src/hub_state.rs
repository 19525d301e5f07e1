use crate::clock_state::Operation;
use crate::extrapolator::{Extrapolator, Update};
use crate::kind::SourceState;
use crate::reporter::ClockWarning;
use crate::time_hub::{SOURCE_SILENCE, TimeHubOptions, TwoSources};
use crate::time_source::SourceId;

/// The state of a hub's sources: decides the effect of a sample on the clocks. It has no clocks and no locks.
pub(crate) struct HubState {
    options: TimeHubOptions,
    active: SourceState,
    extrapolator: Option<Extrapolator>,
    /// The last operation on active clocks.
    current: Option<Operation>,
    sources: Vec<Source>,
}

struct Source {
    id: SourceId,
    last_steady: i64,
    newest: Option<u64>,
    /// Whether it was reported as competing with another source.
    reported: bool,
}

/// A sample and its arrival time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) steady: i64,
    pub(crate) time: i64,
    pub(crate) sequence: Option<u64>,
}

impl HubState {
    pub(crate) fn new(options: TimeHubOptions) -> Self {
        Self {
            options,
            active: SourceState::Inactive,
            extrapolator: options.extrapolate.then(Extrapolator::new),
            current: None,
            sources: Vec::new(),
        }
    }

    pub(crate) fn source_state(&self) -> SourceState {
        self.active
    }

    pub(crate) fn set_two_sources(&mut self, policy: TwoSources) {
        self.options.two_sources = policy;
    }

    pub(crate) fn set_source_state(&mut self, state: SourceState) {
        self.active = state;
    }

    /// The operation that brings a newly attached clock up to date.
    pub(crate) fn current(&self) -> Option<Operation> {
        self.current
    }

    pub(crate) fn rate(&self) -> Option<f64> {
        self.extrapolator
            .as_ref()?
            .segment()
            .map(|segment| segment.rate())
    }

    pub(crate) fn is_overdue(&self, steady: i64) -> Option<bool> {
        let extrapolator = self.extrapolator.as_ref()?;
        extrapolator.deadline()?;
        Some(extrapolator.is_overdue(steady))
    }

    /// Takes a sample; returns the operation for the clocks, and a warning.
    pub(crate) fn sample(
        &mut self,
        id: &SourceId,
        sample: Sample,
    ) -> (Option<Operation>, Option<ClockWarning>) {
        if let Some(late) = self.out_of_order(id, sample) {
            return (None, Some(late));
        }
        let warning = self.competitor(id, sample.steady);
        if self.options.two_sources == TwoSources::FollowFirst && !self.is_first(id) {
            return (None, warning);
        }
        let operation = self.operation(sample);
        self.current = Some(operation);
        (Some(operation), warning)
    }

    fn operation(&mut self, sample: Sample) -> Operation {
        let Some(extrapolator) = &mut self.extrapolator else {
            return Operation::Tick(sample.time);
        };
        let update = extrapolator.sample(sample.steady, sample.time);
        Operation::Steer {
            segment: update.segment(),
            jump: matches!(update, Update::Jump(_)),
        }
    }

    /// Notes the sample's source; a warning if a newer sample of it was there already.
    fn out_of_order(&mut self, id: &SourceId, sample: Sample) -> Option<ClockWarning> {
        let silent_since = sample.steady.saturating_sub(SOURCE_SILENCE.nanos());
        // A source that was silent and returns, perhaps with new numbers, is a new one.
        self.sources
            .retain(|source| source.last_steady > silent_since);
        let Some(source) = self.sources.iter_mut().find(|source| source.id == *id) else {
            self.sources.push(Source {
                id: id.clone(),
                last_steady: sample.steady,
                newest: sample.sequence,
                reported: false,
            });
            return None;
        };
        if let (Some(sequence), Some(newest)) = (sample.sequence, source.newest)
            && sequence <= newest
        {
            return Some(ClockWarning::OutOfOrder {
                source: id.name().into(),
                sequence,
                newest,
            });
        }
        source.newest = sample.sequence.or(source.newest);
        source.last_steady = sample.steady;
        None
    }

    /// A warning, once, when this source sends beside another.
    fn competitor(&mut self, id: &SourceId, steady: i64) -> Option<ClockWarning> {
        let first = self
            .sources
            .iter()
            .find(|source| source.id != *id)?
            .id
            .name()
            .to_owned();
        let source = self.sources.iter_mut().find(|source| source.id == *id)?;
        if source.reported || self.sources_alive(steady) < 2 {
            return None;
        }
        let source = self.sources.iter_mut().find(|source| source.id == *id)?;
        source.reported = true;
        let second = id.name().to_owned();
        for other in &mut self.sources {
            other.reported = true;
        }
        Some(ClockWarning::TwoSources { first, second })
    }

    fn sources_alive(&self, steady: i64) -> usize {
        let silent_since = steady.saturating_sub(SOURCE_SILENCE.nanos());
        self.sources
            .iter()
            .filter(|source| source.last_steady > silent_since)
            .count()
    }

    fn is_first(&self, id: &SourceId) -> bool {
        self.sources.first().is_some_and(|first| first.id == *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(steady: i64, time: i64) -> Sample {
        Sample {
            steady,
            time,
            sequence: None,
        }
    }

    fn ids() -> (SourceId, SourceId) {
        (SourceId::named("gazebo"), SourceId::named("player"))
    }

    #[test]
    fn a_second_source_is_reported_once() {
        let (a, b) = ids();
        let mut state = HubState::new(TimeHubOptions::default());
        assert_eq!(state.sample(&a, at(1, 10)).1, None);
        let (operation, warning) = state.sample(&b, at(2, 20));
        assert!(operation.is_some(), "ROS follows both");
        assert_eq!(
            warning,
            Some(ClockWarning::TwoSources {
                first: "gazebo".into(),
                second: "player".into()
            })
        );
        for (id, time) in [(&a, 11), (&b, 21), (&a, 12)] {
            assert_eq!(state.sample(id, at(time, time)).1, None);
        }
    }

    #[test]
    fn the_first_source_can_be_followed_alone_until_it_is_silent() {
        let (a, b) = ids();
        let options = TimeHubOptions {
            two_sources: TwoSources::FollowFirst,
            ..TimeHubOptions::default()
        };
        let mut state = HubState::new(options);
        assert!(state.sample(&a, at(1, 10)).0.is_some());
        assert!(state.sample(&b, at(2, 20)).0.is_none());
        let later = SOURCE_SILENCE.nanos() + 2;
        assert!(
            state.sample(&b, at(later, 30)).0.is_some(),
            "the first has gone"
        );
    }

    #[test]
    fn a_source_that_took_over_is_not_a_competitor() {
        let (a, b) = ids();
        let mut state = HubState::new(TimeHubOptions::default());
        state.sample(&a, at(1, 10));
        assert_eq!(state.sample(&b, at(1 + SOURCE_SILENCE.nanos(), 20)).1, None);
    }

    #[test]
    fn a_late_sample_is_dropped_and_reported() {
        let (a, _) = ids();
        let mut state = HubState::new(TimeHubOptions::default());
        let numbered = |steady, time, sequence| Sample {
            steady,
            time,
            sequence: Some(sequence),
        };
        assert!(state.sample(&a, numbered(1, 10, 7)).0.is_some());
        let (operation, warning) = state.sample(&a, numbered(2, 9, 6));
        assert!(operation.is_none());
        assert_eq!(
            warning,
            Some(ClockWarning::OutOfOrder {
                source: "gazebo".into(),
                sequence: 6,
                newest: 7
            })
        );
        assert!(state.sample(&a, numbered(3, 11, 8)).0.is_some());
    }
}
