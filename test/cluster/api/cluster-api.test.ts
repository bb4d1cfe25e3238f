import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostedControlPlaneCRD } from '../../../constructs/api/crd.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import { minimalSpec } from '../../constructs/api/admission-cases.ts';
import {
  created,
  hostedControlPlane,
  type InstalledApi,
  planes,
  startInstalledApi,
  uniqueName,
} from './installed-api.ts';
import { type Answer, isRecord, type Requests } from './requests.ts';

let installed: InstalledApi;
let api: Requests;

beforeAll(async () => {
  installed = await startInstalledApi();
  api = installed.requests;
});

afterAll(() => installed?.stop());

/** Every field that the topology controller may apply to a control plane. */
const topologySpec = {
  ...minimalSpec,
  replicas: 3,
  rollout: { after: '2026-11-21T12:00:00Z' },
  machineTemplate: {
    metadata: { labels: { team: 'a' }, annotations: { note: 'b' } },
    spec: {
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'XMachineTemplate', name: 'x' },
      readinessGates: [{ conditionType: 'Synced', polarity: 'Negative' }],
      taints: [{ key: 'a', value: 'b', effect: 'NoSchedule', propagation: 'Always' }],
      deletion: { nodeDrainTimeoutSeconds: 1, nodeVolumeDetachTimeoutSeconds: 2, nodeDeletionTimeoutSeconds: 3 },
    },
  },
};

const applyAsTopology = (name: string) =>
  api.send(`${planes}/${name}`, {
    method: 'PATCH',
    content: hostedControlPlane(topologySpec, name),
    applyAs: 'capi-topology',
  });

function resourceVersionOf({ body }: Answer): unknown {
  return isRecord(body['metadata']) ? body['metadata']['resourceVersion'] : undefined;
}

function generationOf({ body }: Answer): unknown {
  return isRecord(body['metadata']) ? body['metadata']['generation'] : undefined;
}

describe('a HostedControlPlane under Cluster API', () => {
  it('accepts every field that the topology controller may apply, and does not change when they are applied again', async () => {
    const name = uniqueName('twice');
    const first = await applyAsTopology(name);
    expect(first).toMatchObject({ code: 201, body: { spec: topologySpec } });
    // Until the operator has reported, the next write stores the default of the status, too.
    const second = await applyAsTopology(name);
    const third = await applyAsTopology(name);
    expect([second.code, third.code]).toEqual([200, 200]);
    expect([generationOf(second), generationOf(third)]).toEqual([1, 1]);
    expect(resourceVersionOf(third)).toBe(resourceVersionOf(second));
  });

  it('keeps the endpoint of the provider when the topology controller applies again', async () => {
    const name = uniqueName('shared');
    await applyAsTopology(name);
    const controlPlaneEndpoint = { host: 'api.example.org', port: 6443 };
    const content = hostedControlPlane({ controlPlaneEndpoint }, name);
    expect(await api.send(`${planes}/${name}`, { method: 'PATCH', content, applyAs: fieldManager })).toMatchObject({
      code: 200,
    });
    expect(await applyAsTopology(name)).toMatchObject({
      code: 200,
      body: { spec: { ...topologySpec, controlPlaneEndpoint } },
    });
  });

  it('scales through the scale subresource', async () => {
    const selector = 'app.kubernetes.io/component=api-server';
    const path = await created(api, minimalSpec, { replicas: 2, selector });
    const scale = await api.get(`${path}/scale`);
    expect(scale).toMatchObject({ body: { spec: { replicas: 2 }, status: { replicas: 2, selector } } });
    await api.send(`${path}/scale`, { method: 'PUT', content: { ...scale.body, spec: { replicas: 3 } } });
    expect(await api.get(path)).toMatchObject({ body: { spec: { replicas: 3 } } });
  });
});

describe('a HostedControlPlane on a real API server', () => {
  it('ignores a status that does not come through the status subresource', async () => {
    const path = await created(api, minimalSpec);
    await api.send(path, { method: 'PATCH', content: { status: { ready: true } } });
    expect((await api.get(path)).body['status']).toEqual({ observedGeneration: -1 });
  });

  it('accepts the whole status of the contract', async () => {
    const status = {
      initialization: { controlPlaneInitialized: true },
      externalManagedControlPlane: true,
      version: 'v1.33.1',
      versions: [
        { version: 'v1.33.1', replicas: 2 },
        { version: 'v1.34.2', replicas: 1 },
      ],
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      upToDateReplicas: 1,
      etcdVolumeSize: '1Gi',
      observedGeneration: 2,
      conditions: [
        {
          type: 'Available',
          status: 'True',
          reason: 'Available',
          message: '',
          lastTransitionTime: '2026-11-21T12:00:00Z',
          observedGeneration: 2,
        },
      ],
    };
    const path = await created(api, minimalSpec, status);
    expect((await api.get(path)).body['status']).toEqual(status);
  });

  it('is listed with the columns of the reference provider', async () => {
    const { body } = await api.get(planes, 'application/json;as=Table;v=v1;g=meta.k8s.io');
    expect(body['columnDefinitions']).toMatchObject([
      { name: 'Name' },
      ...hostedControlPlaneCRD.spec.versions[0].additionalPrinterColumns.map(({ name }) => ({ name })),
    ]);
  });
});
