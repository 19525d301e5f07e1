use std::sync::Arc;

use timeloom_time::TimeBase;
use timeloom_wire::backend::Note;
use timeloom_wire::{Capabilities, GraphObserver, GraphWatch, Node, NodeName, Participant, Result};
use zenoh::Wait as _;

use crate::node::ZenohNode;
use crate::options::Options;
use crate::session_call::call;
use crate::shared::{Shared, TRANSPORT};

/// A presence in a ROS domain over Zenoh: one session, as a context of `rmw_zenoh` is.
///
/// It lives until the last of its nodes and endpoints is dropped.
pub struct ZenohParticipant {
    shared: Arc<Shared>,
}

/// The version of `zenoh`, see Cargo.toml.
const VERSION: &str = "1.10.2";

impl ZenohParticipant {
    /// Joins a domain. Blocks while it looks for a router and until the router answered; half a second if there is
    /// none.
    ///
    /// # Errors
    /// When Zenoh refuses: an invalid configuration, an endpoint that it cannot listen at, or, as a client, no router.
    pub fn new(options: &Options) -> Result<Self> {
        let shared = Shared::new(options)?;
        tracing::info!(domain = shared.domain, "joined the domain over Zenoh");
        Ok(Self { shared })
    }

    /// The notes so far: warnings and malformed data, counted by kind.
    pub fn notes(&self) -> Vec<Note> {
        self.shared.notes.all()
    }

    /// The ROS domain.
    pub fn domain(&self) -> u32 {
        self.shared.domain
    }

    /// A description of the router that it uses.
    pub fn router(&self) -> String {
        let routers: Vec<_> = call(|| self.shared.session().info().routers_zid().wait()).collect();
        let keeper = self.shared.keeper.as_ref();
        let own = keeper.and_then(|keeper| keeper.own(|own| (own.id(), own.endpoints())));
        match (own, routers.len()) {
            (Some((id, endpoints)), _) if routers.contains(&id) => {
                format!("router of our own at {}", endpoints.join(", "))
            }
            (_, 0) => "no router".to_owned(),
            (_, 1) => "router found".to_owned(),
            (_, many) => format!("{many} routers found"),
        }
    }

    /// The endpoints at which it listens for peers.
    pub fn endpoints(&self) -> Vec<String> {
        let locators = call(|| self.shared.session().info().locators().wait());
        locators.iter().map(ToString::to_string).collect()
    }
}

impl Participant for ZenohParticipant {
    fn describe(&self) -> String {
        let peers = call(|| self.shared.session().info().peers_zid().wait()).count();
        let listens = self.endpoints();
        let listens = if listens.is_empty() {
            "listens nowhere".to_owned()
        } else {
            format!("listens at {}", listens.join(", "))
        };
        format!(
            "{TRANSPORT} {VERSION}, domain {}, {}, {peers} peer{}, {listens}",
            self.domain(),
            self.router(),
            if peers == 1 { "" } else { "s" },
        )
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            sequence_numbers: true,
            source_times: true,
            type_hashes: true,
            deadlines: false,
            liveliness: false,
            acknowledgements: false,
        }
    }

    fn time_base(&self) -> TimeBase {
        TimeBase::machine()
    }

    fn node(&self, name: NodeName) -> Result<Arc<dyn Node>> {
        Ok(Arc::new(ZenohNode::new(&self.shared, name)?))
    }

    fn watch_graph(&self, observer: GraphObserver) -> GraphWatch {
        self.shared.observers.watch(observer)
    }
}

impl std::fmt::Debug for ZenohParticipant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ZenohParticipant({TRANSPORT} {VERSION}, domain {})",
            self.domain()
        )
    }
}
