//! Models of the communication between the player's threads, checked by loom (`make loom`). They drive the production
//! code; a model has no time: a lost wake-up is a deadlock.

use std::sync::Arc;

use bytes::Bytes;
use timeloom_bag::TopicId;
use timeloom_time::sync::loom::thread;
use timeloom_time::sync::model;
use timeloom_time::{Clock, Event, Ros, Time, TimeBase, WaitOptions};

use super::control::Control;
use super::mailbox::{Mailbox, Request};
use super::options::ReadAheadLimits;
use super::read_ahead::{Block, ReadAhead, ReadPlan, Taken, Work};
use super::source::{Item, Part, Position};

/// A stopped clock: only the bell ends a wait.
fn still() -> Clock<Ros> {
    let clock = Clock::new();
    clock.set_override(Time::from_nanos(1));
    clock.activate_override();
    clock
}

fn wait(mailbox: &Mailbox, clock: &Clock<Ros>) {
    if let Some(bell) = mailbox.arm() {
        let _woke = clock.sleep_until_with(Time::from_nanos(2), &WaitOptions::new().cancel(&bell));
    }
}

#[test]
fn a_request_ends_the_wait() {
    model(2, || {
        let (mailbox, clock) = (Arc::new(Mailbox::default()), still());
        let writer = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || {
                mailbox.post(Request {
                    control: Control::Pause,
                    reply: Box::new(drop),
                });
            })
        };
        let request = loop {
            if let Some(request) = mailbox.take() {
                break request;
            }
            wait(&mailbox, &clock);
        };
        assert_eq!(request.control, Control::Pause);
        writer.join().unwrap();
    });
}

#[test]
fn a_request_to_quit_ends_the_wait() {
    model(2, || {
        let (mailbox, clock) = (Arc::new(Mailbox::default()), still());
        let quitter = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || mailbox.quit())
        };
        while !mailbox.is_quitting() {
            wait(&mailbox, &clock);
        }
        quitter.join().unwrap();
    });
}

/// The work of the loader for a plan of one message.
fn load(ahead: &ReadAhead, bell: &Event) {
    let mut epoch = 0;
    loop {
        match ahead.wait_for_work(epoch) {
            Work::Plan(of, _) => {
                epoch = of;
                let mut block = Block::new(epoch);
                block.push(Item {
                    topic: TopicId(0),
                    time: 1,
                    index: 0,
                    data: Bytes::from_static(b"x"),
                    part: Part::Lap(0),
                    file: None,
                });
                if ahead.push(block) {
                    bell.set();
                }
                if ahead.finish(epoch) {
                    bell.set();
                }
            }
            Work::More | Work::Query => {}
            Work::Close => return,
        }
    }
}

/// All messages that were read arrive, then the end, and the loader ends when it is closed.
#[test]
fn messages_read_ahead_arrive() {
    model(2, || {
        let base = TimeBase::machine();
        let limits = ReadAheadLimits {
            messages: 1,
            bytes: 100,
            time: None,
        };
        let ahead = Arc::new(ReadAhead::new(&base, limits, 1.0));
        let bell = Event::new(&base);
        let loader = {
            let (ahead, bell) = (Arc::clone(&ahead), bell.clone());
            thread::spawn(move || load(&ahead, &bell))
        };
        ahead.restart(ReadPlan {
            from: Position::at(0),
            start: 0,
            end: 9,
            endless: false,
            lap: 0,
            latched: false,
        });
        let mut messages = 0;
        loop {
            bell.clear();
            match ahead.take() {
                Taken::Block(block) => messages += block.items.len(),
                Taken::Starved => bell.wait(),
                Taken::End => break,
            }
        }
        assert_eq!(messages, 1);
        ahead.close();
        loader.join().unwrap();
    });
}
