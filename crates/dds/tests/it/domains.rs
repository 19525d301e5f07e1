//! Several participants and domains in one process, and invalid configurations.

use std::sync::{Arc, Mutex};

use timeloom_dds::{DdsParticipant, DiscoveryRange, Note, NoteKind, Options};
use timeloom_msg::QosProfile;
use timeloom_testkit::transport::Collector;
use timeloom_wire::{NodeName, Participant};

use crate::local::{LOOPBACK, Watched, new_domain, options, participant, until};
use crate::python::{node, publish, topic};

#[test]
fn domains_do_not_mix() {
    let (here, there) = (new_domain(), new_domain());
    let collectors = [Collector::new(), Collector::new()];
    let spec = topic("/data", QosProfile::DEFAULT);
    let _subscriptions = [here, there]
        .iter()
        .zip(&collectors)
        .map(|(domain, collector)| {
            node(*domain)
                .subscribe(&spec, Arc::clone(collector) as _)
                .unwrap()
        })
        .collect::<Vec<_>>();
    let publisher = node(here).publish(&spec).unwrap();
    until("it matches in its domain", || publisher.matched() == 1);
    publish(&*publisher, 0, 8);
    until("it arrives in its domain", || collectors[0].count() == 1);
    assert_eq!(collectors[1].count(), 0);
}

#[test]
fn a_domain_can_be_joined_again_and_again() {
    let domain = new_domain();
    for _ in 0..5 {
        let participants = [participant(domain), participant(domain)];
        let watched = Watched::new(participants[0].clone());
        let _node = participants[1]
            .node(NodeName::new("/", "other").unwrap())
            .unwrap();
        until("they see each other", || watched.nodes_named("/other") == 1);
    }
}

#[test]
fn with_discovery_off_no_peer_is_seen() {
    let domain = new_domain();
    let other = participant(domain);
    let _node = other.node(NodeName::new("/", "other").unwrap()).unwrap();
    let alone = DdsParticipant::new(&Options {
        range: DiscoveryRange::Off,
        ..options(domain)
    });
    let alone: Arc<dyn Participant> = Arc::new(alone.unwrap());
    let _own = alone.node(NodeName::new("/", "own").unwrap()).unwrap();
    let (seen, control) = (
        Watched::new(Arc::clone(&alone)),
        Watched::new(participant(domain)),
    );
    until("it sees itself", || seen.nodes_named("/own") == 1);
    until("others see each other", || {
        control.nodes_named("/other") == 1
    });
    assert_eq!(seen.nodes_named("/other"), 0);
    assert_eq!(control.nodes_named("/own"), 0);
}

#[test]
fn an_invalid_configuration_is_refused_with_the_reason() {
    let error = DdsParticipant::new(&Options {
        configuration: format!("{LOOPBACK},<CycloneDDS><Domain><General><NoSuchThing>1</NoSuchThing></General></Domain></CycloneDDS>"),
        ..options(new_domain())
    })
    .unwrap_err()
    .to_string();
    assert!(
        error.starts_with("Cyclone DDS can't join domain"),
        "{error}"
    );
    assert!(error.contains("NoSuchThing"), "{error}");
}

/// Unpatched Cyclone DDS aborts the process.
#[test]
fn an_unresolvable_peer_is_noted_and_left_out() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let inside = Arc::clone(&heard);
    let domain = new_domain();
    let made = DdsParticipant::new(&Options {
        // An invalid port, so that no name server is asked.
        static_peers: vec!["127.0.0.1:999999".into()],
        reporter: Some(Arc::new(move |note: &Note| {
            inside.lock().unwrap().push(note.clone());
        })),
        ..options(domain)
    });
    let made = Arc::new(made.unwrap());
    let heard = heard.lock().unwrap().clone();
    assert!(
        heard
            .iter()
            .any(|note| note.kind == NoteKind::Error && note.text.contains("999999")),
        "{heard:?}"
    );
    let watched = Watched::new(made);
    let _node = node(domain);
    until("others are seen", || watched.nodes_named("/ours") == 1);
}

#[test]
fn a_participant_describes_itself() {
    let domain = new_domain();
    let participant = participant(domain);
    assert_eq!(
        participant.describe(),
        format!("Cyclone DDS 11.0.0, domain {domain}")
    );
    assert_eq!(participant.domain(), domain);
    assert!(participant.capabilities().sequence_numbers);
}
