//! The workers of a cluster: reached, checked, and left out when they are gone.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use datafusion::error::DataFusionError;
use futures::future::join_all;
use tonic::{Code, Status};
use url::Url;

use super::channels::Channels;
use super::control::{self, Begin, End, Welcome};
use super::named_channel::status_text;
use super::passport::{Passport, VERSION};
use super::secret::Secret;
use crate::{Error, Findings, Result};

/// The port of a worker, unless another is named.
const PORT: u16 = 7420;
/// How long a worker has for an answer that takes no work.
const ANSWER: Duration = Duration::from_secs(30);

/// Where a worker listens: a host and a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkerAddress {
    text: String,
    url: Url,
}

impl WorkerAddress {
    pub(super) fn from_url(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or(PORT);
        Self {
            text: format!("{host}:{port}"),
            url: url.clone(),
        }
    }
}

impl fmt::Display for WorkerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for WorkerAddress {
    type Err = Error;

    /// `host` or `host:port`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = |reason: &str| Error::WorkerAddress {
            text: text.to_owned(),
            reason: reason.to_owned(),
        };
        if text.is_empty() || text.contains(['/', '@', '?', '#', ' ']) {
            return Err(wrong("it has the form host:port"));
        }
        // Brackets of IPv6 have colons, too.
        let behind = text.rsplit(']').next().unwrap_or(text);
        let full = if behind.contains(':') {
            format!("http://{text}")
        } else {
            format!("http://{text}:{PORT}")
        };
        let url = Url::parse(&full).map_err(|error| wrong(&error.to_string()))?;
        Ok(Self::from_url(&url))
    }
}

/// A worker that a query began on.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) url: Url,
    address: WorkerAddress,
    welcome: Welcome,
}

impl Member {
    pub(super) fn threads(&self) -> usize {
        self.welcome.threads
    }
}

/// A query that has begun on workers.
#[derive(Debug, Clone)]
pub(super) struct Round {
    pub(super) query: String,
    pub(super) members: Vec<Member>,
}

impl Round {
    /// Whether all workers of this round are the same processes in another one.
    pub(super) fn is_within(&self, later: &Self) -> bool {
        self.members.iter().all(|own| {
            let mut others = later.members.iter();
            others.any(|other| other.url == own.url && other.welcome == own.welcome)
        })
    }
}

/// The workers that queries run on.
#[derive(Debug)]
pub struct Cluster {
    pub(super) channels: Channels,
    workers: Mutex<Vec<WorkerAddress>>,
    notices: Mutex<Vec<String>>,
}

impl Cluster {
    /// Workers at these addresses; they are reached when a session opens.
    pub fn new(workers: Vec<WorkerAddress>, secret: Option<Secret>) -> Self {
        let version = VERSION.to_owned();
        let mut unique: Vec<WorkerAddress> = Vec::new();
        for worker in workers {
            if !unique.contains(&worker) {
                unique.push(worker);
            }
        }
        Self {
            channels: Channels::new(&Passport { version, secret }),
            workers: Mutex::new(unique),
            notices: Mutex::default(),
        }
    }

    /// Workers that were left out so far, with the reason.
    pub fn notices(&self) -> Vec<String> {
        lock(&self.notices).clone()
    }

    /// Asks all workers whether they take queries of this process.
    ///
    /// # Errors
    /// As [`Cluster::begin`].
    pub(crate) async fn check(&self) -> Result<()> {
        let round = self.begin().await?;
        // A worker that is gone by now is noticed when a query begins.
        let _ended = self.end(&round, &Findings::default()).await;
        Ok(())
    }

    /// Begins a query on all workers. Those that cannot be reached are left out from now on, with a notice.
    ///
    /// # Errors
    /// When a worker refuses the secret or the version, and when none is left.
    pub(super) async fn begin(&self) -> Result<Round> {
        let query = random_name();
        let workers = lock(&self.workers).clone();
        let asked = workers.iter().map(|worker| {
            let question = Begin {
                query: query.clone(),
            };
            async move {
                let channel = self.channels.to(&worker.url);
                let channel = channel.map_err(|error| Status::from_error(error.into()))?;
                within(control::begin(channel, &question)).await
            }
        });
        let mut members = Vec::new();
        let mut gone = Vec::new();
        for (address, welcome) in workers.iter().zip(join_all(asked).await) {
            match welcome {
                Ok(welcome) => members.push(Member {
                    url: address.url.clone(),
                    address: address.clone(),
                    welcome,
                }),
                Err(status) if is_refusal(&status) => {
                    return Err(Error::WorkerRefused {
                        worker: address.to_string(),
                        reason: status.message().to_owned(),
                    });
                }
                Err(status) => gone.push((address, status_text(&status))),
            }
        }
        if members.is_empty() {
            let reasons = gone
                .iter()
                .map(|(address, why)| format!("{address}: {why}"));
            let reason = reasons.collect::<Vec<_>>().join("; ");
            return Err(Error::NoWorkers { reason });
        }
        for (address, why) in gone {
            let text = format!("worker {address} does not answer and is left out: {why}");
            lock(&self.notices).push(text);
            lock(&self.workers).retain(|worker| worker != address);
        }
        Ok(Round { query, members })
    }

    /// Ends a query on its workers, and adds what they could not read to the findings.
    ///
    /// # Errors
    /// When one of them does not answer: what it found is not known.
    pub(super) async fn end(
        &self,
        round: &Round,
        findings: &Findings,
    ) -> Result<(), DataFusionError> {
        let asked = round.members.iter().map(|member| {
            let question = End {
                query: round.query.clone(),
                instance: member.welcome.instance.clone(),
            };
            async move {
                let channel = self.channels.to(&member.url);
                let channel = channel.map_err(|error| Status::from_error(error.into()))?;
                within(control::end(channel, &question)).await
            }
        });
        for (member, record) in round.members.iter().zip(join_all(asked).await) {
            let record = record.map_err(|status| {
                let (worker, why) = (&member.address, status_text(&status));
                DataFusionError::Execution(format!("lost worker {worker}: {why}"))
            })?;
            findings.add_record(record);
        }
        Ok(())
    }
}

fn is_refusal(status: &Status) -> bool {
    let code = status.code();
    code == Code::Unauthenticated || code == Code::FailedPrecondition
}

async fn within<T>(answer: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let seconds = ANSWER.as_secs();
    let late = |_| Status::deadline_exceeded(format!("no answer within {seconds} s"));
    tokio::time::timeout(ANSWER, answer).await.map_err(late)?
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name that no other query or worker has: 128 random bits.
pub(super) fn random_name() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_hosts_with_ports() {
        for (text, shown) in [
            ("10.0.0.1:7000", "10.0.0.1:7000"),
            ("worker-3", "worker-3:7420"),
            ("[::1]:80", "[::1]:80"),
            ("[::1]", "[::1]:7420"),
        ] {
            let address: WorkerAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
        }
        for wrong in ["", "http://a:1", "a:b", "a/b", "a:70000"] {
            let error = wrong.parse::<WorkerAddress>().unwrap_err();
            assert!(error.to_string().contains("no address"), "{error}");
        }
    }

    #[test]
    fn names_of_queries_differ() {
        assert_ne!(random_name(), random_name());
        assert_eq!(random_name().len(), 32);
    }
}
