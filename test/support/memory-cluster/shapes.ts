import { groupOf } from '../../../constructs/api/resources.ts';

/** How server-side apply merges a value. Without a known shape an object is `fields` and a list is `atomic`. */
export type Shape =
  /** Replaced as a whole by any manager that applies it. */
  | { readonly type: 'atomic' }
  /** A list of scalars, each with its own owners. */
  | { readonly type: 'set' }
  /** A list of objects that are identified by some of their fields. */
  | {
      readonly type: 'map';
      readonly keys: readonly string[];
      /** The value that the server fills in if a key is left out. */
      readonly defaults: Readonly<Record<string, string>>;
      readonly item: Shape;
    }
  /** An object, each of whose fields has its own owners. */
  | { readonly type: 'fields'; readonly of: Readonly<Record<string, Shape>> };

const atomic: Shape = { type: 'atomic' };
const set: Shape = { type: 'set' };

function fields(of: Readonly<Record<string, Shape>> = {}): Shape {
  return { type: 'fields', of };
}

function listBy(keys: string | readonly string[], of: Readonly<Record<string, Shape>> = {}): Shape {
  return { type: 'map', keys: [keys].flat(), defaults: { protocol: 'TCP' }, item: fields(of) };
}

/** References to Secrets, ConfigMaps and fields are objects that are only owned as a whole. */
const source = fields({ secretKeyRef: atomic, configMapKeyRef: atomic, fieldRef: atomic, resourceFieldRef: atomic });

const container = {
  ports: listBy(['containerPort', 'protocol']),
  env: listBy('name', { valueFrom: source }),
  volumeMounts: listBy('mountPath'),
  volumeDevices: listBy('devicePath'),
  resources: fields({ claims: listBy('name') }),
};

const pod = fields({
  containers: listBy('name', container),
  initContainers: listBy('name', container),
  volumes: listBy('name'),
  imagePullSecrets: { type: 'map', keys: ['name'], defaults: {}, item: atomic },
  hostAliases: listBy('ip'),
  topologySpreadConstraints: listBy(['topologyKey', 'whenUnsatisfiable'], { labelSelector: atomic }),
  nodeSelector: atomic,
  affinity: fields({
    nodeAffinity: fields({ requiredDuringSchedulingIgnoredDuringExecution: atomic }),
  }),
});

const conditions = listBy('type');
const metadata = fields({
  finalizers: set,
  ownerReferences: { type: 'map', keys: ['uid'], defaults: {}, item: atomic },
});

const workload = {
  spec: fields({ selector: atomic, template: fields({ spec: pod }) }),
  status: fields({ conditions }),
};

/** By `group/Kind`: the lists and objects that the operator writes and that are not merged by the default for their JSON type. */
const shapes: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  '/Pod': {
    spec: pod,
    status: fields({ conditions, podIPs: listBy('ip'), hostIPs: atomic }),
  },
  '/Service': {
    spec: fields({ selector: atomic, ports: listBy(['port', 'protocol']) }),
    status: fields({ conditions }),
  },
  '/ServiceAccount': { secrets: listBy('name') },
  '/PersistentVolumeClaim': {
    spec: fields({ selector: atomic, dataSource: atomic }),
    status: fields({ conditions }),
  },
  '/Node': { status: fields({ conditions, addresses: listBy('type') }) },
  'apps/Deployment': workload,
  'apps/DaemonSet': workload,
  'apps/StatefulSet': workload,
  'policy/PodDisruptionBudget': { spec: fields({ selector: atomic }), status: fields({ conditions }) },
  'networking.k8s.io/NetworkPolicy': { spec: fields({ podSelector: atomic }) },
  'networking.k8s.io/Ingress': { spec: fields({ defaultBackend: fields({ resource: atomic }) }) },
  'rbac.authorization.k8s.io/RoleBinding': { roleRef: atomic },
  'rbac.authorization.k8s.io/ClusterRoleBinding': { roleRef: atomic },
  'certificates.k8s.io/CertificateSigningRequest': { status: fields({ conditions }) },
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': {
    spec: fields({ matchConditions: listBy('name'), matchConstraints: atomic }),
  },
  'controlplane.cluster.x-k8s.io/HostedControlPlane': {
    status: fields({ conditions, versions: listBy('version') }),
  },
};

/** How objects of a kind are merged. */
export function shapeOf(object: { readonly apiVersion: string; readonly kind: string }): Shape {
  return fields({ ...shapes[`${groupOf(object)}/${object.kind}`], metadata });
}

/** How a field of an object is merged. */
export function fieldShape(shape: Shape | undefined, field: string): Shape | undefined {
  return shape?.type === 'fields' ? shape.of[field] : undefined;
}
