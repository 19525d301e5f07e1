"""Times of sensors and lineage as tables."""

import numpy as np
import pytest

import timeloom

SECOND = 10**9


def test_a_sensor_clock_finds_offset_and_drift():
    clock = timeloom.SensorClock(ticks_per_second=1_000_000, counter_bits=32)
    assert clock.report() is None
    assert clock.health == "unsynced"
    random = np.random.default_rng(3)
    wrap = 2**32
    first = wrap - 10_000_000
    for number in range(3000):
        ticks = (first + number * 10_000) % wrap
        # The device is 20 ppm slow; packets take 0.2 ms at least.
        host = 7 * SECOND + round(number * 10_000_000 * (1 + 20e-6))
        clock.push(ticks, host + 200_000 + int(random.exponential(300_000)))
    report = clock.report()
    assert report.samples == 3000
    assert clock.health == "locked"
    assert report.drift_ppm == pytest.approx(20, abs=3)
    converted = clock.convert((first + 2999 * 10_000) % wrap)
    truth = 7 * SECOND + round(2999 * 10_000_000 * (1 + 20e-6))
    assert abs(converted.time - 200_000 - truth) < 100_000
    assert converted.lower is None
    assert converted.upper >= truth
    clock.push_request(50 * SECOND, (first + 4300 * 10_000) % wrap, 50 * SECOND + 1_000_000)
    assert clock.convert((first + 4300 * 10_000) % wrap).lower is not None
    clock.restart()
    assert clock.convert(5) is None


def test_samples_that_make_no_sense_are_errors():
    with pytest.raises(timeloom.SyncError, match="estimator"):
        timeloom.SensorClock(estimator="guess")
    with pytest.raises(ValueError, match="max_skew_ppm"):
        timeloom.SensorClock(max_skew_ppm=-1)
    clock = timeloom.SensorClock(counter_bits=8)
    with pytest.raises(timeloom.SyncError, match="8 bits"):
        clock.push(256, 0)
    with pytest.raises(timeloom.SyncError, match="before"):
        clock.push_request(10, 1, 5)


