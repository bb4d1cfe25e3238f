import { z } from 'zod';
import { Duration } from './duration.ts';
import { CronFields, TimeZone } from './schedule.ts';

/** When the operator may replace pods although no user has requested it. */
export const Maintenance = z.object({
  window: z
    .object({
      start: CronFields.describe('When the window opens: five cron fields such as "0 2 * * 6".'),
      duration: Duration.describe('How long the window stays open, such as 4h.'),
    })
    .optional()
    .describe('While the window is open, the control plane adopts the newest release revision.'),
  timeZone: TimeZone.optional().describe('IANA time zone of the window, such as Europe/Berlin; UTC when unset.'),
});
export type Maintenance = z.output<typeof Maintenance>;
