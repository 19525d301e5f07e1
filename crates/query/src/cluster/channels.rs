//! Connections to workers, one for each address.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use datafusion::error::{DataFusionError, Result};
use datafusion_distributed::grpc::{BoxCloneSyncChannel, create_worker_client};
use datafusion_distributed::{ChannelResolver, WorkerChannel};
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::transport::{Channel, Endpoint, Error};
use url::Url;

use super::named_channel::NamedChannel;
use super::passport::Passport;

/// How long a worker has to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// How often a silent connection is asked for a sign of life, and how long the other end has for it: a machine that
/// vanished closes no connection.
const ALIVE_EVERY: Duration = Duration::from_secs(10);
const ALIVE_WITHIN: Duration = Duration::from_secs(20);

/// The connections of a process; each request carries its version and secret.
#[derive(Debug, Clone)]
pub(super) struct Channels {
    headers: HeaderMap,
    open: Arc<Mutex<BTreeMap<Url, Channel>>>,
}

impl Channels {
    pub(super) fn new(passport: &Passport) -> Self {
        Self {
            headers: passport.headers(),
            open: Arc::default(),
        }
    }

    /// A connection that is made with the first request, and again after it was lost.
    pub(super) fn to(&self, url: &Url) -> Result<BoxCloneSyncChannel, Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let channel = if let Some(channel) = open.get(url) {
            channel.clone()
        } else {
            let endpoint = Endpoint::from_shared(url.to_string())?
                .connect_timeout(CONNECT)
                .tcp_nodelay(true)
                .http2_keep_alive_interval(ALIVE_EVERY)
                .keep_alive_timeout(ALIVE_WITHIN)
                .keep_alive_while_idle(true);
            let channel = endpoint.connect_lazy();
            open.insert(url.clone(), channel.clone());
            channel
        };
        Ok(BoxCloneSyncChannel::new(WithHeaders {
            headers: self.headers.clone(),
            channel,
        }))
    }
}

#[async_trait]
impl ChannelResolver for Channels {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>> {
        let channel = self
            .to(url)
            .map_err(|error| DataFusionError::External(Box::new(error)))?;
        Ok(Box::new(NamedChannel::new(
            url,
            create_worker_client(channel),
        )))
    }
}

/// Adds headers to each request.
#[derive(Clone)]
struct WithHeaders {
    headers: HeaderMap,
    channel: Channel,
}

impl Service<Request<Body>> for WithHeaders {
    type Response = Response<Body>;
    type Error = Error;
    type Future = <Channel as Service<Request<Body>>>::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Service::<Request<Body>>::poll_ready(&mut self.channel, context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        for (name, value) in &self.headers {
            request.headers_mut().insert(name, value.clone());
        }
        self.channel.call(request)
    }
}
