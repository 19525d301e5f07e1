//! The windows of triggers: each begins in a file of its own, which is closed when no trigger can make it longer.

use std::collections::BTreeMap;

use timeloom_bag::{TRIGGER_WINDOWS_KEY, TriggerWindow};

use super::Writer;
use crate::recorder::end_reason::EndReason;
use crate::recorder::note::Note;
use crate::recorder::queued_message::QueuedMessage;
use crate::recorder::trigger_gate::Exits;

/// The windows in the files of a bag.
#[derive(Debug, Default)]
pub(super) struct WindowFiles {
    /// The window in the file that is written now.
    current: Option<u32>,
    /// The file that each window begins in.
    files: BTreeMap<u32, String>,
}

impl Writer {
    /// Windows up to this number get no more messages than those that are queued now.
    pub(super) fn final_window(&self) -> u32 {
        let gate = self.shared.input.gate();
        gate.map_or(0, |mut gate| gate.windows().final_window())
    }

    /// Starts a new file if these messages belong to a later window than those in the file.
    pub(super) fn enter_window(&mut self, messages: &[QueuedMessage]) {
        let window = messages.first().map_or(0, |message| message.window);
        if window == 0
            || self
                .windows
                .current
                .is_some_and(|current| window <= current)
        {
            return;
        }
        if self.windows.current.is_some() {
            // The metadata that is written with the split lists the new window, in case this process is killed.
            self.save_windows(true);
            self.split_for_window();
        }
        self.windows.current = Some(window);
        let path = self.bag.current_path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.windows.files.insert(window, name.into_owned());
        self.save_windows(true);
    }

    /// Closes the file of a window that is final.
    pub(super) fn close_window(&mut self, final_window: u32) {
        if self
            .windows
            .current
            .is_some_and(|current| current <= final_window)
        {
            self.save_windows(true);
            self.split_for_window();
            self.windows.current = None;
        }
    }

    fn split_for_window(&mut self) {
        if self.over {
            return;
        }
        if let Err(error) = self.split() {
            let text = format!("cannot start a new file for a window: {error}");
            self.shared.report(&Note::warning(text));
        }
    }

    /// Lets time pass for the triggers; with `look`, also at losses.
    pub(super) fn run_triggers(&mut self, look: bool) {
        let input = &self.shared.input;
        let Some(mut gate) = input.gate() else {
            return;
        };
        let now_ns = self.shared.node_time_ns();
        let paused = input.is_paused();
        let exits = Exits::new(&input.queue, &self.shared.inputs);
        gate.tick(now_ns, paused, &exits);
        if look && !paused {
            let topics: Vec<String> = gate
                .triggers()
                .loss_topics()
                .into_iter()
                .map(str::to_owned)
                .collect();
            for topic in topics {
                let total = self.lost(&topic);
                gate.losses(&topic, total, now_ns, &exits);
            }
        }
        let done = gate.windows().are_all_done();
        let notes = gate.take_notes();
        drop(gate);
        for note in notes {
            self.shared.report(&note);
        }
        self.save_windows(false);
        if done {
            self.end(EndReason::Windows);
        }
    }

    /// The messages of a topic that were lost so far; of all topics without a name.
    fn lost(&self, topic: &str) -> u64 {
        let topics = self.topics.iter().map(|known| &known.input);
        let named = topics.filter(|input| topic.is_empty() || input.name == topic);
        named
            .map(|input| input.counts().missing.messages_lost())
            .sum()
    }

    /// Writes the windows into the metadata, if there is something new about them.
    fn save_windows(&mut self, always: bool) {
        let Some(mut gate) = self.shared.input.gate() else {
            return;
        };
        let (newest, _) = gate.windows().count();
        if !always && !self.windows.files.contains_key(&newest) {
            // It is saved with its first message, when its file is known.
            return;
        }
        let news = gate.windows().take_news();
        let windows = news.or_else(|| always.then(|| gate.windows().records()));
        drop(gate);
        let Some(mut windows) = windows else {
            return;
        };
        for window in &mut windows {
            let file = self.windows.files.get(&window.number);
            window.file = file.cloned().unwrap_or_default();
        }
        if let Some(oldest) = windows.first() {
            self.windows.files = self.windows.files.split_off(&oldest.number);
        }
        let text = TriggerWindow::to_text(&windows);
        if let Err(error) = self.bag.set_custom_data(TRIGGER_WINDOWS_KEY, &text) {
            let text = format!("cannot save the windows of the triggers: {error}");
            self.shared.report(&Note::warning(text));
        }
        self.shared.news.set();
    }

    /// Ends the open window with the recording.
    pub(super) fn finish_windows(&mut self) {
        let Some(mut gate) = self.shared.input.gate() else {
            return;
        };
        gate.finish(&self.shared.inputs);
        let notes = gate.take_notes();
        drop(gate);
        for note in notes {
            self.shared.report(&note);
        }
        // A trigger that was fired by hand a moment ago.
        let mut late = Vec::new();
        self.shared.input.queue.take(&mut late);
        self.write_all(&mut late);
        self.save_windows(true);
    }
}
