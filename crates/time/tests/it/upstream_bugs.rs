//! One test per upstream bug that this crate fixes; the numbers are those of the design's list.
//!
//! Elsewhere: 5 (a race in the array of callbacks: ownership rules it out, `stress.rs` churns it), 15 (mixing
//! clock kinds does not compile: the documentation of `Time` has the tests), 8 and 28 (processor time and
//! lateness: benchmarks), 22 (order of timers and messages: the executor's), 24 and 25 (publishing `/clock` and
//! its quality of service: the player's and the wire's).

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use timeloom_time::{
    Clock, ClockChange, ControlledClock, Duration, JumpHandler, JumpThreshold, PlaybackRate,
    PlayerClock, Rate, Ros, RosSteady, SourceId, Steady, System, Tick, Time, TimeBase, TimeHub,
    Timer, VirtualTime, WaitOptions, WireTime, Woke,
};

use crate::support::{SEC, at, at_ms, beyond, deltas, extrapolating, ms, overridden, secs, watch};

fn sim() -> (VirtualTime, TimeHub, timeloom_time::ClockSink, Clock<Ros>) {
    let world = VirtualTime::manual();
    let hub = TimeHub::new(&world.base());
    let (sink, clock) = (hub.sink(SourceId::named("sim")), hub.clock());
    hub.activate();
    (world, hub, sink, clock)
}

/// rclcpp #1540, `ros_comm` #2111.
#[test]
fn bug_01_a_sleep_ends_when_the_clock_topic_is_silent() {
    let (world, _hub, _sink, clock) = sim();
    for (options, expected) in [
        (WaitOptions::new().stall_after(secs(1)), Woke::Stalled),
        (WaitOptions::new().real_timeout(secs(1)), Woke::TimedOut),
    ] {
        let sleeper = clock.clone();
        let sleeping = world.spawn("sleeper", move || sleeper.sleep_for_with(secs(5), &options));
        world.settle();
        world.advance(secs(2));
        assert_eq!(sleeping.join().unwrap(), expected);
    }
}

/// rclcpp `Clock::sleep_until`: 25 of 178,762 single steps left the sleeper asleep.
#[test]
fn bug_02_a_single_step_never_leaves_a_sleeper_asleep() {
    let clock = Clock::<Ros>::new();
    clock.set_override(at(1));
    clock.activate_override();
    for step in 2..1_000 {
        let sleeper = clock.clone();
        let (begun, begins) = channel();
        let sleeping = thread::spawn(move || {
            begun.send(()).unwrap();
            sleeper.sleep_until(at(step))
        });
        begins.recv().unwrap();
        clock.set_override(at(step));
        assert!(sleeping.join().unwrap().is_reached());
    }
}

/// rclcpp holds `clock_list_lock_` and `clock_mutex_` during callbacks: all of these deadlock there.
#[test]
fn bug_03_a_jump_callback_may_use_everything_of_its_clock() {
    let (_world, hub, sink, clock) = sim();
    sink.tick(at(1_000));
    let (inner, inside, done) = (clock.clone(), hub.clone(), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&done);
    let handler = JumpHandler::new("busy", JumpThreshold::DISRUPTIVE).before(move |_| {
        drop(inner.add_jump_handler(JumpHandler::new("other", JumpThreshold::ANY)));
        drop(Timer::builder(&inner, ms(1)).build().unwrap());
        drop(Rate::new(&inner, ms(1)).unwrap());
        let guest = inside.clock();
        inside.detach(&guest);
        let woke = inner.sleep_for(secs(1));
        assert!(matches!(woke, Woke::Jumped(_)), "{woke:?}");
        assert_eq!(inner.now(), at(1_000));
        count.fetch_add(1, Ordering::SeqCst);
    });
    let _handle = clock.add_jump_handler(handler);
    sink.tick(at(500));
    assert_eq!(done.load(Ordering::SeqCst), 1);
    assert_eq!(clock.now(), at(500));
}

