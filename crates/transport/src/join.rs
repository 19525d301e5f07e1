//! Joining a domain.

use std::sync::Arc;

use timeloom_dds::DdsParticipant;
use timeloom_wire::Participant;
use timeloom_wire::backend::Note;
use timeloom_wire::environment::{Backend, Environment};

use crate::Result;

/// Whether this build has Zenoh.
pub const HAS_ZENOH: bool = cfg!(feature = "zenoh");

/// What the environment does not say.
#[derive(Debug, Clone, Copy, Default)]
pub struct JoinOptions<'a> {
    /// Use 127.0.0.1 only, whatever the environment says.
    pub localhost: bool,
    /// The security enclave; `/` unless given.
    pub enclave: Option<&'a str>,
}

/// A participant and its notes.
pub struct Joined {
    /// The participant.
    pub participant: Arc<dyn Participant>,
    notes: Box<dyn Fn() -> Vec<Note> + Send + Sync>,
}

impl Joined {
    /// The notes of the transport so far: warnings and malformed data, counted by kind.
    pub fn notes(&self) -> Vec<Note> {
        (self.notes)()
    }
}

/// Joins the domain of an environment over its transport.
///
/// # Errors
/// When the transport refuses, or is not part of this build.
pub fn join(environment: &Environment, options: &JoinOptions<'_>) -> Result<Joined> {
    match environment.backend {
        Backend::Dds => join_dds(environment, options),
        Backend::Zenoh => join_zenoh(environment, options),
    }
}

fn join_dds(environment: &Environment, options: &JoinOptions<'_>) -> Result<Joined> {
    let mut dds = if options.localhost {
        timeloom_dds::Options::loopback(environment.domain)
    } else {
        timeloom_dds::Options::from(environment)
    };
    if let Some(enclave) = options.enclave {
        enclave.clone_into(&mut dds.enclave);
    }
    let participant = Arc::new(DdsParticipant::new(&dds)?);
    let noted = Arc::clone(&participant);
    Ok(Joined {
        participant,
        notes: Box::new(move || noted.notes()),
    })
}

#[cfg(feature = "zenoh")]
fn join_zenoh(environment: &Environment, options: &JoinOptions<'_>) -> Result<Joined> {
    let zenoh = zenoh_options(environment, options);
    let participant = Arc::new(timeloom_zenoh::ZenohParticipant::new(&zenoh)?);
    let noted = Arc::clone(&participant);
    Ok(Joined {
        participant,
        notes: Box::new(move || noted.notes()),
    })
}

/// Where the peers of `rmw_zenoh` look for their router on this machine.
#[cfg(feature = "zenoh")]
const LOCAL_ROUTER: &str = "tcp/127.0.0.1:7447";

#[cfg(feature = "zenoh")]
fn zenoh_options(environment: &Environment, options: &JoinOptions<'_>) -> timeloom_zenoh::Options {
    let mut zenoh = timeloom_zenoh::Options::from_environment(environment);
    if options.localhost {
        zenoh = zenoh.only_at(LOCAL_ROUTER);
    }
    if let Some(enclave) = options.enclave {
        enclave.clone_into(&mut zenoh.enclave);
    }
    zenoh
}

#[cfg(not(feature = "zenoh"))]
fn join_zenoh(environment: &Environment, _: &JoinOptions<'_>) -> Result<Joined> {
    let rmw = environment.rmw.as_deref().unwrap_or("rmw_zenoh_cpp");
    Err(crate::Error::NoZenoh {
        rmw: rmw.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "zenoh")]
    #[test]
    fn localhost_is_127_0_0_1_and_nothing_else() {
        let environment = Environment {
            domain: 7,
            zenoh: timeloom_wire::environment::ZenohEnvironment {
                session_config: Some("/etc/robot.json5".into()),
                ..Default::default()
            },
            ..Environment::default()
        };
        let options = |localhost| JoinOptions {
            localhost,
            ..JoinOptions::default()
        };
        let local = zenoh_options(&environment, &options(true));
        assert_eq!((local.domain, local.session_config), (7, None));
        let endpoints = ("connect/endpoints".into(), format!("[\"{LOCAL_ROUTER}\"]"));
        assert!(local.overrides.contains(&endpoints));
        let all = zenoh_options(&environment, &options(false));
        assert_eq!(all.session_config.as_deref(), Some("/etc/robot.json5"));
    }

    #[cfg(not(feature = "zenoh"))]
    #[test]
    fn a_build_without_zenoh_says_how_to_get_it() {
        let environment = Environment {
            backend: Backend::Zenoh,
            ..Environment::default()
        };
        let refused = join(&environment, &JoinOptions::default());
        let error = refused.err().expect("an error");
        assert!(error.to_string().contains("rmw_zenoh_cpp selects Zenoh"));
        assert!(
            error
                .hint()
                .is_some_and(|hint| hint.contains("--features zenoh"))
        );
    }
}
