import { writeFileSync } from 'node:fs';

/**
 * How much later than asked a timer of a testbed's program may fire, in nanoseconds, so that one interrupt serves several of them.
 * Linux' default is 50 µs. Each Go program has a thread that sleeps for 20 µs again and again while it works, which costs two
 * context switches and an interrupt. On a virtual machine these are expensive.
 */
export const timerSlackNs = 5_000_000;

/** Sets it for this process, and for all that it starts from now on: machines with their pods, and programs of tests. */
export function relaxTimers(): void {
  writeFileSync('/proc/self/timerslack_ns', String(timerSlackNs));
}
