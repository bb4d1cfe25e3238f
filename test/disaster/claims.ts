import type { Rebuilt } from './disaster.ts';

/** A property that must be kept, and how to detect that it is not. */
export interface Claim {
  readonly claim: string;
  /** The fault as a sentence; nothing if the claim is true. */
  readonly fault: (rebuilt: Rebuilt) => string | undefined;
}

/** Everything that a worker and its users may expect of a rebuild with the old identity. */
export const claims: readonly Claim[] = [
  {
    claim: 'the endpoint is the same',
    fault: ({ before, after }) => difference(before.endpoint.server, after.endpoint.server),
  },
  {
    claim: 'the CA is the same',
    fault: ({ before, after }) => difference(before.endpoint.certificateAuthority, after.endpoint.certificateAuthority),
  },
  {
    claim: 'the old kubeconfig writes, and each write that was acknowledged since is there',
    fault: ({ writes }) => missing(writes.lostSince),
  },
  {
    claim: 'each write that the backup holds is there',
    fault: ({ writes }) => missing(writes.lostOfBackup),
  },
  {
    claim: 'the kubelet is the same process with the same credentials',
    fault: ({ before, after }) =>
      difference(before.worker.kubelet, after.worker.kubelet) ??
      difference(before.worker.credentials, after.worker.credentials),
  },
  {
    claim: 'no container was restarted',
    fault: ({ before, after }) => {
      const now = new Set(after.worker.containers);
      const gone = before.worker.containers.filter((container) => !now.has(container));
      return gone.length > 0 ? `these are gone: ${gone.join(', ')}` : undefined;
    },
  },
  {
    claim: 'pods answered all the while',
    fault: ({ pages }) =>
      difference(pages.before.join('\n'), pages.meanwhile.join('\n')) ??
      difference(pages.before.join('\n'), pages.after.join('\n')),
  },
  {
    claim: 'a running pod reaches its API server, and its old token counts',
    fault: ({ pod }) => difference(rootCertificates, pod.asked.trim()) ?? difference(rootCertificates, pod.byOldToken),
  },
  {
    claim: 'Secrets, which are encrypted in etcd, can be read',
    fault: ({ sealed }) => difference(sealed.before, sealed.after),
  },
  {
    claim: 'a new pod runs, and its log can be read',
    fault: ({ newPod }) => difference('made after the rebuild', newPod),
  },
];

/** Objects of every namespace. */
const rootCertificates = 'configmap/kube-root-ca.crt';

function difference(before: string, after: string): string | undefined {
  return before === after ? undefined : `it was ${before} and is ${after}`;
}

function missing(numbers: readonly number[]): string | undefined {
  return numbers.length > 0 ? `these numbers are missing: ${numbers.join(', ')}` : undefined;
}
