import { describe, expect, it } from 'vitest';
import { hostsOf, tooLong } from '../../../../constructs/control-plane/exposure/hosts.ts';
import { clusterOf } from '../../../support/rendered-cluster.ts';

const specOf = (exposure: object) => clusterOf({ spec: { exposure } }).spec;
const ingress = { apiHost: 'api.example.org', konnectivityHost: 'agents.example.org' };

describe('the host names of a control plane', () => {
  it.each<[string, object, string, ReturnType<typeof hostsOf>]>([
    [
      'are derived from the first one behind a Gateway',
      { gateway: { namespace: 'n', name: 'g' } },
      'c1.team.example.org',
      {
        api: 'c1.team.example.org',
        konnectivity: 'konnectivity.c1.team.example.org',
        tunnel: 'tunnel.c1.team.example.org',
      },
    ],
    [
      'are specified for an Ingress, except for the tunnel',
      { ingress },
      'api.example.org',
      { api: 'api.example.org', konnectivity: 'agents.example.org', tunnel: 'tunnel.api.example.org' },
    ],
    [
      'are all specified for an Ingress if the user sets them',
      { ingress: { ...ingress, tunnelHost: 'pods.example.org' } },
      'api.example.org',
      { api: 'api.example.org', konnectivity: 'agents.example.org', tunnel: 'pods.example.org' },
    ],
    ['do not exist for an exposure strategy with its own address', { loadBalancer: {} }, '192.0.2.10', undefined],
  ])('%s', (_, exposure, host, hosts) => {
    expect(hostsOf(specOf(exposure), host)).toEqual(hosts);
  });
});

describe('names that DNS does not allow', () => {
  const label = 'a'.repeat(63);
  const hosts = (api: string) => ({ api, konnectivity: `konnectivity.${api}`, tunnel: `tunnel.${api}` });
  const whole = (length: number) => `${label}.${label}.${label}.${'b'.repeat(length - 192)}`;

  it('do not include names with at most 63 characters between dots and 253 in total', () => {
    expect(tooLong(hosts('c1.team.example.org'))).toBeUndefined();
    expect(tooLong(hosts(`${label}.example.org`))).toBeUndefined();
    expect(tooLong(hosts(whole(253 - 'konnectivity.'.length)))).toBeUndefined();
  });

  it('are reported with their lengths', () => {
    expect(tooLong(hosts(`a${label}.example.org`))).toContain(`"a${label}" has 64 characters, and DNS allows 63`);
    const longest = whole(254 - 'konnectivity.'.length);
    expect(tooLong(hosts(longest))).toBe(
      `the host name konnectivity.${longest} has 254 characters, and DNS allows 253`,
    );
  });
});
