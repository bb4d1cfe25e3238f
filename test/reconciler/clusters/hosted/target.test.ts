import type { SecretObject } from '../../../../imports/kubernetes.ts';
import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { Secret, Service } from '../../../../constructs/api/resources.ts';
import { HostedClients } from '../../../../reconciler/clusters/hosted/clients.ts';
import type { OpenApi } from '../../../../reconciler/clusters/hosted/connect.ts';
import { hostedTarget } from '../../../../reconciler/clusters/hosted/target.ts';
import { systemClock } from '../../../../reconciler/kube/clock.ts';
import { tooLarge } from '../../../../reconciler/kube/errors.ts';
import { pairOf } from '../../../../reconciler/pki/secret.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { MemoryApiServer } from '../../../support/memory-cluster/api-server.ts';
import { MemoryClient } from '../../../support/memory-cluster/client.ts';
import { administrator } from '../../../support/memory-cluster/users.ts';
import { memoryClusterOf } from '../../../support/loop/memory-cluster-of.ts';
import { completeCluster } from '../../../support/loop/scenario.ts';
import type { MemoryObjects } from '../../../support/memory-objects.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import { hostedCluster, now } from '../../../support/scope.ts';

const endpoint = { host: '192.0.2.10', port: 443 };
/** Handlers that do nothing. */
const handlers = { clock: systemClock, onChange: () => {}, onRevert: () => {}, onError: () => {} };
let complete: MemoryObjects;
beforeAll(async () => {
  complete = memoryClusterOf(await completeCluster());
});

const targetIn = (management: MemoryObjects, address = endpoint) =>
  hostedTarget(hostedCluster(), { ...knownFacts, endpoint: address }, management);

describe('the target of a hosted cluster', () => {
  it("is the address of its Service, with a verified server name and the operator's own identity", () => {
    const target = targetIn(complete);
    expect(target).toMatchObject({ service: { host: '10.1.2.3', port: 6443 }, serverName: 's-c1.team.svc', endpoint });
    expect(new X509Certificate(target.controller.certificate).subject).toBe('CN=hosted-control-plane-controller');
    const serving = pairOf(complete.get<SecretObject>(Secret, 'c1-apiserver'))?.certificate ?? '';
    expect(new X509Certificate(serving).checkHost(target.serverName)).toBe(target.serverName);
  });

  it('issues administrator certificates for ten minutes only, however long the target has been open', async () => {
    const target = targetIn(complete);
    const later = new Date(now.getTime() + 30 * 24 * 3600_000);
    const admin = new X509Certificate((await target.admin(later)).certificate);
    expect(admin.subject).toContain('O=system:masters');
    expect(Date.parse(admin.validTo) - later.getTime()).toBe(10 * 60_000);
    expect(Date.parse(admin.validFrom)).toBeLessThan(later.getTime());
    expect(admin.checkIssued(new X509Certificate(target.ca))).toBe(true);
  });

  it.each<[string, (management: MemoryObjects) => void]>([
    ['the Service', (management) => management.remove(management.get(Service, 's-c1')!)],
    ['the CA', (management) => management.remove(management.get(Secret, 'c1-ca')!)],
    [
      "the operator's identity",
      (management) => management.remove(management.get(Secret, 'c1-control-plane-controller')!),
    ],
  ])('names the cluster in its error without %s', (_, take) => {
    const management = complete.copy();
    take(management);
    expect(() => targetIn(management)).toThrow(
      'Service s-c1 or a Secret of cluster c1 was deleted during the reconcile',
    );
  });
});

describe('admission policies', () => {
  it.each([
    ['v1.36.1', 'LoadBalancer', 'v1'],
    ['v1.36.1', 'Policy', 'v1'],
    ['v1.35.1', 'LoadBalancer', undefined],
    ['v1.35.1', 'Policy', 'v1beta1'],
    ['v1.33.1', 'Proxy', undefined],
  ])(
    'of Kubernetes %s with in-cluster access by %s are watched in version %s',
    (version, inClusterAccess, expected) => {
      const { applied } = hostedTarget(hostedCluster({ version, inClusterAccess }), knownFacts, complete);
      const policies = applied.filter(({ resource }) => resource.kind === 'MutatingAdmissionPolicy');
      expect(policies.map(({ resource }) => resource.apiVersion)).toEqual(
        expected === undefined ? [] : [`admissionregistration.k8s.io/${expected}`],
      );
    },
  );
});

describe('clients of hosted clusters', () => {
  it('are opened once per cluster, and again when their target has changed', async () => {
    const clients = new HostedClients(handlers);
    const first = clients.get('team/a', targetIn(complete));
    expect(clients.get('team/a', targetIn(complete))).toBe(first);
    expect(clients.get('team/b', targetIn(complete))).not.toBe(first);
    const moved = clients.get('team/a', targetIn(complete, { ...endpoint, host: 'api.example.test' }));
    expect(moved).not.toBe(first);
    await clients.forget('team/a');
    const opened = clients.get('team/a', targetIn(complete));
    expect([first, moved]).not.toContain(opened);
    await clients.close();
  });

  it.each([
    ['works', async () => 'ok'],
    ['does not', () => Promise.reject(new Error('refused'))],
  ])('keep no connection to an endpoint that %s after it was probed', async (_, raw) => {
    const inUse: string[] = [];
    const probed: string[] = [];
    const open: OpenApi = ({ server }) => {
      inUse.push(server);
      return Object.assign(new MemoryClient(new MemoryApiServer(() => 0), administrator('prober')), {
        raw: (path: string) => {
          probed.push(`${server}${path}`);
          return raw();
        },
        close: async () => void inUse.splice(inUse.indexOf(server), 1),
      });
    };
    const clients = new HostedClients({ ...handlers, open });
    const client = clients.get('team/a', targetIn(complete));
    await client.readyThroughEndpoint().catch(() => {});
    expect(probed).toEqual(['https://192.0.2.10:443/readyz']);
    expect(inUse).toEqual(['https://10.1.2.3:6443']);
    await clients.close();
    expect(inUse).toEqual([]);
  });

  it('report once a minute that the lists of an API server are too large, not for each list', async () => {
    const clock = new ManualClock();
    const reports: string[] = [];
    const open: OpenApi = () =>
      Object.assign(new MemoryClient(new MemoryApiServer(() => 0), administrator('watcher')), {
        list: () => Promise.reject(tooLarge('the answer is larger than 16 MiB')),
      });
    const clients = new HostedClients({ ...handlers, clock, open, onChange: (key) => reports.push(key) });
    clients.get('team/a', targetIn(complete)).watch();
    await settled();
    expect(reports).toEqual(['team/a']);
    // The lists are tried again, each at a time of its own.
    await clock.advance(10 * 60_000);
    expect(reports.length).toBeGreaterThan(1);
    expect(reports.length).toBeLessThanOrEqual(11);
    await clients.close();
  });
});