/// rclcpp #2962, #1861: the destructor joins the clock's thread, which waits for the destructor's lock.
#[test]
fn bug_04_a_hub_may_be_dropped_while_its_source_sends_also_by_a_callback() {
    let over = Arc::new(AtomicBool::new(false));
    let hub = TimeHub::new(&TimeBase::machine());
    let (sink, clock) = (hub.sink(SourceId::named("sim")), hub.clock());
    hub.activate();
    let ends = Arc::clone(&over);
    let sending = thread::spawn(move || {
        let mut now = 1;
        while !ends.load(Ordering::SeqCst) {
            now += 1;
            sink.tick(at(1_000_000 - now % 3));
        }
    });
    let owned = std::sync::Mutex::new(Some(hub.clone()));
    let (dropped, drops) = channel();
    let handler = JumpHandler::new("owner", JumpThreshold::DISRUPTIVE).after(move |_| {
        if let Some(hub) = owned.lock().unwrap().take() {
            drop(hub);
            dropped.send(()).unwrap();
        }
    });
    let handle = clock.add_jump_handler(handler);
    drop(hub);
    drops.recv().unwrap();
    drop(handle);
    drop(clock);
    over.store(true, Ordering::SeqCst);
    sending.join().unwrap();
}

/// rcl stores "active" and "time" apart: a reader could see the one without the other.
#[test]
fn bug_06_a_reader_never_sees_zero_while_the_source_is_switched() {
    let clock = Clock::<Ros>::new();
    let over = Arc::new(AtomicBool::new(false));
    let (reader, ends) = (clock.clone(), Arc::clone(&over));
    let reading = thread::spawn(move || {
        let mut wrong = 0;
        while !ends.load(Ordering::Relaxed) {
            let now = reader.now();
            wrong += u32::from(now != at(7) && now < at(SEC));
        }
        wrong
    });
    for _ in 0..5_000 {
        clock.set_override(at(7));
        clock.activate_override();
        clock.deactivate_override();
    }
    over.store(true, Ordering::Relaxed);
    assert_eq!(reading.join().unwrap(), 0);
}

/// rclcpp #1540, rclpy #792, `ros2_rust` #604: sim time freezes while a callback runs.
#[test]
fn bug_07_time_continues_while_a_callback_blocks() {
    let (world, _hub, sink, clock) = sim();
    sink.tick(at(10));
    let inner = clock.clone();
    let callback = world.spawn("callback", move || {
        let seen = inner.now();
        let woke = inner.sleep_until(at(30));
        (seen, woke, inner.now())
    });
    world.settle();
    sink.tick(at(20));
    sink.tick(at(30));
    assert_eq!(callback.join().unwrap(), (at(10), Woke::Reached, at(30)));
}

