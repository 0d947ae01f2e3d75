/**
 * The clock and the timers that go by it, as they are handed down from servers and clients to
 * everything that waits.
 *
 * @module
 */
import { type Clock, systemClock } from "./clock.ts";
import { TimerWheel } from "./timer_wheel.ts";

/** See the module. */
export interface Time {
  readonly clock: Clock;
  /** By the same clock. */
  readonly timers: TimerWheel;
}

/** The time of this process: one wheel for all that waits in it. */
export const SYSTEM_TIME: Time = { clock: systemClock, timers: new TimerWheel(systemClock) };
