import { createHash } from 'node:crypto';
import { metricsPath } from '../../../constructs/cluster/provider-names.ts';
import type { Clock } from '../../kube/clock.ts';
import { isAllowed, ownerOf, type Reviewer } from '../../clusters/dry-run/review.ts';

/** The status of HTTP for a scrape: allowed, without a valid token, not permitted, or not decided now. */
type ScrapeResult = 200 | 401 | 403 | 503;

/** How long a result counts: a token that is withdrawn reads the metrics for that long. */
const keptMs = 60_000;
/** Clients with invented tokens neither fill the memory nor keep the API server busy. */
const mostKept = 100;
const mostAtOnce = 4;

/**
 * Who may read the metrics, as in every controller of Cluster API: the owner of a token of the management cluster that has the
 * permission to `get` the path there. An error of the API server counts for no longer than it lasts.
 */
export class ScrapeAccess {
  readonly #reviewer: Reviewer;
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #known = new Map<string, { readonly result: ScrapeResult; readonly until: number }>();
  readonly #onError: (error: unknown) => void;
  #pending = 0;

  /** @param reviewer the management API server @param onError called when it does not decide */
  constructor(reviewer: Reviewer, clock: Pick<Clock, 'elapsed'>, onError: (error: unknown) => void) {
    this.#reviewer = reviewer;
    this.#clock = clock;
    this.#onError = onError;
  }

  /** @param authorization the header of the request */
  async resultOn(authorization: string | undefined): Promise<ScrapeResult> {
    const token = /^Bearer\s+(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return 401;
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#known.get(key);
    if (known && known.until > this.#clock.elapsed()) return known.result;
    if (this.#pending >= mostAtOnce) return 503;
    this.#pending += 1;
    try {
      const result = await this.#review(token);
      this.#keep(key, result);
      return result;
    } catch (error) {
      this.#onError(error);
      return 503;
    } finally {
      this.#pending -= 1;
    }
  }

  async #review(token: string): Promise<ScrapeResult> {
    const user = await ownerOf(token, this.#reviewer);
    if (!user) return 401;
    const what = { nonResourceAttributes: { path: metricsPath, verb: 'get' } };
    return (await isAllowed(user, what, this.#reviewer)) ? 200 : 403;
  }

  #keep(key: string, result: ScrapeResult): void {
    this.#known.delete(key);
    this.#known.set(key, { result, until: this.#clock.elapsed() + keptMs });
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostKept && oldest !== undefined) this.#known.delete(oldest);
  }
}
