import { type ConditionType, conditions, conditionTypes, severityOf } from '../../constructs/api/conditions.ts';
import { sharedReasons } from '../../constructs/api/severity.ts';
import { quantityValue } from '../../constructs/api/quantity.ts';
import { groupOf } from '../../constructs/api/resources.ts';
import type { Access } from '../../constructs/cluster/access-rules.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { controlPlaneAccess, ownNamespaceAccess, sharedAccess } from '../../constructs/provider/access.ts';
import { alerts } from '../../constructs/provider/monitoring/alerts.ts';
import { alertsPage } from '../../constructs/provider/monitoring/chart.ts';
import { renderDashboards } from '../../constructs/provider/monitoring/dashboards.ts';
import { allCommands, type Program } from '../../reconciler/cli/command.ts';
import { hcp } from '../../reconciler/cli/commands.ts';
import { helpOf, helpOfAll } from '../../reconciler/cli/help.ts';
import { waterfallFile } from '../../reconciler/cli/report/waterfall.ts';
import { hcpImport } from '../../reconciler/import/program.ts';
import { environmentVariables, flagSettings, type Setting } from '../../reconciler/operator/config.ts';
import { phases } from '../../reconciler/reconcile/phases.ts';
import { withResults } from '../tools/bench/figure-tables.ts';
import { keptResults } from '../tools/bench/kept-results.ts';
import { withPeers } from '../tools/bench/peer-table.ts';
import peers from '../tools/bench/peers.json' with { type: 'json' };
import runs from '../tools/run/runs.json' with { type: 'json' };
import { withRuns } from '../tools/run/runs.ts';
import { contractCounts, contractTable } from '../contract/table.ts';
import { withCertificateTables } from './certificate-tables.ts';
import { MemoryCluster } from './loop/memory-cluster.ts';
import { OperatorProcess } from './loop/operator-process.ts';
import { ManualClock } from './manual-clock.ts';
import { kubectlGet } from './printed-columns.ts';
import { fencedBlock, markdownTable, withBlock } from './readme-block.ts';
import { referencePage, withReference } from './reference-page.ts';
import { clusterOf, knownFacts } from './rendered-cluster.ts';
import { workloadsOf } from './rendered-objects.ts';
import { reportedAt, reportedObject, reportsOf } from './reported-fleet.ts';
import { now } from './scope.ts';
import { withProviderValues, withTemplateVariables, withValues, withVariables, withVersions } from './stack-tables.ts';
import type { Phase as RunnablePhase } from '../../reconciler/engine/run-phases.ts';
import type { Scope } from '../../reconciler/phases/scope.ts';

type Phase = RunnablePhase<Scope>;
type Write = (text: string) => string | Promise<string>;

/** The page with the tables of certificates. */
export const certificatesPage = 'reconciler/certificates/ISSUED.md';

/** What pages say of conditions, each on the page of the room that reports them; the others are on the first one. */
const conditionPages = {
  'constructs/provider/CONDITIONS.md': [],
  'reconciler/etcd/README.md': ['EtcdClusterHealthy', 'EtcdClusterReady', 'EncryptionAtRestReady'],
  'reconciler/backup/README.md': ['EtcdBackupReady', 'EtcdBackupVerified', 'EtcdRestoreReady'],
  'reconciler/certificates/README.md': [
    'CertificatesAvailable',
    'CACertificatesReady',
    'EtcdCertificatesReady',
    'CertificatesReady',
    'CARotationReady',
    'ServiceAccountKeyRotationReady',
    'WorkloadKubeletCertificatesReady',
  ],
} as const satisfies Readonly<Record<string, readonly ConditionType[]>>;

