/**
 * Every object is reconciled at this interval, for changes that no watch reports: most objects of users, and whatever
 * a bug missed.
 */
export const resyncMs = 10 * 60_000;

/**
 * How long an answer is valid that no watch keeps current. It is slightly shorter than the resync interval, so that
 * each resync asks again.
 */
export const answersKeptMs = 0.9 * resyncMs;
