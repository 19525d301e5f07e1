use timeloom_msg::{FieldProgram, Schema};

use super::condition::{DIAGNOSTICS, Quantity, Test};
use super::definition::Trigger;
use super::evaluation::Evaluation;
use super::field::FieldReader;
use super::test_state::TestState;

/// Triggers while messages arrive: which of them fire, when, and why.
///
/// Times are those of the recorder's clock, in nanoseconds, and are arguments. A firing that is due without a message
/// has the time at which it was due, however late [`advance`](Self::advance) is called.
#[derive(Debug, Default)]
pub struct Triggers {
    armed: Vec<Armed>,
    /// By topic of the recording.
    topics: Vec<Routes>,
    /// The newest time.
    now: Option<i64>,
    /// The earliest time at which a condition may change without a message.
    next: i64,
    /// Triggers to evaluate after a message.
    dirty: Vec<usize>,
}

#[derive(Debug)]
struct Armed {
    trigger: Trigger,
    evaluation: Evaluation,
    tests: Vec<TestState>,
    was_true: bool,
    next: i64,
    cools_until: i64,
    fired: u64,
    /// Rising edges within the cooldown.
    suppressed: u64,
    broken: Option<String>,
}

/// Destinations of the messages of a topic.
#[derive(Debug, Default)]
struct Routes {
    /// Each field is read once.
    fields: Vec<(FieldReader, Vec<TestIndex>)>,
    diagnostics: Option<(FieldProgram, Vec<TestIndex>)>,
    /// Tests that need no field.
    plain: Vec<TestIndex>,
}

/// A test of a trigger.
#[derive(Debug, Clone, Copy)]
struct TestIndex {
    trigger: usize,
    test: usize,
}

/// A trigger fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firing {
    /// Its name.
    pub name: String,
    /// Its condition.
    pub condition: String,
    /// When.
    pub time_ns: i64,
    /// The observation.
    pub reason: String,
    /// The time before it that is wanted.
    pub before_ns: i64,
    /// The time after it that is wanted.
    pub after_ns: i64,
}

/// A trigger that cannot fire because of the type of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindProblem {
    /// The trigger.
    pub trigger: String,
    /// The topic.
    pub topic: String,
    /// The reason.
    pub reason: String,
}

/// The state of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerState {
    /// Its name.
    pub name: String,
    /// Its condition.
    pub condition: String,
    /// Whether its condition is true now: it fires again after it was false.
    pub is_true: bool,
    /// Number of firings.
    pub fired: u64,
    /// Number of times that its condition became true within the cooldown.
    pub suppressed: u64,
    /// Why it cannot fire.
    pub broken: Option<String>,
}

impl Triggers {
    /// Arms triggers.
    pub fn new(triggers: Vec<Trigger>) -> Self {
        let armed = triggers.into_iter().map(|trigger| {
            let (evaluation, tests) = Evaluation::new(&trigger.condition);
            Armed {
                trigger,
                evaluation,
                tests,
                was_true: false,
                next: i64::MAX,
                cools_until: i64::MIN,
                fired: 0,
                suppressed: 0,
                broken: None,
            }
        });
        Self {
            armed: armed.collect(),
            next: i64::MAX,
            ..Self::default()
        }
    }

    /// The longest time before a firing that is wanted.
    pub fn longest_before_ns(&self) -> i64 {
        let before = self.armed.iter().map(|armed| armed.trigger.before.nanos());
        before.max().unwrap_or(0)
    }

    /// Connects a topic of the recording, by its number, with the conditions that name it. A topic is bound again when
    /// its type is known.
    pub fn bind(&mut self, topic: u32, name: &str, schema: Option<&Schema>) -> Vec<BindProblem> {
        let index = usize::try_from(topic).unwrap_or(usize::MAX);
        let mut problems = Vec::new();
        let mut routes = Routes::default();
        for (trigger, armed) in self.armed.iter_mut().enumerate() {
            for (test, state) in armed.tests.iter_mut().enumerate() {
                if state.test.topic().as_deref() != Some(name) {
                    continue;
                }
                let index = TestIndex { trigger, test };
                if let Err(reason) = routes.add(state, schema, index) {
                    armed.broken = Some(format!("{name}: {reason}"));
                    problems.push(BindProblem {
                        trigger: armed.trigger.name.clone(),
                        topic: name.to_owned(),
                        reason,
                    });
                }
            }
        }
        if routes.is_empty() {
            return problems;
        }
        if self.topics.len() <= index {
            self.topics.resize_with(index + 1, Routes::default);
        }
        if let Some(slot) = self.topics.get_mut(index) {
            *slot = routes;
        }
        problems
    }

