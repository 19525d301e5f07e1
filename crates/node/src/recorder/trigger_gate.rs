use std::sync::Arc;

use timeloom_time::{Clock, Ros};

use super::dropped::Dropped;
use super::note::Note;
use super::options::{Options, TriggerOptions};
use super::queue::Queue;
use super::queued_message::QueuedMessage;
use super::ring::{Eviction, Ring};
use super::topic_input::TopicInputs;
use crate::trigger::{Firing, Opening, TriggerState, Triggers, WindowEnd, WindowSpan, Windows};

/// Decides for each message whether it is in a window, and keeps the others in the ring until they are too old for one.
///
/// All messages pass it in the order of their arrival, under one lock, so that windows are exact to the message.
pub(super) struct TriggerGate {
    ring: Ring,
    triggers: Triggers,
    windows: Windows,
    /// Messages that the ring had no room for, and that a trigger may still ask for.
    dropped: Dropped,
    max_bytes: usize,
    longest_before_ns: i64,
    longest_after_ns: i64,
    /// In simulated time: the clock of log times, and the number of its jumps so far.
    clock: Option<(Clock<Ros>, Option<u64>)>,
    notes: Vec<Note>,
    /// The recording has ended.
    is_closed: bool,
}

/// Where messages go that leave the gate.
pub(super) struct Exits<'a> {
    pub(super) queue: &'a Queue,
    pub(super) inputs: &'a TopicInputs,
}

/// A system time that is so much older than the newest is a jump back, not a message that was late.
const JUMP_NS: i64 = 1_000_000_000;
/// Messages that arrived so long ago may still be on their way to the gate.
const ON_THE_WAY_NS: i64 = 20_000_000;
/// The most notes that wait for the writer.
const MOST_NOTES: usize = 100;

impl TriggerGate {
    /// `None` without triggers.
    pub(super) fn new(options: &Options) -> Option<Self> {
        let TriggerOptions {
            triggers,
            max_windows,
        } = options.triggers.clone()?;
        let after = triggers.iter().map(|trigger| trigger.after.nanos());
        let longest_after_ns = after.max().unwrap_or(0);
        let triggers = Triggers::new(triggers);
        let before = triggers.longest_before_ns();
        // A quarter is for messages on their way to the disk while the ring is written.
        let ring_bytes = options.max_cache_bytes / 4 * 3;
        Some(Self {
            // A ring without a span has no limit in time.
            ring: Ring::new(ring_bytes, before.max(1)),
            windows: Windows::new(before, max_windows),
            dropped: Dropped::new(ring_bytes, before.max(1)),
            triggers,
            max_bytes: options.max_cache_bytes,
            longest_before_ns: before,
            longest_after_ns,
            clock: options.log_clock.clone().map(|clock| (clock, None)),
            notes: Vec::new(),
            is_closed: false,
        })
    }

    pub(super) fn ring(&mut self) -> &mut Ring {
        &mut self.ring
    }

    pub(super) fn triggers(&mut self) -> &mut Triggers {
        &mut self.triggers
    }

    pub(super) fn windows(&mut self) -> &mut Windows {
        &mut self.windows
    }

    pub(super) fn states(&self) -> Vec<TriggerState> {
        self.triggers.states()
    }

