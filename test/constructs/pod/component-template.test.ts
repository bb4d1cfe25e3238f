import { describe, expect, it } from 'vitest';
import type { HostedControlPlaneSpec } from '../../../constructs/api/hosted-control-plane.ts';
import { parseHostedControlPlane } from '../../../constructs/api/parse-manifest.ts';
import { HostedControlPlaneComponentTemplate } from '../../../constructs/api/resources.ts';
import { withComponentTemplate } from '../../../constructs/pod/component-template.ts';
import { hostedControlPlaneObject, spec as sampleSpec } from '../../support/scope.ts';

const { apiVersion, kind } = HostedControlPlaneComponentTemplate;
const templateOf = (spec: unknown) => ({ apiVersion, kind, metadata: { name: 'shared', namespace: 'team' }, spec });

function combine(own: object, template: unknown) {
  const spec = { ...sampleSpec, componentTemplateRef: { name: 'shared' }, ...own };
  const parsed = parseHostedControlPlane(hostedControlPlaneObject({ spec }));
  if (!parsed.valid) throw new Error(parsed.message);
  return withComponentTemplate(parsed.hostedControlPlane, (name) => (name === 'shared' ? template : undefined));
}

/** The spec of a HostedControlPlane together with a template. @throws when they cannot be combined */
function together(own: object, template: object): HostedControlPlaneSpec {
  const combined = combine(own, templateOf(template));
  if (!combined.valid) throw new Error(combined.message);
  return combined.hostedControlPlane.spec;
}

const pool = (value: string) => ({ nodeSelector: { pool: value } });
const resources = (cpu: string, memory: string) => ({ requests: { cpu, memory } });

