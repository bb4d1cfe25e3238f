import { describe, expect, it } from 'vitest';
import { fieldManager } from '../../../../constructs/api/group.ts';
import { changedByOthers, compareOwners } from '../../../../reconciler/cli/diff/field-owners.ts';
import type { Session } from '../../../../reconciler/cli/command.ts';
import { KubeError } from '../../../../reconciler/kube/errors.ts';
import type { ManagedFieldsEntry } from '../../../../reconciler/kube/object.ts';

const objectWith = (kind: string, ...managedFields: ManagedFieldsEntry[]) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'c1-x', namespace: 'team', managedFields },
});
const operators: ManagedFieldsEntry = { manager: fieldManager, fieldsV1: { 'f:spec': { 'f:replicas': {} } } };

describe('fields that others have set', () => {
  it.each<[string, string, ManagedFieldsEntry, string | undefined]>([
    [
      'the arguments of a container restart pods',
      'Deployment',
      {
        manager: 'kubectl-edit',
        fieldsV1: {
          'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"etcd"}': { 'f:args': {} } } } } },
        },
      },
      'rolling restart: spec.template.spec.containers[etcd].args by kubectl-edit',
    ],
    [
      'the number of pods, also by the subresource for it',
      'Deployment',
      { manager: 'kubectl', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
      'pods added or removed: spec.replicas by kubectl',
    ],
    [
      'a file of a ConfigMap',
      'ConfigMap',
      { manager: 'kubectl-edit', fieldsV1: { 'f:data': { 'f:etcd-0.yaml': {} } } },
      'hot reload: data.etcd-0.yaml by kubectl-edit',
    ],
    [
      'the rules of a policy',
      'NetworkPolicy',
      { manager: 'kubectl-edit', fieldsV1: { 'f:spec': { 'f:egress': {} } } },
      'no restart: spec.egress by kubectl-edit',
    ],
    [
      'a status',
      'Deployment',
      { manager: 'm', subresource: 'status', fieldsV1: { 'f:status': { 'f:x': {} } } },
      undefined,
    ],
    [
      'a status without its subresource',
      'Deployment',
      { manager: 'm', fieldsV1: { 'f:status': { 'f:x': {} } } },
      undefined,
    ],
    [
      'annotations and finalizers, which controllers of Kubernetes write',
      'Service',
      { manager: 'm', fieldsV1: { 'f:metadata': { 'f:finalizers': { 'v:"x"': {} } } } },
      undefined,
    ],
    [
      'what a step of the operator itself sets',
      'Deployment',
      { manager: `${fieldManager}-restore`, fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
      undefined,
    ],
  ])('%s', (_, kind, entry, expected) => {
    const [change] = changedByOthers(objectWith(kind, operators, entry));
    const { effect, fields = [], setBy = [] } = change ?? {};
    expect(change && `${effect}: ${fields.map(({ path }) => path).join(', ')} by ${setBy.join(', ')}`).toBe(expected);
  });
});

it('what a user may not read is told, and a kind that is not installed is nothing', async () => {
  const told: string[] = [];
  const owned = { ...objectWith('HostedControlPlane'), metadata: { name: 'c1-cp', namespace: 'team', labels: {} } };
  const client = {
    async list({ kind }: { kind: string }) {
      if (kind === 'HostedControlPlane') return { items: [owned] };
      if (kind === 'NetworkPolicy') throw new KubeError('list networkpolicies: forbidden', { code: 403 } as never);
      if (kind === 'CiliumNetworkPolicy') throw new KubeError('not found', { code: 404 } as never);
      return { items: [] };
    },
  };
  const terminal = { info: (line: string) => void told.push(line) };
  const session = { client, terminal, namespace: 'team' } as unknown as Session;
  expect(await compareOwners(session, 'c1-cp')).toEqual({ cluster: 'c1-cp', spec: [], objects: [] });
  expect(told).toEqual([expect.stringContaining('networkpolicies')]);
});
