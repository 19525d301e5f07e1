//! Brings the catalogue of a folder up to date.

mod open;
mod report;

pub use report::IndexReport;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use timeloom_bag::place::PlaceKind;
use timeloom_bag::{BagSummary, Place};
use timeloom_time::{Clock, Duration, System};

use crate::save::{Changes, Loaded, load, save};
use crate::topic_sets::TopicSets;
use crate::{BagFolder, CatalogStore, Content, Entry, Error, FoundBag, Result};

/// A file that changed less than this ago may change again without another time; file systems have ticks of up to 2 s.
const TICK: Duration = Duration::from_secs(2);
/// Bags that are opened between two saves, at least: an index that is interrupted goes on from there.
const BAGS_PER_SAVE: usize = 2_000;

/// The bags that a run looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All bags below the folder.
    All,
    /// The bag in the folder of this name, which was added or changed.
    Bag(String),
}

/// Keeps the catalogue of a folder.
pub struct Indexer<'a> {
    /// Where the bags are. A place that remembers files must be new for each run.
    pub place: Arc<dyn Place>,
    /// The folder.
    pub root: &'a Path,
    /// Where its catalogue is.
    pub store: &'a dyn CatalogStore,
    /// The clock of the file system.
    pub clock: Clock<System>,
    /// Bags that are opened at the same time.
    pub threads: usize,
}

/// What a run has found so far.
struct Run<'a> {
    folder: BagFolder,
    listed_ns: i64,
    loaded: Loaded,
    report: IndexReport,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl Indexer<'_> {
    /// Opens bags that are new or changed, drops those that are gone, and saves the table. `progress` gets the number of
    /// opened bags, and how many there are to open.
    ///
    /// # Errors
    /// When the folder cannot be listed, is a bag, or the table cannot be saved. A bag that cannot be opened is in the
    /// report instead.
    pub fn update(&self, scope: &Scope, progress: &mut dyn FnMut(u64, u64)) -> Result<IndexReport> {
        let is_a_bag = || Error::IsABag {
            path: self.root.to_path_buf(),
        };
        let listed = self
            .list_settled(scope)
            .map_err(|error| match self.place.kind(self.root) {
                Ok(PlaceKind::File) => is_a_bag(),
                _ => error,
            });
        let (folder, listed_ns) = listed?;
        if folder.bags.iter().any(|bag| bag.name.is_empty()) {
            return Err(is_a_bag());
        }
        let loaded = load(self.store)?;
        let mut run = Run {
            report: IndexReport {
                bags: folder.bags.len() as u64,
                unlisted: folder.unlisted.clone(),
                rebuilt: loaded.damage.clone(),
                catalog_bytes: loaded.bytes,
                ..IndexReport::default()
            },
            folder,
            listed_ns,
            loaded,
            progress,
        };
        let mut changes = Changes::default();
        if *scope == Scope::All {
            run.remove_missing(&mut changes);
        }
        let to_open = self.sort(&mut run, &mut changes);
        self.open_and_save(run, &to_open, changes, scope)
    }

    /// Lists the bags. If a file was changed just now, waits until a later change shows, once.
    fn list_settled(&self, scope: &Scope) -> Result<(BagFolder, i64)> {
        let now = self.clock.now().nanos();
        let folder = self.list(scope)?;
        let changed = folder.bags.iter().filter_map(|bag| bag.changed_ns).max();
        let Some(wait) = changed.and_then(|changed| until_settled(changed, now)) else {
            return Ok((folder, now));
        };
        // Only its time ends this wait.
        let _woke = self.clock.sleep_for(wait);
        let now = self.clock.now().nanos();
        Ok((self.list(scope)?, now))
    }

    fn list(&self, scope: &Scope) -> Result<BagFolder> {
        match scope {
            Scope::All => BagFolder::list(self.place.as_ref(), self.root),
            Scope::Bag(name) => {
                let mut listing = self.place.list_below(&self.root.join(name))?;
                for file in &mut listing.files {
                    file.name = format!("{name}/{}", file.name);
                }
                Ok(BagFolder::from_listing(self.root, listing))
            }
        }
    }

    /// Divides the bags into those that the catalogue knows, and those that have to be opened.
    fn sort(&self, run: &mut Run<'_>, changes: &mut Changes) -> Vec<FoundBag> {
        let mut missing: Vec<FoundBag> = Vec::new();
        for bag in &run.folder.bags {
            if let Some(summary) = run.loaded.catalog.certain(bag) {
                run.report.unchanged += 1;
                run.report.count_damage(&bag.name, summary);
            } else {
                missing.push(bag.clone());
            }
        }
        if missing.is_empty() {
            return missing;
        }
        let mut below = run.folder.without_own_catalog();
        below.bags = missing;
        let copied = below.known(self.place.as_ref(), &mut |_, _| {});
        let BagFolder { bags: missing, .. } = below;
        let mut to_open = Vec::new();
        for bag in missing {
            match copied.get(&bag.name) {
                Some(summary) => {
                    run.report.copied += 1;
                    let content = Content::Bag(Arc::clone(summary));
                    run.take(&bag, content, true, changes);
                }
                None => to_open.push(bag),
            }
        }
        to_open
    }

    fn open_and_save(
        &self,
        mut run: Run<'_>,
        to_open: &[FoundBag],
        mut changes: Changes,
        scope: &Scope,
    ) -> Result<IndexReport> {
        let total = to_open.len() as u64;
        let mut rest = to_open;
        let mut sets = TopicSets::default();
        loop {
            // A share of the table, so that saving it takes a share of the time.
            let size = BAGS_PER_SAVE.max(run.loaded.catalog.entries.len() / 4);
            let (group, later) = rest.split_at(size.min(rest.len()));
            rest = later;
            if !group.is_empty() {
                let done = run.report.opened;
                let progress = &mut *run.progress;
                let mut progress = |count| progress(done + count, total);
                let opened = open::open_all(self, group, &mut sets, &mut progress);
                run.report.opened += group.len() as u64;
                let now = self.list(scope)?;
                let now: BTreeMap<&str, &FoundBag> = now
                    .bags
                    .iter()
                    .map(|bag| (bag.name.as_str(), bag))
                    .collect();
                for (bag, content) in group.iter().zip(opened) {
                    // Opened between two listings that show the same files: these are the ones that were opened.
                    let same = now.get(bag.name.as_str());
                    let same = same.is_some_and(|now| now.identity == bag.identity);
                    run.take(bag, content, same, &mut changes);
                }
            }
            if !changes.is_empty() {
                run.loaded = save(self.store, run.loaded, &changes)?;
                run.report.catalog_bytes = run.loaded.bytes;
                run.report.is_saved = true;
                changes = Changes::default();
            }
            if rest.is_empty() {
                return Ok(run.report);
            }
        }
    }
}

