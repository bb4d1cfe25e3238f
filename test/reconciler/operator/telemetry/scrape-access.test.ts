import { describe, expect, it } from 'vitest';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import { ScrapeAccess } from '../../../../reconciler/operator/telemetry/scrape-access.ts';

/** Reviews that answer as they are told, and counts them. */
class Reviews implements Pick<KubeClient, 'create'> {
  readonly asked: string[] = [];
  users: Readonly<Record<string, { readonly allowed: boolean }>> = {
    'good-token': { allowed: true },
    idle: { allowed: false },
  };
  answers = true;
  wait: Promise<void> = Promise.resolve();

  create = (async ({ kind, spec }: { kind: string; spec: { token?: string; user?: string } }) => {
    this.asked.push(kind);
    await this.wait;
    if (!this.answers) throw new Error('the API server is away');
    if (kind === 'TokenReview') {
      const known = this.users[spec.token ?? ''];
      return { status: known ? { authenticated: true, user: { username: spec.token } } : { authenticated: false } };
    }
    return { status: { allowed: this.users[spec.user ?? '']?.allowed ?? false } };
  }) as unknown as KubeClient['create'];
}

function setUp() {
  const reviews = new Reviews();
  let elapsed = 0;
  const errors: unknown[] = [];
  const access = new ScrapeAccess(reviews, { elapsed: () => elapsed }, (error) => errors.push(error));
  const result = (token: string) => access.resultOn(`Bearer ${token}`);
  return { reviews, access, errors, result, pass: (ms: number) => (elapsed += ms) };
}

describe('who may read the metrics', () => {
  it.each([
    ['a user who may get the path', 'Bearer good-token', 200],
    ['a user who may not', 'Bearer idle', 403],
    ['a token that no API server knows', 'Bearer invented', 401],
    ['no token', undefined, 401],
    ['a password', 'Basic Z29vZC10b2tlbg==', 401],
  ])('%s', async (_, header, expected) => {
    expect(await setUp().access.resultOn(header)).toBe(expected);
  });

  it('is asked once a minute for each token', async () => {
    const { reviews, result, pass } = setUp();
    expect([await result('good-token'), await result('good-token')]).toEqual([200, 200]);
    expect(reviews.asked).toEqual(['TokenReview', 'SubjectAccessReview']);
    reviews.users = {};
    pass(59_000);
    expect(await result('good-token')).toBe(200);
    pass(2_000);
    expect(await result('good-token')).toBe(401);
  });

  it('is not known while the API server does not answer, and known as soon as it does', async () => {
    const { reviews, errors, result } = setUp();
    reviews.answers = false;
    expect(await result('good-token')).toBe(503);
    expect(errors).toEqual([new Error('the API server is away')]);
    reviews.answers = true;
    expect(await result('good-token')).toBe(200);
  });

  it('keeps the API server busy with few unknown clients at a time', async () => {
    const { reviews, result } = setUp();
    let go = (): void => {};
    reviews.wait = new Promise((resolve) => (go = resolve));
    const unknown = Array.from({ length: 50 }, (_, index) => result(`invented-${index}`));
    expect(reviews.asked.length).toBeLessThan(10);
    go();
    expect(new Set(await Promise.all(unknown))).toEqual(new Set([401, 503]));
  });

  it('remembers a bounded number of clients', async () => {
    const { reviews, result } = setUp();
    await result('good-token');
    for (let index = 0; index < 100; index++) await result(`invented-${index}`);
    const before = reviews.asked.length;
    await result('invented-99');
    expect(reviews.asked).toHaveLength(before);
    await result('good-token');
    expect(reviews.asked).toHaveLength(before + 2);
  });
});
