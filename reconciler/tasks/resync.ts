/** Everything is looked at this often, for what no watch tells: objects of users, and whatever a bug missed. */
export const resyncMs = 10 * 60_000;

/** How long an answer that no watch keeps current is taken to hold: a little less, so that each look asks anew. */
export const answersKeptMs = 0.9 * resyncMs;