#[derive(Default)]
struct Wakes(AtomicU64);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// rclcpp wakes every sleeper on every message; 100 sleepers at 1 kHz cost a core.
#[test]
fn bug_09_a_tick_wakes_only_due_waits() {
    let (_world, _hub, sink, clock) = sim();
    sink.tick(at(1));
    let wakes: Vec<Arc<Wakes>> = (0..100).map(|_| Arc::default()).collect();
    let mut sleeps: Vec<_> = (0..100)
        .map(|index| Box::pin(clock.sleep_until_async(at(10_000 + index))))
        .collect();
    for (sleep, wakes) in sleeps.iter_mut().zip(&wakes) {
        let waker = Waker::from(Arc::clone(wakes));
        assert!(
            sleep
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
    }
    let woken = || {
        wakes
            .iter()
            .map(|wakes| wakes.0.load(Ordering::SeqCst))
            .sum::<u64>()
    };
    for now in 2..1_000 {
        sink.tick(at(now));
    }
    assert_eq!(woken(), 0);
    sink.tick(at(10_009));
    assert_eq!(woken(), 10);
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(
        sleeps[9].as_mut().poll(&mut context),
        Poll::Ready(Woke::Reached)
    );
}

/// rclcpp #1239, #3122, `gazebo_ros_pkgs` #1211: between two samples no time passes, and dt is zero.
#[test]
fn bug_10_time_passes_between_the_samples_of_a_slow_source_on_request() {
    let world = VirtualTime::manual();
    let hub = extrapolating(&world.base());
    let (sink, clock) = (hub.sink(SourceId::named("10 Hz")), hub.clock());
    hub.activate();
    for sample in 0..3 {
        sink.tick(at_ms(1_000 + sample * 100));
        world.advance(ms(if sample < 2 { 100 } else { 0 }));
    }
    for _ in 0..9 {
        let before = clock.now();
        world.advance(ms(10));
        assert_eq!(clock.now() - before, ms(10));
    }
}

/// rclcpp #595, #940, `ros_comm` #354: the first message is a jump of fifty years, and timeouts fire.
#[test]
fn bug_11_the_first_sample_starts_time_and_fires_no_timeout() {
    let (world, _hub, sink, clock) = sim();
    assert!(!clock.started());
    let (_far, far) = watch(&clock, beyond(1, -1));
    let (_changes, changes) = watch(&clock, JumpThreshold::new().clock_change());
    let timer = Timer::builder(&clock, secs(5)).build().unwrap();
    let sleeper = clock.clone();
    let timeout = world.spawn("timeout", move || sleeper.sleep_for(secs(5)));
    world.settle();
    let start = 1_700_000_000 * SEC;
    sink.tick(at(start));
    world.settle();
    assert!(!timeout.is_finished() && !timer.is_ready());
    assert_eq!(timer.time_until_next(), Some(secs(5)));
    assert!(deltas(&far).is_empty());
    let changes = changes.take();
    assert!(
        changes
            .iter()
            .all(|(_, jump)| jump.change == ClockChange::RosTimeStarted)
    );
    sink.tick(at(start + 5 * SEC));
    assert!(timeout.join().unwrap().is_reached());
    assert!(timer.is_ready());
}

/// rclcpp #1758: the switch happens some time later, in a subscription.
#[test]
fn bug_12_the_switch_to_sim_time_is_done_when_the_call_returns() {
    let (_world, hub, sink, clock) = sim();
    sink.tick(at(5));
    for _ in 0..100 {
        hub.deactivate();
        assert!(clock.now() > at(SEC));
        hub.activate();
        assert_eq!(clock.now(), at(5));
    }
}

/// ros2/ros2 #1080, rclpy #1490, apollo #15763: the system clock is set back, and timers stop for that long.
#[test]
fn bug_13_a_system_clock_that_is_set_back_stops_no_timer_and_no_sleep() {
    let world = VirtualTime::manual();
    let clock = Clock::<System>::on(&world.base());
    let timer = Timer::builder(&clock, secs(1)).build().unwrap();
    let (_handle, log) = watch(&clock, JumpThreshold::DISRUPTIVE);
    let sleeper = clock.clone();
    let sleeping = world.spawn("sleeper", move || sleeper.sleep_for(secs(10)));
    world.settle();
    world.advance(secs(1));
    assert!(timer.try_tick().is_some());
    world.step_system_clock(secs(-86_400));
    assert_eq!(deltas(&log), [-86_400 * SEC]);
    world.advance(secs(1));
    assert!(timer.try_tick().is_some());
    world.advance(secs(8));
    assert!(sleeping.join().unwrap().is_reached());
}

/// rclcpp #3122: a clock that follows the simulation and is not set by NTP.
#[test]
fn bug_14_a_clock_can_be_sim_aware_and_monotonic() {
    let world = VirtualTime::manual();
    let hub = TimeHub::new(&world.base());
    let clock = Clock::<RosSteady>::on(&world.base());
    hub.attach(&clock);
    let (before, sleeper) = (clock.now(), clock.clone());
    let sleeping = world.spawn("sleeper", move || sleeper.sleep_until(before + secs(1)));
    world.settle();
    world.step_system_clock(secs(-3_600));
    world.advance(secs(1));
    assert!(sleeping.join().unwrap().is_reached());
    hub.activate();
    hub.sink(SourceId::named("sim")).tick(at(9));
    assert_eq!(clock.now().nanos(), 9);
}

/// rclcpp #2507, #525, `sick_scan_xd` #460: `now - duration` throws when it goes below zero.
#[test]
fn bug_16_negative_time_is_valid() {
    let early = at_ms(500) - secs(1);
    assert_eq!(early, at_ms(-500));
    assert_eq!(early + secs(1), at_ms(500));
    assert_eq!(at_ms(0) - early, ms(500));
    let wire = WireTime::try_from(early).unwrap();
    assert_eq!((wire.sec, wire.nanosec), (-1, 500_000_000));
    let clock = overridden(early);
    assert_eq!(clock.now(), early);
}

/// rclcpp `Duration::from_seconds`, geometry2 #770: undefined behaviour for values out of range.
#[test]
fn bug_17_seconds_out_of_range_give_none() {
    for bad in [
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
        1e300,
        -1e300,
        9.3e9,
    ] {
        assert_eq!(Duration::try_from_secs_f64(bad), None, "{bad}");
        assert_eq!(Time::<Ros>::try_from_secs_f64(bad), None, "{bad}");
    }
    assert_eq!(Duration::try_from_secs_f64(0.1), Some(ms(100)));
}

/// rclcpp `Rate`: after an overrun or a jump back every iteration takes work plus period.
#[test]
fn bug_18_a_rate_runs_on_time_after_an_overrun_and_after_a_jump_back() {
    let world = VirtualTime::new();
    let _inside = world.enter();
    let player = ControlledClock::new(&world.base(), at_ms(10_000));
    player.resume().unwrap();
    let clock = player.clock();
    let mut rate = Rate::new(clock, ms(100)).unwrap();
    let mut work = |millis: i64| {
        let begin = clock.now();
        assert!(clock.sleep_for(ms(millis)).is_reached());
        rate.sleep().unwrap();
        (clock.now() - begin).nanos() / 1_000_000
    };
    assert_eq!(
        [20, 350, 20, 20, 20].map(&mut work),
        [100, 350, 50, 100, 100]
    );
    player.jump(clock.now() - ms(700)).unwrap();
    assert_eq!([20, 20, 20].map(&mut work), [100, 100, 100]);
}

/// rcl `timer.c`: after a change of the clock a timer waits for the part that has passed already.
#[test]
fn bug_19_a_timer_keeps_its_remainder_when_the_source_changes() {
    for (elapsed, left) in [(10, 90), (90, 10), (0, 100)] {
        let world = VirtualTime::manual();
        let clock = Clock::<Ros>::on(&world.base());
        let timer = Timer::builder(&clock, ms(100)).build().unwrap();
        world.advance(ms(elapsed));
        clock.activate_override();
        assert_eq!(timer.time_until_next(), Some(ms(left)));
        clock.set_override(at_ms(77));
        assert_eq!(timer.time_until_next(), Some(ms(left)));
        clock.deactivate_override();
        assert_eq!(timer.time_until_next(), Some(ms(left)));
    }
}

/// rcl #1089.
#[test]
fn bug_20_a_timer_ticks_once_per_sim_stamp() {
    let clock = overridden(at_ms(1_000));
    let timer = Timer::builder(&clock, ms(10)).build().unwrap();
    for now in [1_010, 1_035, 1_040] {
        clock.set_override(at_ms(now));
        assert_eq!(
            timer.try_tick().map(|tick: Tick<Ros>| tick.actual),
            Some(at_ms(now))
        );
        clock.set_override(at_ms(now));
        assert_eq!(timer.try_tick(), None);
    }
}

/// rclcpp #2480, rcl #687, #1146: the time left on the simulation's clock is waited for on the wall's.
#[test]
fn bug_21_a_timer_on_sim_time_waits_for_sim_time_only() {
    let (world, _hub, sink, clock) = sim();
    sink.tick(at_ms(1_000));
    let timer = Timer::builder(&clock, ms(10)).build().unwrap();
    let ticking = world.spawn("timer", move || timer.wait());
    world.settle();
    world.advance(secs(60));
    world.settle();
    assert!(!ticking.is_finished());
    sink.tick(at_ms(1_010));
    assert!(ticking.join().unwrap().is_ok());
}

/// geometry2 #606 and `ros/geometry2` #341: buffers are cleared for a step back of 85 us, or not at all.
#[test]
fn bug_23_a_consumer_chooses_how_far_back_is_a_jump() {
    let (_world, _hub, sink, clock) = sim();
    sink.tick(at_ms(1_000));
    let (_buffer, cleared) = watch(&clock, JumpThreshold::new().backward(ms(-1)).unwrap());
    for now in [
        1_000_000_000 - 85_000,
        1_000_000_000,
        2_000_000_000,
        500_000_000,
    ] {
        sink.tick(at(now));
    }
    assert_eq!(deltas(&cleared), [-1_500_000_000]);
}

/// rosbag2: 92.5 % of conversions with doubles come back early, and the player loops.
#[test]
fn bug_26_a_sleep_of_the_player_is_never_early_at_any_rate() {
    for rate in [0.1, 1.0 / 3.0, 0.7, 1.1, 3.3, 1e-5, 12_345.678] {
        let world = VirtualTime::new();
        let _inside = world.enter();
        let player = ControlledClock::new(&world.base(), at(1_700_000_000 * SEC));
        player.set_rate(PlaybackRate::new(rate).unwrap()).unwrap();
        player.resume().unwrap();
        for step in 1..200 {
            let until = at(1_700_000_000 * SEC + step * 9_999_991);
            assert!(player.sleep_until(until, Duration::MAX).is_reached());
            assert!(player.now() >= until);
            // One instant earlier it was not reached yet.
            let late = (player.now() - until).nanos() as f64;
            assert!(late <= rate.max(1.0), "{late} ns late at {rate}");
        }
    }
}

/// rosbag2 polls every 100 ms while paused.
#[test]
fn bug_27_a_wait_on_a_paused_clock_does_not_wake_up() {
    let world = VirtualTime::manual();
    let player = ControlledClock::new(&world.base(), at_ms(0));
    let wakes: Arc<Wakes> = Arc::default();
    let waker = Waker::from(Arc::clone(&wakes));
    let mut context = Context::from_waker(&waker);
    let sleep = player.clock().sleep_until_async(at_ms(1));
    let mut sleep = Box::pin(sleep);
    assert!(sleep.as_mut().poll(&mut context).is_pending());
    world.advance(secs(86_400));
    assert_eq!(wakes.0.load(Ordering::SeqCst), 0);
    player.resume().unwrap();
    assert!(sleep.as_mut().poll(&mut context).is_pending());
    world.advance(ms(1));
    assert_eq!(
        sleep.as_mut().poll(&mut context),
        Poll::Ready(Woke::Reached)
    );
}

/// rcl #1335: timers start one period after their creation, and there is no other choice.
#[test]
fn bug_29_a_timer_may_start_at_a_point_after_a_delay_or_once() {
    let world = VirtualTime::new();
    let clock = Clock::<Steady>::on(&world.base());
    let _inside = world.enter();
    let begin = clock.now();
    let builder = || Timer::builder(&clock, ms(100));
    let at_a_point = builder().first_at(begin + ms(130)).build().unwrap();
    let at_once = builder().first_after(Duration::ZERO).build().unwrap();
    let once = builder().first_after(ms(40)).oneshot().build().unwrap();
    let wait = |timer: &Timer<Steady>| {
        let tick = timer.wait();
        tick.map(|tick| (tick.expected - begin).nanos() / 1_000_000)
    };
    assert_eq!(wait(&at_once), Ok(0));
    assert_eq!(wait(&once), Ok(40));
    assert_eq!(wait(&once), Err(Woke::Cancelled));
    assert_eq!(wait(&at_once), Ok(100));
    assert_eq!([wait(&at_a_point), wait(&at_a_point)], [Ok(130), Ok(230)]);
}
