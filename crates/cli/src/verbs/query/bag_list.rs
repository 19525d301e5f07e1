//! The bags that a query names: bags, and folders that hold them.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use timeloom_bag::metadata::METADATA_FILE;
use timeloom_bag::{BagReader, BagSummary, Place};
use timeloom_catalog::BagFolder;
use timeloom_msg::TypeResolver;
use timeloom_query::BagSource;

use crate::context::Context;
use crate::decode::resolver;

/// Bags as the other verbs open them, and types as they find them.
pub(crate) struct CliBags {
    place: Arc<dyn Place>,
    /// What catalogues know of bags.
    known: HashMap<String, Arc<BagSummary>>,
    /// Bags that were found in folders.
    found: BTreeSet<String>,
}

/// The bags of a query.
pub(super) struct BagList {
    pub(super) bags: Vec<String>,
    pub(super) source: CliBags,
    /// Folders that could not be listed, so that bags may be missing.
    pub(super) unlisted: Vec<String>,
}

impl CliBags {
    /// Bags that are named one by one.
    pub(crate) fn new(place: Arc<dyn Place>) -> Self {
        Self {
            place,
            known: HashMap::new(),
            found: BTreeSet::new(),
        }
    }
}

impl BagSource for CliBags {
    fn open(&self, bag: &str) -> timeloom_bag::Result<BagReader> {
        tracing::debug!(bag, "opened for the query");
        BagReader::open_in(Arc::clone(&self.place), &[bag])
    }

    fn summary(&self, bag: &str) -> Option<Arc<BagSummary>> {
        self.known.get(bag).map(Arc::clone)
    }

    fn may_be_unreadable(&self, bag: &str) -> bool {
        self.found.contains(bag)
    }

    fn types(&self) -> TypeResolver {
        resolver()
    }
}

impl BagList {
    /// Replaces each folder of bags by the bags below it, with what its catalogue knows of them.
    pub(super) fn expand(named: &[String], context: &mut Context) -> anyhow::Result<Self> {
        let place = context.bags.place_of(named)?;
        let mut list = Self {
            bags: Vec::new(),
            source: CliBags::new(Arc::clone(&place)),
            unlisted: Vec::new(),
        };
        // A name is a bag where its metadata is: several requests at a time.
        let metadata = named.iter().map(|name| Path::new(name).join(METADATA_FILE));
        place.expect(&metadata.collect::<Vec<_>>());
        for name in named {
            match BagFolder::find(place.as_ref(), Path::new(name)) {
                Some(folder) => list.add_folder(&folder, named, context),
                None => list.bags.push(name.clone()),
            }
        }
        Ok(list)
    }

    fn add_folder(&mut self, folder: &BagFolder, named: &[String], context: &mut Context) {
        let place = Arc::clone(&self.source.place);
        let mut known = folder.known(place.as_ref(), &mut |path, error| {
            let path = path.display();
            let text = format!("{path} cannot be used, the bags are opened instead: {error}");
            context.printer.warning(&text);
        });
        tracing::debug!(
            folder = %folder.root.display(),
            bags = folder.bags.len(),
            known = known.len(),
            "folder of bags"
        );
        for bag in &folder.bags {
            let path = folder.path_of(bag).display().to_string();
            if let Some(summary) = known.remove(&bag.name) {
                self.source.known.insert(path.clone(), summary);
            }
            // A bag that is also named by itself counts once.
            if !named.contains(&path) && self.source.found.insert(path.clone()) {
                self.bags.push(path);
            }
        }
        self.unlisted.extend(folder.unlisted.iter().cloned());
    }
}
