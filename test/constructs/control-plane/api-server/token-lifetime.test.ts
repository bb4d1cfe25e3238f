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
    ['lives for a year by default', undefined, year],
    ['lives as long as the user allows', bound('20000h'), 20_000 * hour],
    ["lives for a year although the user's limit is shorter, because tokens of pods are extended", bound('48h'), year],
    ['lives as long as the limit if that is too short for an extension', bound('1h'), hour],
    ['is not extended if the user disables that', bound('48h', 'false'), 48 * hour],
    ['lives practically for ever without a limit', bound('0'), 2 ** 32],
  ])('%s', (_, args, seconds) => {
    expect(longestTokenSecondsOf(args)).toBe(seconds);
  });

  it('is limited by a flag of the provider unless the user sets it', () => {
    expect(tokenLifetimeFlags()).toHaveLength(1);
    expect(tokenLifetimeFlags(bound('0'))).toEqual([]);
  });
});
