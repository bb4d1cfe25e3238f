import { describe, expect, it } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import { kindOf } from '../../../constructs/control-plane/certificates/kinds.ts';
import { planAll } from '../../../constructs/control-plane/certificates/overview.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { planRows, policyRows, usersOf } from '../../../reconciler/cli/certificate-plan.ts';
import { type CertificateState, certificateStates } from '../../../reconciler/cli/certificate-states.ts';
import { describeCertificates } from '../../../reconciler/cli/certificate-table.ts';
import { certificates as command } from '../../../reconciler/cli/certificates.ts';
import { plainView } from '../../../reconciler/cli/view.ts';
import { caCertificates } from '../../../reconciler/phases/ca-certificates.ts';
import { certificates, etcdCertificates } from '../../../reconciler/phases/certificates.ts';
import { kubeconfig } from '../../../reconciler/phases/kubeconfig.ts';
import { bundle } from '../../../reconciler/pki/pem.ts';
import { type SecretObject, valueOf } from '../../../reconciler/pki/secret.ts';
import { markedView } from '../../support/marked-view.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { hostedCluster, hostedControlPlaneUid, now, scopeOf } from '../../support/scope.ts';

const day = 24 * 3600_000;
const endpoint = { host: '192.0.2.10', port: 6443 };
const konnectivityEndpoint = { host: '192.0.2.10', port: 8132 };
const facts: Partial<Facts> = { endpoint, konnectivityEndpoint };
const base64 = (text: string) => Buffer.from(text).toString('base64');

async function issued(): Promise<MemoryObjects> {
  const management = new MemoryObjects();
  const scope = scopeOf(management, { facts });
  for (const phase of [caCertificates, etcdCertificates, certificates, kubeconfig]) await phase.run(scope);
  return management;
}

/** The problems by Secret, without those that are ok. */
function problemsOf(management: MemoryObjects, when: { days?: number; host?: string } = {}): Record<string, string> {
  const states = statesOf(management, when);
  return Object.fromEntries(
    states.filter(({ state }) => state !== 'ok').map(({ planned, state }) => [planned.secret, state]),
  );
}

function statesOf(management: MemoryObjects, { days = 0, host = endpoint.host } = {}): CertificateState[] {
  const secrets = management.objects.filter(({ kind }) => kind === Secret.kind) as unknown as SecretObject[];
  return certificateStates({
    planned: planAll(hostedCluster(), { endpoint: { ...endpoint, host }, konnectivityEndpoint }),
    secrets: new Map(secrets.map((object) => [object.metadata.name, object])),
    uid: hostedControlPlaneUid,
    now: new Date(now.getTime() + days * day),
  });
}

const secretIn = (management: MemoryObjects, name: string) =>
  management.get<StoredObject & SecretObject>(Secret, name)!;

function put(management: MemoryObjects, name: string, data: Readonly<Record<string, string>>): void {
  const object = secretIn(management, name);
  management.put({ ...object, data: { ...object.data, ...data } });
}

describe('hcp certificates', () => {
  it('finds no problem with certificates that were just issued', async () => {
    expect(problemsOf(await issued())).toEqual({});
  });

  it('names the reason for which the policy will reissue one', async () => {
    const management = await issued();
    management.remove(secretIn(management, 'c1-scheduler'));
    expect(problemsOf(management, { host: 'api.example.org' })).toEqual({
      'c1-scheduler': 'due: Missing',
      'c1-apiserver': expect.stringMatching(/^due: OtherHosts: c1-apiserver is not valid for exactly /),
    });
  });

  it('reports overdue renewals, apart from those of CAs', async () => {
    const problems = problemsOf(await issued(), { days: 220 });
    expect(Object.keys(problems)).toContain('c1-kubeconfig');
    expect(Object.keys(problems)).not.toContain('c1-ca');
    expect(new Set(Object.values(problems).map((text) => text.split(': ')[1]))).toEqual(new Set(['RenewalDue']));
  });

  it('reports a CA that is being replaced, and one that is unusable', async () => {
    const management = await issued();
    const certificateOf = (name: string) => valueOf(secretIn(management, name), 'tls.crt') ?? '';
    put(management, 'c1-ca', { 'tls.crt': base64(bundle(certificateOf('c1-ca'), certificateOf('c1-etcd'))) });
    const { metadata, ...rest } = secretIn(management, 'c1-etcd');
    management.put({ ...rest, metadata: { ...metadata, name: 'c1-etcd-next' } });
    put(management, 'c1-proxy', { 'tls.key': base64('no key') });
    expect(problemsOf(management)).toMatchObject({
      'c1-ca': 'being replaced: 2 CAs are trusted',
      'c1-etcd': 'its successor is in Secret c1-etcd-next',
      'c1-proxy': 'unusable: Secret c1-proxy contains no readable certificate and key in tls.crt and tls.key',
    });
  });

  it('checks certificates that a user provides only for whether they can be used', async () => {
    const management = await issued();
    for (const name of ['c1-etcd', 'c1-kubeconfig']) {
      const object = secretIn(management, name);
      management.put({ ...object, metadata: { ...object.metadata, ownerReferences: [] } });
    }
    expect(problemsOf(management)).toEqual({
      'c1-etcd': 'ok, provided by a user',
      'c1-kubeconfig': 'ok, provided by a user',
    });
  });
});

