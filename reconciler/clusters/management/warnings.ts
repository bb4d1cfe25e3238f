import type { EventObject } from '../../../imports/kubernetes.ts';
import { Event } from '../../../constructs/api/resources.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import { kubeErrorOf } from '../../kube/errors.ts';
import { oneLine } from '../../kube/termination-message.ts';

/** An object of which only events can say more. */
export interface Unexplained {
  readonly uid: string;
  /** Only events for this reason; all when unset. */
  readonly reason?: string;
}

/** What an event says, in one line. */
export interface Warning {
  readonly uid: string;
  readonly words: string;
  /** The container that it is about. */
  readonly container?: string | undefined;
}

/**
 * Who is quoted. Tenants can write events in their namespace, and claim to be one of these: so what an event says is shown as a short
 * text, and no more is decided by it than to try whether a pod is accepted.
 */
const reporters = ['kubelet', 'statefulset-controller', 'attachdetach-controller'];

const mostObjects = 3;
const mostEvents = 20;
const deadlineMs = 5_000;

/** Controllers try again, and repeat their event, at least every 1,000 seconds. What is older was about something else. */
const longestMs = 20 * 60_000;

/** The newest warnings about these objects first. Undecided is fine: without an answer there is less to say. */
export async function readWarnings(
  client: Pick<KubernetesApi, 'pages'>,
  { namespace, now }: { readonly namespace: string; readonly now: Date },
  objects: readonly Unexplained[],
): Promise<Warning[]> {
  const events = await Promise.all(objects.slice(0, mostObjects).map((one) => firstPage(client, namespace, one)));
  return events
    .flat()
    .filter((event) => isQuoted(event) && now.getTime() - lastTime(event) < longestMs)
    .toSorted((one, other) => lastTime(other) - lastTime(one))
    .map(({ regarding: { uid = '', fieldPath = '' } = {}, note = '' }) => {
      const container = /^spec\.containers\{([^{}]{1,63})\}$/.exec(fieldPath)?.[1];
      return { uid, container, words: oneLine(note) };
    });
}

async function firstPage(
  client: Pick<KubernetesApi, 'pages'>,
  namespace: string,
  { uid, reason }: Unexplained,
): Promise<readonly EventObject[]> {
  const selectors = [`regarding.uid=${uid}`, 'type=Warning', ...(reason === undefined ? [] : [`reason=${reason}`])];
  const selection = { namespace, fieldSelector: selectors.join(','), limit: mostEvents, deadlineMs };
  try {
    for await (const page of client.pages(Event, selection)) return page;
  } catch (error) {
    // An administrator may keep the right to itself, and no reconcile fails for want of words.
    if (!kubeErrorOf(error)) throw error;
  }
  return [];
}

function isQuoted({ reportingController, deprecatedSource }: EventObject): boolean {
  return reporters.includes(reportingController || (deprecatedSource?.component ?? ''));
}

/** When an event was last seen, in milliseconds since the epoch; 0 if it does not say. */
export function lastTime({ series, eventTime, deprecatedLastTimestamp, metadata }: EventObject): number {
  const known = series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp;
  return Date.parse(known ?? '') || 0;
}
