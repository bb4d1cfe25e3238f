import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { defaultPlatformLists, type PlatformLists } from '../../../../constructs/cluster/platform-lists.ts';
import {
  type LiveExposure,
  withinPlatformLists,
} from '../../../../constructs/control-plane/exposure/within-platform-lists.ts';
import { overruledSettings } from '../../../../constructs/ineffective-settings.ts';
import { clusterOf, Rendered } from '../../../support/rendered-cluster.ts';

const hosts = { apiHost: 'api.example.org', konnectivityHost: 'k.example.org' };
const snippet = 'nginx.ingress.kubernetes.io/server-snippet';
const passthrough = 'nginx.ingress.kubernetes.io/ssl-passthrough';

const within = (exposure: object, lists: Partial<PlatformLists> = {}, live?: LiveExposure) =>
  withinPlatformLists(clusterOf({ spec: { exposure } }), { ...defaultPlatformLists, ...lists }, live);

describe('the way in of a control plane', () => {
  it('has the keys that TLS passthrough needs, whatever the list is', () => {
    const given = { ingress: { ...hosts, annotations: { [passthrough]: 'true' } } };
    const { spec, refusals } = within(given, { ingressAnnotations: ['!*'] });
    expect(refusals).toBeUndefined();
    expect(spec.exposure?.ingress?.annotations).toEqual({ [passthrough]: 'true' });
  });

  it('has no key that the platform does not allow, and a sentence names the key, not its value', () => {
    const annotations = { [passthrough]: 'true', [snippet]: 'return 200 "taken";' };
    const cluster = within({ ingress: { ...hosts, annotations } });
    expect(cluster.spec.exposure?.ingress?.annotations).toEqual({ [passthrough]: 'true' });
    const sentences = overruledSettings(cluster, {});
    expect(sentences).toEqual([
      `exposure.ingress.annotations: the platform does not allow ${snippet}, which has no effect unless it was there before: remove it, or let the platform add it to INGRESS_ANNOTATIONS of the operator`,
    ]);
  });

  it('has what the platform allows in addition', () => {
    const cluster = within(
      { ingress: { ...hosts, annotations: { [snippet]: '#' } } },
      { ingressAnnotations: [snippet] },
    );
    expect(cluster.spec.exposure?.ingress?.annotations).toEqual({ [snippet]: '#' });
  });

  it('keeps what it has, and takes no other value of it', () => {
    const key = 'metallb.universe.tf/allow-shared-ip';
    const cluster = within(
      { loadBalancer: { annotations: { [key]: 'new' }, loadBalancerClass: 'other' } },
      { loadBalancerClasses: ['fast'] },
      { annotations: { [key]: 'before' }, className: 'before' },
    );
    expect(cluster.spec.exposure?.loadBalancer).toMatchObject({
      annotations: { [key]: 'before' },
      loadBalancerClass: 'before',
    });
    expect(cluster.refusals).toHaveLength(2);
  });

  it('keeps nothing that its owner has removed', () => {
    const live = { annotations: { [snippet]: '#' }, className: 'before' };
    const { spec } = within({ ingress: { ...hosts, className: 'nginx' } }, {}, live);
    expect(spec.exposure?.ingress).toMatchObject({ className: 'nginx' });
    expect(spec.exposure?.ingress?.annotations).toBeUndefined();
  });

  it.each<[string, object, Partial<PlatformLists>, string]>([
    ['an Ingress', { ingress: { ...hosts, className: 'admin' } }, { ingressClasses: ['edge'] }, 'admin'],
    [
      'an Ingress, by an annotation',
      { ingress: { ...hosts, annotations: { 'kubernetes.io/ingress.class': 'admin' } } },
      { ingressClasses: ['edge'] },
      'the class in kubernetes.io/ingress.class',
    ],
    ['a load balancer', { loadBalancer: { loadBalancerClass: 'a/b' } }, { loadBalancerClasses: ['!*'] }, 'a/b'],
  ])('has no class of %s that the platform does not list', (_, exposure, lists, what) => {
    const cluster = within(exposure, lists);
    expect(cluster.refusals?.map(({ because }) => because).join()).toContain(`the platform does not allow ${what}`);
    expect(JSON.stringify(cluster.spec.exposure)).not.toContain('admin');
    expect(JSON.stringify(cluster.spec.exposure)).not.toContain('a/b');
    expect(within(exposure).refusals).toBeUndefined();
  });

  it('is rendered without what is refused', () => {
    const cluster = within({ loadBalancer: { annotations: { 'example.org/any': 'a' } } });
    const { exposure } = cluster.spec;
    expect(new Rendered({ spec: { exposure } }).object('Service', 's-c1').metadata.annotations).toBeUndefined();
  });

  it('of every sample, and of the Ingress that was written for k0smotron, is allowed by default', () => {
    const folder = 'test/clusters';
    const exposures = readdirSync(folder).flatMap((file) =>
      parseAllDocuments(readFileSync(`${folder}/${file}`, 'utf8')).flatMap((document): object[] => {
        const { kind, spec } = document.toJS() as { kind: string; spec: { exposure?: object } };
        return kind === 'HostedControlPlane' && spec.exposure ? [spec.exposure] : [];
      }),
    );
    expect(exposures.length).toBeGreaterThan(8);
    const seed = {
      ingress: { ...hosts, className: 'haproxy', annotations: { 'haproxy.org/ssl-passthrough': 'true' } },
    };
    expect([...exposures, seed].flatMap((exposure) => within(exposure).refusals ?? [])).toEqual([]);
  });
});