/** What `npm run docs` writes into each page: everything that the sources say already. */
export const generatedParts: Readonly<Record<string, readonly Write[]>> = {
  'README.md': [withKubectl],
  'constructs/PODS.md': [withSizes],
  [alertsPage]: [withAlerts, withDashboards],
  [referencePage]: [withReference],
  'constructs/provider/CONDITIONS.md': [withConditions('constructs/provider/CONDITIONS.md')],
  'constructs/provider/SETTINGS.md': [withSettings, withProviderValues],
  'constructs/provider/TEMPLATES.md': [withTemplateVariables],
  'constructs/provider/MIGRATION-COMMANDS.md': [withHelp(hcpImport)],
  'constructs/stacks/hetzner/README.md': [withValues],
  'constructs/stacks/openstack/README.md': [withVariables, withVersions],
  'reconciler/phases/README.md': [withPhases],
  'reconciler/THREATS.md': [withRights],
  'reconciler/etcd/README.md': [withConditions('reconciler/etcd/README.md')],
  'reconciler/backup/README.md': [withConditions('reconciler/backup/README.md')],
  'reconciler/certificates/README.md': [withConditions('reconciler/certificates/README.md')],
  [certificatesPage]: [withCertificateTables],
  'reconciler/cli/COMMANDS.md': [withHelp(hcp)],
  'reconciler/cli/bring-up.svg': [bringUpPicture],
  'test/FIGURES.md': [(text) => withRuns(text, runs)],
  'test/PEERS.md': [(text) => withPeers(text, peers, keptResults())],
  'test/contract/README.md': [withContract],
  'test/tools/bench/README.md': [(text) => withResults(text, keptResults())],
};

/** The text of a page with its generated parts as the sources have them now. */
export async function generated(page: string, text: string): Promise<string> {
  let written = text;
  for (const write of generatedParts[page] ?? []) written = await write(written);
  return written;
}

/** Each alert, what it means, and what to do. */
function withAlerts(text: string): string {
  const sections = alerts.map(({ name, severity, lasts, summary, meaning, actions, expression }) =>
    [
      `## ${name}`,
      `${severity}, after ${lasts}. ${summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '`$1`').replaceAll(/\{\{.*?\}\}/g, '…')}`,
      meaning,
      actions.map((action, index) => `${index + 1}. ${action}`).join('\n'),
      fencedBlock('text', [expression]),
    ].join('\n\n'),
  );
  return withBlock(text, 'alerts', sections.join('\n'));
}

/** The panels of each dashboard, from the files that Grafana imports. */
function withDashboards(text: string): string {
  const rows = renderDashboards().flatMap(({ path, dashboard: { panels = [] } }) =>
    panels.flatMap((panel) =>
      'description' in panel ? [[`\`${path}\``, panel.title ?? '', panel.description ?? '']] : [],
    ),
  );
  return withBlock(text, 'dashboards', markdownTable([['dashboard', 'panel', 'what it shows'], ...rows]));
}

/** What kubectl prints of a control plane five minutes after the production reconciler has brought it up in memory. */
async function withKubectl(text: string): Promise<string> {
  const cluster = new MemoryCluster(new ManualClock(now.getTime()));
  await cluster.install();
  await cluster.order();
  const operator = await OperatorProcess.start(cluster);
  await operator.untilSettled();
  await cluster.clock.advance(5 * 60_000);
  await operator.stop();
  const lines = kubectlGet(cluster.hostedControlPlane, cluster.clock.now());
  return withBlock(text, 'kubectl', fencedBlock('text', ['$ kubectl get hcp', ...lines]));
}

/** What control planes of some sizes request, and how many of them fit into memory. */
function withSizes(text: string): string {
  const sizes = [
    [1, 1],
    [2, 3],
    [3, 3],
  ] as const;
  const rows = sizes.map(([servers, members]) => {
    const { cores, bytes } = requestedBy({ replicas: servers, etcd: { replicas: members } });
    const gibibytes = bytes / 2 ** 30;
    return [`${servers}`, `${members}`, cores.toFixed(2), gibibytes.toFixed(2), `${Math.floor(16 / gibibytes)}`];
  });
  const heading = ['API servers', 'members of etcd', 'CPU', 'memory in GiB', 'in 16 GiB'];
  return withBlock(text, 'sizes', markdownTable([heading, ...rows]));
}

/** The sums of what all containers of a control plane request. */
function requestedBy(spec: object): { readonly cores: number; readonly bytes: number } {
  const amounts = workloadsOf(renderControlPlane(clusterOf({ spec }), knownFacts)).flatMap(({ object, containers }) => {
    const { replicas = 1 } = object['spec'] as { readonly replicas?: number };
    return containers.map(({ resources }) => ({ replicas, requests: resources?.requests ?? {} }));
  });
  const sumOf = (resource: string): number =>
    amounts.reduce((sum, { replicas, requests }) => sum + replicas * quantityValue(requests[resource] ?? '0'), 0);
  return { cores: sumOf('cpu'), bytes: sumOf('memory') };
}

/** The bring-up of a control plane of the demo. */
function bringUpPicture(): string {
  const [demo] = reportsOf([reportedObject(['demo', 'demo'])]);
  return `${demo ? waterfallFile(demo, reportedAt) : ''}\n`;
}