/// How long to wait until a change that follows has another time; `None` when it has one already, and when the clock of
/// the files is ahead of this one.
fn until_settled(changed_ns: i64, now_ns: i64) -> Option<Duration> {
    let age = now_ns.checked_sub(changed_ns)?;
    let wait = TICK.nanos().checked_sub(age)?;
    (age >= 0 && wait > 0).then(|| Duration::from_nanos(wait))
}

impl Run<'_> {
    /// Entries of bags that are gone.
    fn remove_missing(&mut self, changes: &mut Changes) {
        let bags = self.folder.bags.iter();
        let there: BTreeSet<&str> = bags.map(|bag| bag.name.as_str()).collect();
        for (name, entry) in &self.loaded.catalog.entries {
            if !there.contains(name.as_str()) {
                self.report.removed.push(name.clone());
                changes.removed.insert(name.clone(), entry.identity.clone());
            }
        }
    }

    /// Enters what opening a bag told. `is_same`: whether it did not change meanwhile.
    fn take(&mut self, bag: &FoundBag, content: Content, is_same: bool, changes: &mut Changes) {
        let before = self.loaded.catalog.entries.get(&bag.name);
        let settled = bag
            .changed_ns
            .is_none_or(|changed| self.listed_ns.saturating_sub(changed) >= TICK.nanos());
        let entry = Entry {
            identity: bag.identity.clone(),
            is_settled: settled && is_same,
            content,
        };
        match (&entry.content, before) {
            (Content::Unreadable(reason), _) => {
                let line = (bag.name.clone(), reason.clone());
                self.report.unreadable.push(line);
            }
            (Content::Bag(_), None) => self.report.added.push(bag.name.clone()),
            (Content::Bag(_), Some(before))
                if before.identity == bag.identity && matches!(before.content, Content::Bag(_)) =>
            {
                self.report.unchanged += 1;
            }
            (Content::Bag(_), Some(_)) => self.report.changed.push(bag.name.clone()),
        }
        if let Content::Bag(summary) = &entry.content {
            self.report.count_damage(&bag.name, summary);
            if !entry.is_settled {
                self.report.unsettled.push(bag.name.clone());
            }
        }
        if before != Some(&entry) {
            changes.entries.insert(bag.name.clone(), entry);
        }
    }
}

impl std::fmt::Debug for Indexer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Indexer({})", self.root.display())
    }
}

/// The path of a bag of the folder.
fn path_of(root: &Path, bag: &FoundBag) -> PathBuf {
    root.join(&bag.name)
}

/// The summary of a bag, or why there is none.
fn content_of(place: &Arc<dyn Place>, path: &Path) -> Content {
    match timeloom_bag::BagReader::open_in(Arc::clone(place), &[path]) {
        Ok(reader) => Content::Bag(Arc::new(BagSummary::of(&reader))),
        Err(error) => Content::Unreadable(error.to_string()),
    }
}