    /// Takes the deadline that the publishers of a topic offer.
    pub fn set_deadline(&mut self, topic: &str, deadline_ns: i64) {
        for state in self.armed.iter_mut().flat_map(|armed| &mut armed.tests) {
            if state.test.topic().as_deref() == Some(topic) {
                state.set_deadline(deadline_ns);
            }
        }
    }

    /// Whether a condition names that topic.
    pub fn wants(&self, name: &str) -> bool {
        let mut tests = self.armed.iter().flat_map(|armed| &armed.tests);
        tests.any(|state| state.test.topic().as_deref() == Some(name))
    }

    /// The newest time, `None` before the first one.
    pub fn now_ns(&self) -> Option<i64> {
        self.now
    }

    /// Forgets all messages and restarts at a time: after a jump back, or a pause.
    pub fn restart(&mut self, now_ns: i64) {
        self.now = Some(now_ns);
        self.next = i64::MAX;
        for armed in &mut self.armed {
            armed.restart(now_ns);
            self.next = self.next.min(armed.next);
        }
    }

    /// Lets time pass: what is due fires.
    #[inline]
    pub fn advance(&mut self, now_ns: i64) -> Vec<Firing> {
        match self.now {
            None => self.restart(now_ns),
            Some(now) => self.now = Some(now.max(now_ns)),
        }
        if self.is_due(now_ns) {
            return self.run_timers(now_ns);
        }
        Vec::new()
    }

    /// The last of all times stands for none.
    #[inline]
    fn is_due(&self, now_ns: i64) -> bool {
        self.next <= now_ns && self.next < i64::MAX
    }

    fn run_timers(&mut self, now_ns: i64) -> Vec<Firing> {
        let mut fired = Vec::new();
        while self.is_due(now_ns) {
            let due = self.next;
            self.next = i64::MAX;
            for armed in &mut self.armed {
                if armed.next <= due {
                    fired.extend(armed.evaluate(due));
                }
                self.next = self.next.min(armed.next);
            }
        }
        fired
    }

    /// Takes a message of a bound topic. A time before the newest counts as the newest.
    pub fn message(&mut self, topic: u32, time_ns: i64, payload: &[u8]) -> Vec<Firing> {
        let mut fired = self.advance(time_ns);
        let time_ns = self.now.unwrap_or(time_ns);
        let index = usize::try_from(topic).unwrap_or(usize::MAX);
        if let Some(routes) = self.topics.get(index) {
            routes.deliver(&mut self.armed, &mut self.dirty, time_ns, payload);
            self.evaluate_dirty(time_ns, &mut fired);
        }
        fired
    }

    /// The topics whose losses are asked for; an empty name stands for all topics.
    pub fn loss_topics(&self) -> Vec<&str> {
        let tests = self.armed.iter().flat_map(|armed| &armed.tests);
        let mut topics: Vec<&str> = tests.filter_map(|state| loss_topic(&state.test)).collect();
        topics.sort_unstable();
        topics.dedup();
        topics
    }

    /// Takes the number of messages lost so far of a topic, or of all topics with an empty name.
    pub fn losses(&mut self, topic: &str, total: u64, now_ns: i64) -> Vec<Firing> {
        let mut fired = self.advance(now_ns);
        for (index, armed) in self.armed.iter_mut().enumerate() {
            for state in &mut armed.tests {
                if loss_topic(&state.test) == Some(topic)
                    && state.losses(total)
                    && !self.dirty.contains(&index)
                {
                    self.dirty.push(index);
                }
            }
        }
        self.evaluate_dirty(self.now.unwrap_or(now_ns), &mut fired);
        fired
    }

    fn evaluate_dirty(&mut self, time_ns: i64, fired: &mut Vec<Firing>) {
        for index in self.dirty.drain(..) {
            let Some(armed) = self.armed.get_mut(index) else {
                continue;
            };
            fired.extend(armed.evaluate(time_ns));
            let mut ended = false;
            for test in &mut armed.tests {
                ended |= test.end_pulse();
            }
            if ended {
                fired.extend(armed.evaluate(time_ns));
            }
            self.next = self.next.min(armed.next);
        }
    }