/** The environment variables and flags of the operator. */
function withSettings(text: string): string {
  const table = (what: string, settings: readonly Setting[]) =>
    markdownTable([
      [what, 'default', 'meaning'],
      ...settings.map((one) => [`\`${one.name}\``, fallbackOf(one), one.description]),
    ]);
  const variables = withBlock(text, 'environment variables', table('variable', environmentVariables));
  return withBlock(variables, 'flags', table('flag', flagSettings));
}

function fallbackOf({ default: value = [] }: Setting): string {
  return [value]
    .flat()
    .map((one) => `\`${String(one)}\``)
    .join(', ');
}

/** The rights of the operator, with a reason for each. */
function withRights(text: string): string {
  const rowOf =
    (where: string) =>
    ({ resource, subresource, names, verbs, why }: Access) => [
      `\`${resource.plural}${subresource === undefined ? '' : `/${subresource}`}\``,
      [groupOf(resource) || 'core', ...(names ? [`only ${names.map((name) => `\`${name}\``).join(', ')}`] : [])].join(
        '; ',
      ),
      verbs.join(', '),
      where,
      why,
    ];
  const all = [
    ...controlPlaneAccess().map(rowOf('with control planes')),
    ...sharedAccess().map(rowOf('everywhere')),
    ...ownNamespaceAccess.map(rowOf('its own namespace')),
  ];
  // A kind that is watched in several versions is one row.
  const rows = [...new Map(all.map((row) => [row.join(' '), row])).values()];
  return withBlock(text, 'rights', markdownTable([['resource', 'API group', 'verbs', 'where', 'why'], ...rows]));
}

function withConditions(page: keyof typeof conditionPages): Write {
  const elsewhere: readonly ConditionType[] = Object.values(conditionPages).flat();
  const own: readonly ConditionType[] = conditionPages[page];
  const types = own.length > 0 ? own : conditionTypes.filter((type) => !elsewhere.includes(type));
  const rows = types.map((type) => [`\`${type}\``, conditions[type].meaning, ownReasons(type).join(', ')]);
  return (text) =>
    withBlock(text, 'conditions', markdownTable([['condition', 'True means', 'reasons of its own'], ...rows]));
}

/** The reasons that only some conditions have; bold ones come with an event of type Warning. */
function ownReasons(type: ConditionType): string[] {
  const own = Object.keys(conditions[type].reasons).filter((reason) => !Object.hasOwn(sharedReasons, reason));
  return own.map((reason) => {
    const isWarning = ['Warning', 'Outage'].includes(severityOf(type, reason));
    return isWarning ? `**\`${reason}\`**` : `\`${reason}\``;
  });
}

/** Which phase needs which, by the condition that each one reports. */
function withPhases(text: string): string {
  const edges = phases.flatMap((phase) =>
    directNeeds(phase).map((need) => `  ${need.condition} --> ${phase.condition}`),
  );
  const before = phases.flatMap(({ condition, after = [] }) =>
    after.map((one) => `  ${one.condition} -.-> ${condition}`),
  );
  const linked = new Set(phases.flatMap((phase) => (phase.needs.length > 0 ? [phase, ...phase.needs] : [])));
  const alone = phases.filter((phase) => !linked.has(phase)).map(({ condition }) => `  ${condition}`);
  return withBlock(text, 'phases', fencedBlock('mermaid', ['flowchart LR', ...alone, ...edges, ...before]));
}

/** The needs of a phase without those that another need of it has already waited for. */
function directNeeds({ needs }: Phase): readonly Phase[] {
  const waitsFor = (phase: Phase, other: Phase): boolean =>
    phase.needs.some((need) => need === other || waitsFor(need, other));
  return needs.filter((need) => !needs.some((other) => waitsFor(other, need)));
}

/** Every demand of Cluster API's contract, with the tests that prove it. */
function withContract(text: string): string {
  return withBlock(text, 'contract', `${contractCounts()}\n\n${contractTable()}`);
}

function withHelp(program: Program): Write {
  const { name } = program;
  const parts = async () => [
    fencedBlock('text', [helpOfAll(program)]),
    ...(await allCommands(program)).map(
      (command) => `## ${name} ${command.name}\n\n${fencedBlock('text', [helpOf(program, command)])}`,
    ),
  ];
  return async (text) => withBlock(text, name, (await parts()).join('\n'));
}
