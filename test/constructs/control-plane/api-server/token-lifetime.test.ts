import { describe, expect, it } from 'vitest';
import {
  longestTokenSecondsOf,
  tokenLifetimeFlags,
} from '../../../../constructs/control-plane/api-server/token-lifetime.ts';

const hour = 3600;
const year = 365 * 24 * hour;
const bound = (value: string, extend?: string) => ({
  'service-account-max-token-expiration': value,
  ...(extend ? { 'service-account-extend-token-expiration': extend } : {}),
});

describe('the longest token', () => {
  it.each<[string, Record<string, string> | undefined, number]>([
    ['lives for a year where nobody says anything', undefined, year],
    ['lives as long as the user allows', bound('20000h'), 20_000 * hour],
    ["is that of a pod where the user's bound is shorter, for kubelets' are extended to a year", bound('48h'), year],
    ['is the shortest of all where the bound is too short for an extension', bound('1h'), hour],
    ['is not extended where the user says so', bound('48h', 'false'), 48 * hour],
    ['lives for ever, as good as, without a bound', bound('0'), 2 ** 32],
  ])('%s', (_, args, seconds) => {
    expect(longestTokenSecondsOf(args)).toBe(seconds);
  });

  it('is bounded by a flag of ours unless the user sets it', () => {
    expect(tokenLifetimeFlags()).toHaveLength(1);
    expect(tokenLifetimeFlags(bound('0'))).toEqual([]);
  });
});
