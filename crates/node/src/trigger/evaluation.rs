use super::condition::{Condition, Test};
use super::test_state::TestState;

/// A condition while it is evaluated; tests are numbered from left to right.
#[derive(Debug, Clone)]
pub(super) enum Evaluation {
    Test(usize),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
    Lasts {
        inner: Box<Self>,
        nanos: i64,
        /// Since when the inner condition is true.
        since: Option<i64>,
    },
}

impl Evaluation {
    pub(super) fn new(condition: &Condition) -> (Self, Vec<TestState>) {
        let mut tests = Vec::new();
        let evaluation = Self::compile(condition, &mut tests);
        (evaluation, tests)
    }

    fn compile(condition: &Condition, tests: &mut Vec<TestState>) -> Self {
        let mut test = |test: &Test| {
            tests.push(TestState::new(test));
            Self::Test(tests.len() - 1)
        };
        match condition {
            Condition::Test(leaf) => test(leaf),
            Condition::Not(inner) => Self::Not(Box::new(Self::compile(inner, tests))),
            Condition::All(parts) => Self::All(
                parts
                    .iter()
                    .map(|part| Self::compile(part, tests))
                    .collect(),
            ),
            Condition::Any(parts) => Self::Any(
                parts
                    .iter()
                    .map(|part| Self::compile(part, tests))
                    .collect(),
            ),
            Condition::Lasts { condition, nanos } => Self::Lasts {
                inner: Box::new(Self::compile(condition, tests)),
                nanos: *nanos,
                since: None,
            },
        }
    }

    /// Whether it is true at a time; `None` if that is not known. Lowers `next` to the time at which it may change
    /// without a message.
    ///
    /// All parts are evaluated, because those with a duration must see every moment.
    pub(super) fn truth(
        &mut self,
        tests: &mut [TestState],
        time_ns: i64,
        next: &mut i64,
    ) -> Option<bool> {
        match self {
            Self::Test(index) => {
                let (outcome, changes) = tests.get_mut(*index)?.outcome(time_ns);
                *next = (*next).min(changes);
                outcome
            }
            Self::Not(inner) => inner.truth(tests, time_ns, next).map(|truth| !truth),
            Self::All(parts) => {
                let mut all = Some(true);
                for part in parts {
                    all = match (all, part.truth(tests, time_ns, next)) {
                        (Some(false), _) | (_, Some(false)) => Some(false),
                        (Some(true), truth) => truth,
                        (None, _) => None,
                    };
                }
                all
            }
            Self::Any(parts) => {
                let mut any = Some(false);
                for part in parts {
                    any = match (any, part.truth(tests, time_ns, next)) {
                        (Some(true), _) | (_, Some(true)) => Some(true),
                        (Some(false), truth) => truth,
                        (None, _) => None,
                    };
                }
                any
            }
            Self::Lasts {
                inner,
                nanos,
                since,
            } => match inner.truth(tests, time_ns, next) {
                Some(true) => {
                    let due = since.get_or_insert(time_ns).saturating_add(*nanos);
                    if time_ns < due {
                        *next = (*next).min(due);
                    }
                    Some(time_ns >= due)
                }
                truth => {
                    *since = None;
                    truth
                }
            },
        }
    }

    /// Forgets since when parts are true.
    pub(super) fn restart(&mut self) {
        match self {
            Self::Test(_) => {}
            Self::Not(inner) => inner.restart(),
            Self::All(parts) | Self::Any(parts) => parts.iter_mut().for_each(Self::restart),
            Self::Lasts { inner, since, .. } => {
                *since = None;
                inner.restart();
            }
        }
    }
}