describe('the table of certificates', () => {
  /** A row without the spaces between its columns. */
  const rowOf = (lines: readonly string[], secret: string) =>
    lines.find((line) => line.startsWith(`${secret} `))?.replaceAll(/ +/g, ' ');
  const tableAfter = (management: MemoryObjects, days: number) => {
    const later = new Date(now.getTime() + days * day);
    return describeCertificates(hostedCluster(), statesOf(management, { days }), { now: later }, markedView);
  };

  it('is painted by what a person has to do', async () => {
    const management = await issued();
    management.remove(secretIn(management, 'c1-scheduler'));
    put(management, 'c1-proxy', { 'tls.key': base64('no key') });
    const lines = tableAfter(management, 0);
    expect(lines[0]).toMatch(/^<heading>SECRET<\/heading> /);
    expect(rowOf(lines, 'c1-apiserver')).toMatch(/Z <ok>ok<\/ok>$/);
    expect(rowOf(lines, 'c1-scheduler')).toMatch(/<waits>due: Missing<\/waits>$/);
    expect(rowOf(lines, 'c1-proxy')).toMatch(/<fails>unusable: .*<\/fails>$/);
  });

  it('has the day in red on which a certificate has expired', async () => {
    const management = await issued();
    expect(rowOf(tableAfter(management, 364), 'c1-kubeconfig')).toMatch(/ \d\S+Z \S+Z <waits>due: RenewalDue: /);
    expect(rowOf(tableAfter(management, 366), 'c1-kubeconfig')).toMatch(
      / <fails>\d\S+Z<\/fails> \S+Z <fails>due: RenewalDue: /,
    );
  });
});

describe('the printed plan', () => {
  it('has every certificate and the service account key', () => {
    const [heading, ...rows] = planRows();
    expect(rows).toHaveLength(Object.keys(kindOf).length + 1);
    expect(rows.every(({ length }) => length === heading?.length)).toBe(true);
    expect(rows.find(([secret]) => secret === 'CLUSTER-kubeconfig')?.slice(0, 5)).toEqual([
      'CLUSTER-kubeconfig',
      'cluster CA',
      'O=system:masters, CN=kubernetes-admin',
      'client',
      '1 year',
    ]);
  });

  it('gives system:masters only to the break-glass administrator', () => {
    const omnipotent = planRows().filter((row) => row.some((cell) => cell.includes('system:masters')));
    expect(omnipotent.map(([secret]) => secret)).toEqual(['CLUSTER-kubeconfig']);
  });

  it.each<[number | undefined, RegExp, RegExp]>([
    [undefined, /kube-scheduler \(verifies the API server, since 1\.36\)/, /kube-scheduler \(.*, before 1\.36\)/],
    [36, /kube-scheduler \(verifies the API server\)/, /^(?!.*kube-scheduler)/],
    [35, /^(?!.*kube-scheduler)/, /kube-scheduler \(verifies the API server\)/],
  ])(
    'lists the components that reload a new CA, and those that are restarted: minor %o',
    (minor, reloaded, restarted) => {
      const [reloadedBy, restartedForIt] = usersOf('clusterCA', minor);
      expect(reloadedBy).toMatch(reloaded);
      expect(restartedForIt).toMatch(restarted);
    },
  );

  it('names each reason of the policy once', () => {
    const reasons = policyRows().map(([reason]) => reason);
    expect(new Set(reasons).size).toBe(reasons.length);
    expect(reasons).toEqual(expect.arrayContaining(['Missing', 'OtherCA', 'RenewalDue']));
  });

  it('needs no management cluster', () => {
    const lines: string[] = [];
    const terminal = {
      ...plainView,
      print: (line: string) => void lines.push(line),
      tell: () => {},
      confirm: async () => undefined,
    };
    command.offline?.({ positionals: [], values: { plan: true } })?.(terminal);
    expect(lines.some((line) => line.startsWith('CLUSTER-apiserver '))).toBe(true);
    expect(lines.some((line) => line.startsWith('RenewalDue '))).toBe(true);
  });
});