describe('a component template', () => {
  it('adds to each component what the HostedControlPlane does not set', () => {
    const all = {
      deployment: { defaults: pool('a'), apiServer: pool('b'), controllerManager: pool('c'), scheduler: pool('d') },
      etcd: pool('e'),
    };
    expect(together({}, all)).toMatchObject(all);
    expect(together({}, all)).toMatchObject({ replicas: 2, etcd: { replicas: 3, autoGrow: true } });
  });

  it.each<[what: string, own: object, shared: object, both: object]>([
    ['labels', { labels: { a: '1', b: '1' } }, { labels: { b: '2', c: '2' } }, { labels: { a: '1', b: '1', c: '2' } }],
    [
      'arguments',
      { args: { v: '4' } },
      { args: { v: '2', profiling: 'true' } },
      { args: { v: '4', profiling: 'true' } },
    ],
    [
      'parts of an image',
      { image: { tag: 'mine' } },
      { image: { registry: 'a.example.org', tag: 'theirs' } },
      { image: { registry: 'a.example.org', tag: 'mine' } },
    ],
    [
      'amounts of resources',
      { resources: { requests: { cpu: '2' } } },
      { resources: resources('1', '1Gi') },
      { resources: resources('2', '1Gi') },
    ],
    [
      'variables, by their names',
      { env: [{ name: 'A', value: '1' }] },
      {
        env: [
          { name: 'A', value: '2' },
          { name: 'B', value: '2' },
        ],
      },
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
      },
    ],
    [
      'tolerations, whose difference is not their duration',
      { tolerations: [{ key: 'a', effect: 'NoExecute', tolerationSeconds: 1 }] },
      {
        tolerations: [
          { key: 'a', effect: 'NoExecute' },
          { key: 'b', operator: 'Exists' },
        ],
      },
      {
        tolerations: [
          { key: 'a', effect: 'NoExecute', tolerationSeconds: 1 },
          { key: 'b', operator: 'Exists' },
        ],
      },
    ],
    [
      'the class of priority',
      { priorityClassName: 'mine' },
      { priorityClassName: 'theirs' },
      { priorityClassName: 'mine' },
    ],
    ['the pull policy', {}, { imagePullPolicy: 'Always' }, { imagePullPolicy: 'Always' }],
  ])('and the HostedControlPlane share %s, and that of the HostedControlPlane wins', (_, own, shared, both) => {
    for (const component of ['apiServer', 'controllerManager', 'scheduler']) {
      const of = (settings: object) => ({ deployment: { [component]: settings } });
      expect(together(of(own), of(shared))).toMatchObject(of(both));
    }
    expect(together({ etcd: own }, { etcd: shared })).toMatchObject({ etcd: both });
  });

  it('gives API servers mounts, the konnectivity server and audit, unless they have the same themselves', () => {
    const mount = (path: string, name: string) => ({ path, configMap: { name } });
    const audit = (level: string) => ({ policy: { rules: [{ level }] } });
    const konnectivity = { args: { v: '4' }, image: { tag: 'theirs' } };
    const shared = {
      mounts: { a: mount('/a', 'theirs'), b: mount('/b', 'theirs') },
      konnectivity,
      audit: audit('Metadata'),
    };
    const own = { mounts: { a: mount('/a', 'mine') }, konnectivity: { image: { tag: 'mine' } }, audit: audit('None') };
    const apiServerWith = (apiServer: object) =>
      together({ deployment: { apiServer } }, { deployment: { apiServer: shared } }).deployment.apiServer;
    expect(apiServerWith({})).toMatchObject(shared);
    expect(apiServerWith(own)).toMatchObject({
      mounts: { a: mount('/a', 'mine'), b: mount('/b', 'theirs') },
      konnectivity: { args: { v: '4' }, image: { tag: 'mine' } },
      audit: audit('None'),
    });
  });

  it('changes nothing else, and nothing of a HostedControlPlane that refers to none', () => {
    const spec = { ...sampleSpec, componentTemplateRef: { name: 'shared' } };
    const parsed = parseHostedControlPlane(hostedControlPlaneObject({ spec }));
    expect(parsed).toMatchObject({ valid: true, hostedControlPlane: { spec: together({}, { etcd: {} }) } });
    const unused = { componentTemplateRef: undefined };
    expect(combine(unused, templateOf({ etcd: pool('a') }))).not.toMatchObject({
      hostedControlPlane: { spec: { etcd: pool('a') } },
    });
  });

  it.each<[why: string, own: object, template: unknown, message: RegExp]>([
    [
      'it does not exist',
      { componentTemplateRef: { name: 'missing' } },
      templateOf({}),
      /^spec\.componentTemplateRef: HostedControlPlaneComponentTemplate missing does not exist: create it, or name another one$/,
    ],
    [
      'it is invalid',
      {},
      templateOf({ deployment: { scheduler: { priorityClassName: 1 } } }),
      /HostedControlPlaneComponentTemplate shared cannot be used: spec\.deployment\.scheduler\.priorityClassName: /,
    ],
    [
      'it has variables that etcd ignores',
      {},
      templateOf({ etcd: { env: [{ name: 'ETCD_NAME', value: 'a' }] } }),
      /cannot be used: spec\.etcd\.env: etcd ignores variables that begin with ETCD_/,
    ],
    [
      'it would replace a label of the operator',
      {},
      templateOf({ deployment: { apiServer: { labels: { 'app.kubernetes.io/component': 'x' } } } }),
      /cannot be used: spec\.deployment\.apiServer\.labels/,
    ],
    [
      'both together ask for more than they allow',
      { deployment: { scheduler: { resources: { requests: { cpu: '2' } } } } },
      templateOf({ deployment: { scheduler: { resources: { limits: { cpu: '1' } } } } }),
      /^spec\.componentTemplateRef: together with HostedControlPlaneComponentTemplate shared: spec\.deployment\.scheduler\.resources\.requests: a request cannot be larger/,
    ],
  ])('is refused when %s', (_, own, template, message) => {
    expect(combine(own, template)).toMatchObject({ valid: false, message: expect.stringMatching(message) });
  });
});
