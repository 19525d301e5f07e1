/* The clock of a sensor on the clock of the host. Made by cbindgen from crates/capi/src; see the README there. */

#ifndef TIMELOOM_H
#define TIMELOOM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The result of a call.
typedef enum {
  // All is well.
  TIMELOOM_STATUS_OK = 0,
  // A pointer is null.
  TIMELOOM_STATUS_NULL_POINTER = 1,
  // A counter value has more bits than the counter, or a time is out of range.
  TIMELOOM_STATUS_OUT_OF_RANGE = 2,
  // An answer came before its request.
  TIMELOOM_STATUS_ANSWER_BEFORE_REQUEST = 3,
  // Nothing can be converted before the first sample.
  TIMELOOM_STATUS_UNSYNCED = 4,
  // A sample that contradicts itself.
  TIMELOOM_STATUS_BAD_SAMPLE = 5,
} TimeloomStatus;

// The quality of a time.
typedef enum {
  // No sample has been seen in this epoch.
  TIMELOOM_HEALTH_UNSYNCED = 0,
  // The first seconds of an epoch.
  TIMELOOM_HEALTH_CONVERGING = 1,
  // As good as it gets.
  TIMELOOM_HEALTH_LOCKED = 2,
  // Far beyond the newest sample: the error grows with the distance.
  TIMELOOM_HEALTH_HOLDOVER = 3,
  // Samples contradict the estimate: look at `sigma_ns`.
  TIMELOOM_HEALTH_DEGRADED = 4,
} TimeloomHealth;

// The estimation method.
typedef enum {
  // The most likely lower envelope of delays: the best in nearly every case.
  TIMELOOM_ESTIMATOR_ENVELOPE = 0,
  // The hull of the smallest delays with a bounded change of rate.
  TIMELOOM_ESTIMATOR_PSLE = 1,
  // Two hulls that take turns.
  TIMELOOM_ESTIMATOR_HULL = 2,
} TimeloomEstimator;

// The clock of a device as the host sees it. Used by one thread at a time.
typedef struct TimeloomClock TimeloomClock;

// Counter and limits of a device. Begin with `timeloom_options`.
typedef struct {
  // Ticks of the counter in a second: 1000000000 for nanoseconds.
  uint64_t ticks_per_second;
  // The width of the counter, from 1 to 64: it wraps to zero after its largest value.
  uint32_t counter_bits;
  // The estimator: a `TimeloomEstimator`.
  uint32_t estimator;
  // The clocks never differ by more, in ppm.
  double max_skew_ppm;
  // The rate of the clocks never changes faster, in ppm per minute.
  double max_drift_ppm_per_minute;
  // A stamp is at most this much earlier than what it stamps, in nanoseconds; 0 for a tick, and 5000 at least.
  int64_t stamp_grain_ns;
  // No packet takes less than this, in nanoseconds; it is taken off all results.
  int64_t least_delay_ns;
} TimeloomOptions;

// A device time on the host's steady clock.
typedef struct {
  // The time, in nanoseconds of the steady clock.
  int64_t steady_ns;
  // The standard deviation, apart from the smallest delay.
  int64_t sigma_ns;
  // The truth is not earlier; `INT64_MIN` if nothing is known (only requests show it).
  int64_t lower_ns;
  // The truth is not later; `INT64_MAX` if nothing is known.
  int64_t upper_ns;
  // The quality of the time.
  TimeloomHealth health;
  // Times of one epoch never go back; a clock that jumped begins the next.
  uint32_t epoch;
} TimeloomTime;

// The state of a clock.
typedef struct {
  // The newest device time, on the host's steady clock.
  TimeloomTime newest;
  // Host minus device time, in nanoseconds of the steady clock.
  int64_t offset_ns;
  // Growth of the offset, in ppm: positive if the device's clock is slow.
  double drift_ppm;
  // Samples that were taken in.
  uint64_t samples;
  // Of these, samples that contradicted all others and were left out.
  uint64_t outliers;
  // Samples with the device stamp of the one before.
  uint64_t duplicates;
  // Samples older than the newest of their kind.
  uint64_t late;
} TimeloomReport;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes a clock that knows nothing yet; null if there is no such counter or the limits are not positive. Give it back
// with `timeloom_clock_free`.
//
// # Safety
//
// `options` is null or points to options.
TimeloomClock *timeloom_clock_new(const TimeloomOptions *options);

// Gives a clock back; null is fine.
//
// # Safety
//
// `clock` is null or came from `timeloom_clock_new` and is not used afterwards.
void timeloom_clock_free(TimeloomClock *clock);

// Takes a packet that the device sent by itself: the counter value of the event and when the packet arrived, in
// nanoseconds of the steady clock. Samples come in the order of their arrival.
//
// # Safety
//
// `clock` is null or a clock that no other thread uses now.
TimeloomStatus timeloom_clock_push(TimeloomClock *clock,
                                   uint64_t ticks,
                                   int64_t arrived_ns);

// Takes a request for the device's time and its answer: when it was sent, the counter value, and when the answer
// arrived. Only requests bound times from below.
//
// # Safety
//
// `clock` is null or a clock that no other thread uses now.
TimeloomStatus timeloom_clock_push_request(TimeloomClock *clock,
                                           int64_t sent_ns,
                                           uint64_t ticks,
                                           int64_t arrived_ns);

// The host time of a counter value near the newest one. Within an epoch, a later value never gives an earlier time.
//
// # Safety
//
// `clock` is null or a clock that no other thread uses now; `time` is null or points to room for the result.
TimeloomStatus timeloom_clock_convert(TimeloomClock *clock,
                                      uint64_t ticks,
                                      TimeloomTime *time);

// Offset, drift, health and counters.
//
// # Safety
//
// `clock` is null or a clock that no other thread uses now; `report` is null or points to room for the result.
TimeloomStatus timeloom_clock_report(const TimeloomClock *clock,
                                     TimeloomReport *report);

// Forgets everything and begins a new epoch: the device was restarted. A restart that is not reported is found in the
// samples, a little later.
//
// # Safety
//
// `clock` is null or a clock that no other thread uses now.
TimeloomStatus timeloom_clock_restart(TimeloomClock *clock);

// Nanoseconds in 64 bits, and the limits that hold for quartz clocks.
TimeloomOptions timeloom_options(void);

// The words for a `TimeloomStatus`; a text that is never freed.
const char *timeloom_status_text(uint32_t status);

// Now, in nanoseconds of the steady clock (`CLOCK_MONOTONIC`): what samples are stamped with.
int64_t timeloom_steady_now(void);

// A steady time on the system clock (`CLOCK_REALTIME`) as it is set now, in nanoseconds since 1970: the stamp of a ROS
// message.
int64_t timeloom_system_from_steady(int64_t steady_ns);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TIMELOOM_H */
