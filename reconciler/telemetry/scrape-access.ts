import { createHash } from 'node:crypto';
import { fieldManager } from '../../constructs/api/group.ts';
import { metricsPath } from '../../constructs/cluster/provider-names.ts';
import { SubjectAccessReview, TokenReview } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { KubeObject } from '../kube/object.ts';

/** The status of HTTP for a scrape: allowed, without a valid token, not permitted, or not decided now. */
export type ScrapeResult = 200 | 401 | 403 | 503;

/** How long a result counts: a token that is withdrawn reads the metrics for that long. */
const keptMs = 60_000;
/** Clients with invented tokens neither fill the memory nor keep the API server busy. */
const mostKept = 100;
const mostAtOnce = 4;

/** What decides, at the management API server. */
type Reviewer = Pick<KubeClient, 'create'>;

interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

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

  /** @param onError called when the API server does not decide */
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
    const { authenticated, user = {} } = await this.#ask<{
      readonly authenticated?: boolean;
      readonly user?: UserInfo;
    }>(TokenReview, { token });
    if (authenticated !== true) return 401;
    const { username, uid, groups, extra } = user;
    const { allowed } = await this.#ask<{ readonly allowed?: boolean }>(SubjectAccessReview, {
      user: username,
      uid,
      groups,
      extra,
      nonResourceAttributes: { path: metricsPath, verb: 'get' },
    });
    return allowed === true ? 200 : 403;
  }

  async #ask<T>({ apiVersion, kind }: typeof TokenReview, spec: object): Promise<Partial<T>> {
    const review: KubeObject & { readonly spec: object; readonly status?: Partial<T> } = await this.#reviewer.create(
      { apiVersion, kind, metadata: { name: '' }, spec },
      { fieldManager },
    );
    return review.status ?? {};
  }

  #keep(key: string, result: ScrapeResult): void {
    this.#known.delete(key);
    this.#known.set(key, { result, until: this.#clock.elapsed() + keptMs });
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostKept && oldest !== undefined) this.#known.delete(oldest);
  }
}