@pytest.fixture(scope="module")
def sensor_bag(tmp_path_factory):
    """A device whose stamps are 5 s behind, and packets that are late by up to 3 ms."""
    path = tmp_path_factory.mktemp("sync") / "bag"
    random = np.random.default_rng(5)
    with timeloom.Writer(path) as writer:
        writer.add_topic("/device", "sensor_msgs/msg/TimeReference")
        for number in range(500):
            truth = 100 * SECOND + number * 20_000_000
            device = truth - 5 * SECOND
            stamp = {"sec": device // SECOND, "nanosec": device % SECOND}
            delay = int(random.exponential(600_000))
            writer.write("/device", {"header": {"stamp": stamp}}, truth + delay)
    return timeloom.open(path)


def test_a_fit_is_nearer_to_the_truth_than_the_arrival(sensor_bag):
    fit = timeloom.sync_fit(sensor_bag, "/device")
    assert fit.rows == 500
    truth = (fit["device_ns"] + 5 * SECOND).astype("M8[ns]")
    error = np.abs((fit["time"] - truth).astype("i8"))
    late = np.abs((fit["arrived"] - truth).astype("i8"))
    assert np.median(error) * 5 < np.median(late)
    assert (fit["upper"] >= truth).all()
    assert np.isnat(fit["lower"]).all()
    assert set(fit["health"]) <= {"unsynced", "converging", "locked"}
    frame = fit.to_pandas()
    assert list(frame.columns) == list(fit)
    causal = timeloom.sync_fit(sensor_bag, "/device", causal=True)
    assert not np.array_equal(causal["time"], fit["time"])


def test_a_fit_names_what_is_wrong(sensor_bag, bag):
    with pytest.raises(timeloom.SyncError, match="header.stamp") as error:
        timeloom.sync_fit(bag, "/chatter")
    assert "name the field" in error.value.hint
    with pytest.raises(timeloom.UnknownField, match="has no field no.field\nhint: the fields are header, time_ref, source"):
        timeloom.sync_fit(sensor_bag, "/device", "no.field")
    with pytest.raises(timeloom.DataLost, match="messages of /device have no times: .* does not fit a counter of 8 bits"):
        timeloom.sync_fit(sensor_bag, "/device", "header.stamp.nanosec", counter_bits=8)
    with pytest.raises(timeloom.UnknownTopic):
        timeloom.sync_fit(sensor_bag, "/other")


@pytest.fixture(scope="module")
def pipeline_bag(tmp_path_factory):
    """/camera → /detections with equal stamps; every fifth image is dropped by the detector."""
    path = tmp_path_factory.mktemp("trace") / "bag"
    topics = {"/camera": 0, "/detections": 20_000_000}
    with timeloom.Writer(path) as writer:
        messages = []
        for number in range(100):
            stamp = SECOND + number * 100_000_000
            for topic, delay in topics.items():
                if topic == "/camera" or number % 5:
                    messages.append((stamp + delay, topic, stamp))
        for topic in topics:
            writer.add_topic(topic, "geometry_msgs/msg/PointStamped")
        for log_time, topic, stamp in sorted(messages):
            header = {"stamp": {"sec": stamp // SECOND, "nanosec": stamp % SECOND}}
            writer.write(topic, {"header": header}, log_time)
    return timeloom.open(path)


def test_a_trace_has_paths_latencies_and_losses(pipeline_bag):
    trace = timeloom.trace(pipeline_bag, ["/detections"], links="stamp")
    paths = trace.paths.to_pandas()
    assert list(paths["path"]) == [["/camera", "/detections"]]
    assert paths["best_p50"][0].total_seconds() == pytest.approx(0.02, rel=0.05)
    assert paths["count"][0] == 80
    losses = trace.losses
    assert (losses["source"][0], losses["published"][0], losses["completed"][0]) == ("/camera", 100, 80)
    outcomes = [name for name in losses if name not in ("target", "source", "published")]
    assert sum(losses[name][0] for name in outcomes) == 100
    hops = {(start, end): total for start, end, total in
            zip(trace.hops["from"], trace.hops["to"], trace.hops["total_p50"])}
    assert hops["/camera", "/detections"].astype("i8") == pytest.approx(20_000_000, rel=0.05)
    flows = trace.flows
    assert flows.rows == 80
    assert flows["latency"].astype("i8") == pytest.approx(20_000_000, rel=0.05)
    assert flows["path"][0] == ["/camera", "/detections"]
    assert any("stamps" in note for note in trace.notes)
    assert trace.deadlines.rows == 0


def test_a_trace_is_a_table_of_arrow(pipeline_bag):
    pyarrow = pytest.importorskip("pyarrow")
    trace = timeloom.trace(pipeline_bag, links="stamp")
    table = trace.paths.to_arrow()
    assert table.schema.field("best_p99").type == pyarrow.duration("ns")
    assert pyarrow.table(trace.losses).num_rows == trace.losses.rows


def test_a_trace_without_links_says_so(pipeline_bag):
    with pytest.raises(timeloom.ReaderError, match="no tags") as error:
        timeloom.trace(pipeline_bag, links="tags")
    assert "stamps" in error.value.hint
    with pytest.raises(ValueError, match="links is one of"):
        timeloom.trace(pipeline_bag, links="magic")


def test_tables_without_rows_have_their_columns(tmp_path, pipeline_bag):
    timeloom.Writer(tmp_path / "empty").close()
    none, some = (timeloom.trace(it, links="stamp") for it in (timeloom.open(tmp_path / "empty"), pipeline_bag))
    assert none.paths.rows == none.hops.rows == none.losses.rows == none.deadlines.rows == 0
    for name in ("paths", "hops", "losses"):
        assert list(getattr(none, name)) == list(getattr(some, name)), name
    assert none.paths["best_p50"].dtype == some.paths["best_p50"].dtype
    assert none.deadlines["limit"].dtype == "m8[ns]"