    /// Fires a trigger by its name, whatever its condition and its cooldown.
    ///
    /// # Errors
    /// There is no such trigger; with the nearest name.
    pub fn fire(&mut self, name: &str, now_ns: i64, reason: &str) -> Result<Firing, String> {
        let known = self
            .armed
            .iter_mut()
            .find(|armed| armed.trigger.name == name);
        if let Some(armed) = known {
            return Ok(armed.fire(now_ns, reason.to_owned()));
        }
        let names = self.armed.iter().map(|armed| armed.trigger.name.as_str());
        let near = timeloom_text::nearest(name, names.clone());
        let near = near.map_or_else(
            || format!("expected one of {}", names.collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        Err(format!("no trigger has the name `{name}`: {near}"))
    }

    /// The state of each trigger.
    pub fn states(&self) -> Vec<TriggerState> {
        let states = self.armed.iter().map(|armed| TriggerState {
            name: armed.trigger.name.clone(),
            condition: armed.trigger.condition.to_string(),
            is_true: armed.was_true,
            fired: armed.fired,
            suppressed: armed.suppressed,
            broken: armed.broken.clone(),
        });
        states.collect()
    }
}

fn loss_topic(test: &Test) -> Option<&str> {
    match test {
        Test::Lost { topic }
        | Test::Compare {
            quantity: Quantity::Lost { topic },
            ..
        } => Some(topic.as_deref().unwrap_or_default()),
        _ => None,
    }
}

impl Routes {
    fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.plain.is_empty() && self.diagnostics.is_none()
    }

    /// Adds a test. Without a schema, tests that need one wait for it.
    fn add(
        &mut self,
        state: &TestState,
        schema: Option<&Schema>,
        index: TestIndex,
    ) -> Result<(), String> {
        if loss_topic(&state.test).is_some() {
            return Ok(());
        }
        let is_diagnostics = matches!(state.test, Test::Diagnostics { .. });
        if state.path().is_none() && !is_diagnostics {
            self.plain.push(index);
            return Ok(());
        }
        let Some(schema) = schema else {
            return Ok(());
        };
        if is_diagnostics {
            let name = schema.name().to_string();
            if name != "diagnostic_msgs/msg/DiagnosticArray" {
                return Err(format!("{name} on {DIAGNOSTICS} is not a DiagnosticArray"));
            }
            let program =
                FieldProgram::compile(schema, "status").map_err(|error| error.to_string())?;
            let tests = &mut self.diagnostics.get_or_insert((program, Vec::new())).1;
            tests.push(index);
            return Ok(());
        }
        let path = state.path().unwrap_or_default();
        let reader = FieldReader::compile(schema, path)?;
        if let Some((_, tests)) = self
            .fields
            .iter_mut()
            .find(|(known, _)| known.path() == path)
        {
            tests.push(index);
        } else {
            self.fields.push((reader, vec![index]));
        }
        Ok(())
    }

    fn deliver(&self, armed: &mut [Armed], dirty: &mut Vec<usize>, time_ns: i64, payload: &[u8]) {
        let mut each = |index: &TestIndex, take: &mut dyn FnMut(&mut TestState) -> bool| {
            let state = armed.get_mut(index.trigger);
            let state = state.and_then(|armed| armed.tests.get_mut(index.test));
            if state.is_some_and(take) && !dirty.contains(&index.trigger) {
                dirty.push(index.trigger);
            }
        };
        for index in &self.plain {
            each(index, &mut |state| state.message(time_ns));
        }
        for (reader, tests) in &self.fields {
            let value = reader.read(payload);
            for index in tests {
                each(index, &mut |state| state.field(time_ns, value.as_ref()));
            }
        }
        if let Some((program, tests)) = &self.diagnostics
            && let Ok(status) = program.read(payload)
        {
            for index in tests {
                each(index, &mut |state| state.diagnostics(&status));
            }
        }
    }
}

impl Armed {
    fn evaluate(&mut self, time_ns: i64) -> Option<Firing> {
        self.next = i64::MAX;
        let truth = self
            .evaluation
            .truth(&mut self.tests, time_ns, &mut self.next);
        let is_true = truth == Some(true);
        let rises = is_true && !self.was_true;
        self.was_true = is_true;
        if !rises {
            return None;
        }
        if time_ns < self.cools_until {
            self.suppressed += 1;
            return None;
        }
        let reasons = self.tests.iter_mut().map(|test| test.describe(time_ns));
        let reason = reasons.collect::<Vec<_>>().join("; ");
        Some(self.fire(time_ns, reason))
    }

    fn fire(&mut self, time_ns: i64, reason: String) -> Firing {
        self.fired += 1;
        self.cools_until = time_ns.saturating_add(self.trigger.cooldown.nanos());
        Firing {
            name: self.trigger.name.clone(),
            condition: self.trigger.condition.to_string(),
            time_ns,
            reason,
            before_ns: self.trigger.before.nanos(),
            after_ns: self.trigger.after.nanos(),
        }
    }

    fn restart(&mut self, now_ns: i64) {
        for test in &mut self.tests {
            test.restart(now_ns);
        }
        self.evaluation.restart();
        self.was_true = false;
        self.cools_until = i64::MIN;
        self.next = i64::MAX;
        // Only to plan the timers: nothing is true before the first message.
        let truth = self
            .evaluation
            .truth(&mut self.tests, now_ns, &mut self.next);
        self.was_true = truth == Some(true);
    }
}
