//! A router of our own.

use timeloom_wire::Result;
use zenoh::{Config, Session, Wait as _};

use crate::config;
use crate::session_call::call;
use crate::shared::{close, refused};

/// A Zenoh router in this process, which runs until dropped: it replaces `rmw_zenohd`.
pub struct ZenohRouter {
    session: Session,
}

impl ZenohRouter {
    /// A router that listens at the endpoint, such as `tcp/127.0.0.1:7447`; port 0 takes a free one.
    ///
    /// # Errors
    /// When Zenoh refuses the endpoint, for example because another process listens there.
    pub fn start(endpoint: &str) -> Result<Self> {
        Self::with(config::router(None, &[endpoint.to_owned()])?)
    }

    pub(crate) fn with(config: Config) -> Result<Self> {
        let listen = config.get_json("listen/endpoints").unwrap_or_default();
        let session = call(|| zenoh::open(config).wait())
            .map_err(|error| refused(format!("be a router at {listen}"), error))?;
        Ok(Self { session })
    }

    /// The endpoints at which it listens.
    pub fn endpoints(&self) -> Vec<String> {
        let locators = call(|| self.session.info().locators().wait());
        locators.iter().map(ToString::to_string).collect()
    }

    /// Its identity.
    pub(crate) fn id(&self) -> zenoh::session::ZenohId {
        self.session.zid()
    }
}

impl Drop for ZenohRouter {
    fn drop(&mut self) {
        close(self.session.clone(), None);
    }
}

impl std::fmt::Debug for ZenohRouter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ZenohRouter({})", self.endpoints().join(", "))
    }
}
