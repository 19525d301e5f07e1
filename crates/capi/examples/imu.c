/* An IMU with a 32-bit counter of microseconds: its clock is 80 ppm fast, and packets are late by up to 2 ms. */
#include <inttypes.h>
#include <stdio.h>

#include "timeloom.h"

/* What the device counted at a time of the host. */
static uint64_t counted(int64_t host_ns) {
    double device_us = (double)host_ns / 1000.0 * (1.0 + 80e-6);
    /* It has been running for a while: the counter wraps after 3 s of this example. */
    return ((uint64_t)device_us + (UINT64_C(1) << 32) - 3000000) & UINT64_C(0xffffffff);
}

int main(void) {
    TimeloomOptions options = timeloom_options();
    options.ticks_per_second = 1000000;
    options.counter_bits = 32;
    TimeloomClock *clock = timeloom_clock_new(&options);
    if (clock == NULL) {
        fprintf(stderr, "no such clock\n");
        return 1;
    }
    uint32_t random = 1;
    int64_t worst_ns = 0;
    TimeloomTime time;
    for (int64_t sample = 1; sample <= 6000; sample++) {
        /* 100 Hz; in a driver these are the packet's counter and timeloom_steady_now(). */
        int64_t measured_ns = sample * 10000000;
        random = random * 1664525u + 1013904223u;
        int64_t arrived_ns = measured_ns + 100000 + (int64_t)(random >> 11);
        TimeloomStatus status = timeloom_clock_push(clock, counted(measured_ns), arrived_ns);
        if (status == TIMELOOM_STATUS_OK) {
            status = timeloom_clock_convert(clock, counted(measured_ns), &time);
        }
        if (status != TIMELOOM_STATUS_OK) {
            fprintf(stderr, "sample %" PRId64 ": %s\n", sample, timeloom_status_text(status));
            return 1;
        }
        /* The smallest delay of a packet, 100 us, cannot be seen in packets. */
        int64_t error_ns = time.steady_ns - 100000 - measured_ns;
        if (error_ns < 0) {
            error_ns = -error_ns;
        }
        if (sample > 3000 && error_ns > worst_ns) {
            worst_ns = error_ns;
        }
        if (measured_ns > time.upper_ns) {
            fprintf(stderr, "sample %" PRId64 " is outside of its bounds\n", sample);
            return 1;
        }
    }
    TimeloomReport report;
    timeloom_clock_report(clock, &report);
    printf("samples %" PRIu64 ", drift %.1f ppm, health %d, epoch %u\n", report.samples, report.drift_ppm,
           (int)report.newest.health, report.newest.epoch);
    printf("worst error after 30 s: %s than 100 us; arrivals are up to 2000 us late\n",
           worst_ns < 100000 ? "less" : "more");
    timeloom_clock_free(clock);
    return worst_ns < 100000 ? 0 : 1;
}
