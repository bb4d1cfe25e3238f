import { parse } from 'yaml';
import { apiServiceHost } from '../../constructs/control-plane/certificates/certificate-plans.ts';
import { etcdMemberHost, namesOf } from '../../constructs/cluster/names.ts';
import { clientOf } from '../../reconciler/pki/kubeconfig.ts';
import { loadBalancerAddress } from '../support/management-controllers.ts';
import { clusterName, namespace } from '../support/scope.ts';
import type { Handshake } from './chain.ts';
import type { Node } from './nodes.ts';
import type { Process } from './processes.ts';
import type { Secrets } from './secrets.ts';

/** One handshake in which a party authenticates to another. */
export interface Proof extends Handshake {
  /** Such as `kube-scheduler of c1-scheduler-0 to c1-api-server-1`. */
  readonly what: string;
}

export interface Parties {
  readonly secrets: Secrets;
  readonly etcd: readonly Process[];
  readonly apiServers: readonly Process[];
  readonly controllerManagers: readonly Process[];
  readonly schedulers: readonly Process[];
  readonly nodes: readonly Node[];
  /** Trusted certificates of pods in the hosted cluster that have read them at their start, by a name for each. */
  readonly pods: ReadonlyMap<string, string>;
  /** Trusted certificates of konnectivity agents, in the same form. */
  readonly agents: ReadonlyMap<string, string>;
}

const cluster = { name: clusterName, namespace };
const serviceHost = apiServiceHost(cluster);
const etcdService = `${namesOf(clusterName).etcdClientService}.${namespace}.svc`;

interface Side {
  readonly name: string;
  readonly shows: string;
  readonly trusts: string;
}

/** Every handshake between the parties of a hosted cluster. */
export function proofsAmong(parties: Parties): Proof[] {
  return [
    ...etcdPeers(parties),
    ...etcdClients(parties),
    ...apiClients(parties),
    ...kubelets(parties),
    ...serversOnly(parties),
    ...frontProxies(parties),
  ];
}

function etcdPeers({ etcd }: Parties): Proof[] {
  const side = (member: Process): Side => ({
    name: member.pod,
    shows: member.read('etcdPeer', 'etcd', 'pair'),
    trusts: member.read('etcdCA', 'etcd', 'trust'),
  });
  return etcd.flatMap((from) =>
    etcd.filter((to) => to !== from).flatMap((to) => mutual(side(from), side(to), hostOf(to))),
  );
}

function etcdClients({ etcd, apiServers, secrets }: Parties): Proof[] {
  const ownPeer = {
    name: 'this provider',
    shows: secrets.value('etcdController', 'tls.crt'),
    trusts: secrets.value('etcdCA', 'tls.crt'),
  };
  return etcd.flatMap((member) => {
    const server = {
      name: member.pod,
      shows: member.read('etcdServer', 'etcd', 'pair'),
      trusts: member.read('etcdCA', 'etcd', 'trust'),
    };
    const clients = apiServers.map((apiServer) => ({
      name: apiServer.pod,
      shows: apiServer.read('apiServerEtcdClient', 'kube-apiserver', 'pair'),
      trusts: apiServer.read('etcdCA', 'kube-apiserver', 'trust'),
    }));
    return [
      ...mutual(ownPeer, server, hostOf(member)),
      ...clients.flatMap((client) => mutual(client, server, etcdService)),
    ];
  });
}

function apiClients({ apiServers, controllerManagers, schedulers, secrets }: Parties): Proof[] {
  const trusted = secrets.value('clusterCA', 'tls.crt');
  const kubeconfig = secrets.value('kubeconfig', 'value');
  const clients: Side[] = [
    ...controllerManagers.map((process) => componentSide(process, 'controllerManager', 'kube-controller-manager')),
    ...schedulers.map((process) => componentSide(process, 'scheduler', 'kube-scheduler')),
    ...apiServers.map((process) => componentSide(process, 'konnectivityClient', 'konnectivity-server')),
    { name: 'this provider', shows: secrets.value('controller', 'tls.crt'), trusts: trusted },
  ];
  const outside: Side[] = kubeconfig ? [{ name: "Cluster API's kubeconfig", ...readKubeconfig(kubeconfig) }] : [];
  return apiServers
    .map(apiServerSide)
    .flatMap((server) => [
      ...clients.flatMap((client) => mutual(client, server, serviceHost)),
      ...outside.flatMap((client) => mutual(client, server, loadBalancerAddress)),
    ]);
}

