import type { k8s } from 'cdk8s-plus-30';
import type { FanOutConfig } from './fan-out-config.ts';
import type { Audit } from '../../../api/audit-spec.ts';
import type { HostedCluster } from '../../../cluster/cluster.ts';
import { definedOnly } from '../../../cluster/defined-only.ts';
import { namesOf } from '../../../cluster/names.ts';
import { ports } from '../../../cluster/ports.ts';
import { imageReference, type Image } from '../../../cluster/versions.ts';
import { container, healthzProbes, projected } from '../../../pod/component.ts';
import { type Flag, renderFlags } from '../../../pod/flags.ts';
import { type AuditTarget, auditTargets, fanOutTokenKey, tokenKeyOf, usesFanOut } from './targets.ts';

const directory = '/etc/audit';
/** Key of the ConfigMap with the configuration of the fan-out, and the name of its file. */
export const fanOutFile = 'fan-out.json';

/** How Node runs it: what waits for receivers is bounded apart from the heap. */
export const fanOutNodeFlags: readonly string[] = ['--max-old-space-size=96'];

/** Every flag that the operator sets on the fan-out, sorted, with its reason. */
export const fanOutFlags: readonly Flag[] = [
  ['config', `${directory}/${fanOutFile}`, 'mode and receivers'],
  ['health-port', String(ports.auditHealth), 'probes and metrics, on the address of the pod'],
  ['port', String(ports.audit), 'records, on the loopback address'],
  ['token-file', `${directory}/${fanOutTokenKey}`, 'the token that the API server must send'],
];

/** The configuration file of the fan-out. Tokens are in files beside it. */
export function fanOutConfig(mode: Audit['mode'], targets: readonly AuditTarget[]): string {
  const config: FanOutConfig = {
    mode,
    targets: targets.map((target) => ({
      server: target.server,
      ...definedOnly({
        certificateAuthority: target.certificateAuthority,
        tokenFile: target.token && `${directory}/${tokenKeyOf(target)}`,
      }),
    })),
  };
  return JSON.stringify(config);
}

/**
 * The container that sends the records of the API server beside it to several receivers; none for a single one. As a
 * sidecar it starts before the API server and ends after it, so that the last records have a way out.
 */
export function fanOut(cluster: HostedCluster): k8s.Container[] {
  const settings = cluster.spec.deployment.apiServer.audit?.webhook;
  if (!usesFanOut(auditTargets(cluster))) return [];
  const sidecar = container({
    name: 'audit-webhook',
    image: imageReference(cluster.spec, fanOutImage, settings?.image),
    command: ['/usr/local/bin/node', ...fanOutNodeFlags, '/app/audit.js'],
    args: renderFlags(fanOutFlags, settings?.args),
    ports: { 'audit-health': ports.auditHealth },
    probes: healthzProbes('audit-health'),
    requests: { cpu: '10m', memory: '96Mi' },
    settings,
    volumeMounts: [{ name: 'audit-webhook', mountPath: directory, readOnly: true }],
  });
  return [{ ...sidecar, restartPolicy: 'Always' }];
}

/** The volume of {@link fanOut}. */
export function fanOutVolumes(cluster: HostedCluster): k8s.Volume[] {
  const targets = auditTargets(cluster);
  if (!usesFanOut(targets)) return [];
  const { audit, auditTokens } = namesOf(cluster.name);
  const keys = [fanOutTokenKey, ...targets.filter(({ token }) => token).map(tokenKeyOf)];
  return [
    projected('audit-webhook', [
      { configMap: audit, items: { [fanOutFile]: fanOutFile } },
      { secret: auditTokens, items: Object.fromEntries(keys.map((key) => [key, key])) },
    ]),
  ];
}

/**
 * The image of the audit fan-out, which `npm run image` packs beside that of the operator. The second part of the tag is the
 * digest of the sources, in `reconciler/programs/audit-fan-out/` and `fan-out-config.ts`: a release of the operator that does not change
 * them restarts no API server. Raise the first part to ship the same program with a newer Node.
 */
export const fanOutImage: Image = {
  registry: 'localhost',
  repository: 'hosted-control-plane/audit',
  tag: '1-561f09350ef7',
};

/** The same in another registry, which HostedControlPlanes name in `imageRegistry`. */
export function auditImageIn(registry: string): string {
  return imageReference({ imageRegistry: registry }, fanOutImage, undefined);
}
