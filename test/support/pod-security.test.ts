import type { V1Container, V1PodSpec, V1SecurityContext } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { restrictedViolations } from './pod-security.ts';

const container = {
  name: 'app',
  image: 'app',
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
} satisfies V1Container;
const pod = {
  containers: [container],
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
} satisfies V1PodSpec;

const withContainer = (change: Partial<V1Container>): V1PodSpec => ({
  ...pod,
  containers: [{ ...container, ...change }],
});
const withContext = (change: Partial<V1SecurityContext>): V1PodSpec =>
  withContainer({ securityContext: { ...container.securityContext, ...change } });

it('accepts a pod that meets every restriction', () => {
  expect(restrictedViolations(pod)).toEqual([]);
});

it.each<[what: string, pod: V1PodSpec]>([
  ['hostNetwork is true', { ...pod, hostNetwork: true }],
  ['hostPID is true', { ...pod, hostPID: true }],
  ['volume data is of type hostPath', { ...pod, volumes: [{ name: 'data', hostPath: { path: '/' } }] }],
  ['the pod runs as root', { ...pod, securityContext: { ...pod.securityContext, runAsUser: 0 } }],
  [
    'sysctl kernel.msgmax is set',
    { ...pod, securityContext: { ...pod.securityContext, sysctls: [{ name: 'kernel.msgmax', value: '1' }] } },
  ],
  ['container app may escalate its privileges', withContext({ allowPrivilegeEscalation: true })],
  ['container app is privileged', withContext({ privileged: true })],
  ['container app may run as root', { ...pod, securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }],
  ['container app has no seccomp profile', { ...pod, securityContext: { runAsNonRoot: true } }],
  ['container app does not drop all capabilities', withContext({ capabilities: {} })],
  ['container app adds SYS_ADMIN', withContext({ capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } })],
  ['container app has a host port', withContainer({ ports: [{ containerPort: 80, hostPort: 80 }] })],
  ['container app has an unmasked /proc', withContext({ procMount: 'Unmasked' })],
  ['container app is not confined by AppArmor', withContext({ appArmorProfile: { type: 'Unconfined' } })],
  ['container app has a SELinux identity of its own', withContext({ seLinuxOptions: { type: 'spc_t' } })],
  [
    'container app has a probe or hook with a host',
    withContainer({ livenessProbe: { httpGet: { host: '192.0.2.1', port: 80 } } }),
  ],
])('reports that %s', (violation, broken) => {
  expect(restrictedViolations(broken)).toEqual([violation]);
});