    pub(super) fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    fn say(&mut self, note: Note) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(note);
        }
    }

    /// Takes a message; returns it if it is in a window and goes to the queue now.
    pub(super) fn message(
        &mut self,
        mut message: QueuedMessage,
        exits: &Exits<'_>,
    ) -> Option<QueuedMessage> {
        let time_ns = message.log_time_ns;
        self.check_clock(time_ns, exits);
        let fired = self
            .triggers
            .message(message.topic, time_ns, &message.payload);
        self.open_all(&fired, exits);
        self.windows.advance(time_ns);
        let elsewhere = exits.queue.used();
        let dropped = &mut self.dropped;
        let mut evicted = |gone: &QueuedMessage, why: Eviction| match why {
            Eviction::Age => exits.inputs.overwritten(gone.topic, 1, gone.log_time_ns),
            Eviction::Room => dropped.push(gone),
        };
        if let Some(window) = self.windows.of(time_ns) {
            // Old messages make room for those of the window.
            let room = self.max_bytes.saturating_sub(elsewhere + message.cost());
            self.ring.shrink(room, &mut evicted);
            self.ring.keep(&message);
            message.window = window;
            return Some(message);
        }
        // The bytes of the queue count only where the cache would be exceeded.
        let share = self.max_bytes / 4;
        self.ring
            .push(message, elsewhere.saturating_sub(share), evicted);
        self.dropped.expire(time_ns, exits.inputs);
        None
    }

    /// Lets time pass, with or without messages.
    pub(super) fn tick(&mut self, now_ns: i64, paused: bool, exits: &Exits<'_>) {
        if self
            .clock
            .as_ref()
            .is_some_and(|(clock, _)| !clock.started())
        {
            return;
        }
        self.check_clock(now_ns, exits);
        if paused {
            self.windows.advance(now_ns);
            return self.triggers.restart(now_ns);
        }
        let settled = now_ns.saturating_sub(ON_THE_WAY_NS);
        let fired = self.triggers.advance(settled);
        self.open_all(&fired, exits);
        self.windows.advance(settled);
    }

    /// Takes the number of messages lost so far of a topic; of all topics with an empty name.
    pub(super) fn losses(&mut self, topic: &str, total: u64, now_ns: i64, exits: &Exits<'_>) {
        let fired = self.triggers.losses(topic, total, now_ns);
        self.open_all(&fired, exits);
    }

    /// Fires a trigger by its name.
    pub(super) fn fire(
        &mut self,
        name: &str,
        now_ns: i64,
        exits: &Exits<'_>,
    ) -> Result<(), String> {
        self.check_clock(now_ns, exits);
        let firing = self.triggers.fire(name, now_ns, "requested")?;
        self.open_all(&[firing], exits);
        Ok(())
    }

    /// Opens a window without a trigger, with the longest times that a trigger has.
    pub(super) fn snapshot(&mut self, now_ns: i64, exits: &Exits<'_>) {
        self.check_clock(now_ns, exits);
        let firing = Firing {
            name: "snapshot".to_owned(),
            condition: String::new(),
            time_ns: now_ns,
            reason: "requested".to_owned(),
            before_ns: self.longest_before_ns,
            after_ns: self.longest_after_ns,
        };
        self.open_all(&[firing], exits);
    }

    fn check_clock(&mut self, now_ns: i64, exits: &Exits<'_>) {
        let mut has_jumped = false;
        if let Some((clock, known)) = &mut self.clock {
            let epoch = clock.epoch();
            has_jumped = known.replace(epoch).is_some_and(|known| known != epoch);
        }
        let Some(newest) = self.triggers.now_ns() else {
            return;
        };
        if !has_jumped && now_ns >= newest.saturating_sub(JUMP_NS) {
            return;
        }
        let open = if self.windows.count().1 {
            "the open window ends, and "
        } else {
            ""
        };
        self.say(Note::warning(format!(
            "the clock jumped back: {open}all triggers restart"
        )));
        self.windows.end(WindowEnd::ClockJumpedBack);
        self.leave_out_rest(exits.inputs);
        self.triggers.restart(now_ns);
    }

    fn open_all(&mut self, fired: &[Firing], exits: &Exits<'_>) {
        for firing in fired {
            self.open(firing, exits);
        }
    }

    fn open(&mut self, firing: &Firing, exits: &Exits<'_>) {
        if self.is_closed {
            return;
        }
        let is_known = self.windows.has_fired(&firing.name);
        let (span, copies) = match self.windows.fire(firing) {
            Opening::New(span) => (span, self.ring.copies(span.begin_ns, firing.time_ns)),
            Opening::Longer(span) => (span, Vec::new()),
            Opening::Refused => return,
        };
        if !is_known {
            self.say(Note::info(format!(
                "trigger {} fired, window {}: {}",
                firing.name, span.number, firing.reason
            )));
        }
        self.count_lost(&span, exits.inputs);
        let taken = self.ring.take_span(span.begin_ns, span.end_ns);
        let all = copies.into_iter().chain(taken);
        // Under the lock of the gate: messages of the window that come later are behind them.
        exits.queue.push_all(all.map(|message| QueuedMessage {
            window: span.number,
            ..message
        }));
    }

    /// Messages of the window that the ring had no room for are lost.
    fn count_lost(&mut self, span: &WindowSpan, inputs: &TopicInputs) {
        let lost = self.dropped.take_wanted(span, inputs);
        if lost == 0 {
            return;
        }
        self.windows.lose(lost);
        let now = self.triggers.now_ns().unwrap_or(span.end_ns);
        let held = now
            .saturating_sub(self.ring.oldest_ns().unwrap_or(now))
            .max(0);
        self.say(Note::warning(format!(
            "window {}: {} before the trigger did not fit into the cache, which held {}: give it more with \
             --max-cache-size",
            span.number,
            timeloom_text::counted(lost, "message"),
            timeloom_text::duration(held),
        )));
    }

    /// Ends the open window, and leaves out what no trigger asked for.
    pub(super) fn finish(&mut self, inputs: &TopicInputs) {
        let (number, open) = self.windows.count();
        if open {
            self.say(Note::info(format!(
                "window {number} ends early: the recording ends"
            )));
        }
        self.is_closed = true;
        self.windows.end(WindowEnd::RecordingEnded);
        self.leave_out_rest(inputs);
    }

    fn leave_out_rest(&mut self, inputs: &TopicInputs) {
        for message in self.ring.take_span(i64::MIN, i64::MAX) {
            inputs.overwritten(message.topic, 1, message.log_time_ns);
        }
        self.dropped.leave_out_all(inputs);
    }
}

/// The exits of a recording.
impl<'a> Exits<'a> {
    pub(super) fn new(queue: &'a Queue, inputs: &'a Arc<TopicInputs>) -> Self {
        Self { queue, inputs }
    }
}