function kubelets({ apiServers, nodes }: Parties): Proof[] {
  return apiServers.flatMap((process) =>
    nodes.flatMap((node) => {
      const kubelet = { name: node.name, shows: node.client.certificate, trusts: node.trusted };
      const caller = process.read('apiServerKubeletClient', 'kube-apiserver', 'pair');
      return [
        ...mutual(kubelet, apiServerSide(process), loadBalancerAddress),
        shown({ name: process.pod, shows: caller }, kubelet, 'client'),
      ];
    }),
  );
}

/** Clients that authenticate with tokens. */
function serversOnly({ apiServers, pods, agents }: Parties): Proof[] {
  return apiServers.flatMap((process) => {
    const konnectivity = {
      name: `konnectivity server of ${process.pod}`,
      shows: process.read('konnectivityServer', 'konnectivity-server', 'pair'),
    };
    return [
      ...[...pods].map(([name, trusts]) => shown(apiServerSide(process), { name, trusts }, 'server', inCluster)),
      ...[...agents].map(([name, trusts]) => shown(konnectivity, { name, trusts }, 'server', loadBalancerAddress)),
    ];
  });
}
const inCluster = 'kubernetes.default.svc';

/** Aggregated API servers trust the certificates that any API server has published. */
function frontProxies({ apiServers }: Parties): Proof[] {
  return apiServers.flatMap((from) =>
    apiServers.map((publisher) =>
      shown(
        { name: `front proxy of ${from.pod}`, shows: from.read('frontProxyClient', 'kube-apiserver', 'pair') },
        {
          name: `what ${publisher.pod} publishes`,
          trusts: publisher.read('frontProxyCA', 'kube-apiserver', 'trust'),
        },
        'client',
      ),
    ),
  );
}

function apiServerSide(process: Process): Side {
  return {
    name: process.pod,
    shows: process.read('apiServer', 'kube-apiserver', 'pair'),
    trusts: process.read('clusterCA', 'kube-apiserver', 'trust', 'tls.crt', 'verifies clients'),
  };
}

function componentSide(
  process: Process,
  role: 'controllerManager' | 'scheduler' | 'konnectivityClient',
  program: 'kube-controller-manager' | 'kube-scheduler' | 'konnectivity-server',
): Side {
  return {
    name: `${program} of ${process.pod}`,
    shows: process.read(role, program, 'pair'),
    trusts: process.read('clusterCA', program, 'trust', 'tls.crt', 'verifies the API server'),
  };
}

function mutual(client: Side, server: Side, host: string): Proof[] {
  return [shown(client, server, 'client'), shown(server, client, 'server', host)];
}

function shown(
  prover: Pick<Side, 'name' | 'shows'>,
  verifier: Pick<Side, 'name' | 'trusts'>,
  usage: Handshake['usage'],
  host?: string,
): Proof {
  const what = `${prover.name} to ${verifier.name} as ${usage}`;
  return { what, presented: prover.shows, trusted: verifier.trusts, usage, host };
}

function hostOf({ pod }: Process): string {
  return etcdMemberHost(cluster, Number(pod.slice(pod.lastIndexOf('-') + 1)));
}

/** Cached, because parsing YAML is slow and the text seldom changes. */
function readKubeconfig(kubeconfig: string): Pick<Side, 'shows' | 'trusts'> {
  const known = kubeconfigs.get(kubeconfig);
  if (known) return known;
  const { clusters } = parse(kubeconfig) as {
    readonly clusters: readonly [{ readonly cluster: { readonly 'certificate-authority-data': string } }];
  };
  const trusts = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString('utf8');
  const side = { shows: clientOf(kubeconfig)?.certificate ?? '', trusts };
  kubeconfigs.set(kubeconfig, side);
  return side;
}

const kubeconfigs = new Map<string, Pick<Side, 'shows' | 'trusts'>>();
