import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { type Command, hasSwitch, type Session, UsageError } from './command.ts';
import { overviewOf } from './overview.ts';
import { page } from './report/page.ts';
import { ReadOnce } from './report/read-once.ts';
import { causesOf } from './status/causes.ts';
import { gather, readingEvidence } from './status/evidence.ts';

const everywhere = 'the same of all namespaces, with -A';

/** Writes a page about a fleet, which a person opens without a server, keeps and passes on. */
export const report: Command = {
  name: 'report',
  examples: [
    ['report -A > fleet.html', 'all control planes that you may list'],
    ['report -n team-a > team-a.html', 'all of one namespace'],
  ],
  usage: '[-A] > FILE.html',
  summary: 'Prints a page about control planes: the worst first, bring-ups, components, workers, certificates.',
  options: {
    'all-namespaces': { type: 'boolean', short: 'A', meaning: 'report on control planes of all namespaces' },
  },
  access: [
    { resource: HostedControlPlane, verbs: ['list'], why: 'control planes of one namespace' },
    ...readingEvidence,
    { resource: HostedControlPlane, verbs: ['list'], why: everywhere, where: 'cluster' },
    ...readingEvidence
      .filter(({ where }) => where === undefined)
      .map((access) => ({ ...access, why: everywhere, where: 'cluster' as const })),
  ],
  prepare(given) {
    const { positionals } = given;
    if (positionals.length > 0) throw new UsageError(`report takes no arguments: remove ${positionals.join(' ')}`);
    return (session) => print(session, hasSwitch(given, 'all-namespaces') ? undefined : session.namespace);
  },
};

async function print(session: Session, namespace: string | undefined): Promise<void> {
  const now = session.now();
  const client = new ReadOnce(session.client, namespace);
  const { items } = await session.client.list<HostedControlPlaneObject>(HostedControlPlane, { namespace });
  const fleet = await Promise.all(
    items.map(async (object) => {
      const { evidence, workers, unknown } = await gather({ client, namespace: namespaceOf(object) }, object);
      return { ...overviewOf(object), causes: causesOf(evidence, now), workers, unknown };
    }),
  );
  session.terminal.print(page(fleet, { now, namespace }));
}

function namespaceOf({ metadata: { namespace = '' } }: HostedControlPlaneObject): string {
  return namespace;
}
