import type { ContainerStateTerminated, PodObject } from '../../../imports/kubernetes.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { acceptedPath } from '../../../constructs/control-plane/api-server/check.ts';
import { checkedAnnotation } from '../../../constructs/control-plane/api-server/checked-configuration.ts';
import { endOfText } from '../../kube/metric-samples.ts';
import { hasEnded } from '../../kube/readiness.ts';
import type { Reader } from '../../clusters/management/view.ts';
import { oneLine, terminationMessage } from '../../kube/termination-message.ts';

/** What a kube-apiserver says of its flags and files. */
export type ConfigurationCheckResult =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly message: string }
  /** It was ended from outside, for example for lack of memory. */
  | { readonly kind: 'unknown'; readonly message: string };

/** The pod of a control plane that checks, or has checked, and is the record of what its kube-apiserver has said. */
export function checkPodOf(reader: Pick<Reader, 'get'>, cluster: string): PodObject | undefined {
  return reader.get<PodObject>(Pod, namesOf(cluster).apiServerCheck);
}

/** Whether a pod is about this configuration, and not about an earlier one. */
export function checksConfiguration(pod: PodObject, configuration: string | undefined): boolean {
  return pod.metadata.annotations?.[checkedAnnotation] === configuration;
}

/** What a pod has found out; undefined while it has not ended. */
export function checkResultOf({ status = {}, ...pod }: PodObject): ConfigurationCheckResult | undefined {
  if (!hasEnded({ ...pod, status })) return undefined;
  const ended = status.containerStatuses?.[0]?.state?.terminated;
  // A pod that was evicted, or ended at its deadline, says nothing about the configuration.
  if (ended === undefined || status.reason) {
    const { reason = 'no reason given', message = '' } = status;
    return { kind: 'unknown', message: oneLine(`the pod ended: ${reason}: ${message}`) };
  }
  return configurationCheckResult(ended);
}

/** Exit codes that kube-apiserver itself chooses: the end of `--version`, an error, a panic. */
const ownExitCodes = [0, 1, 2];

/** Reads the result from how the process ended. */
export function configurationCheckResult({
  exitCode,
  reason = 'Error',
  message = '',
}: ContainerStateTerminated): ConfigurationCheckResult {
  if (exitCode === undefined || !ownExitCodes.includes(exitCode)) {
    return {
      kind: 'unknown',
      message: oneLine(`${reason}, exit code ${exitCode ?? 'unknown'}: ${terminationMessage(message)}`),
    };
  }
  const cause = causeOf(message);
  if (cause?.includes(`open ${acceptedPath}:`)) return { kind: 'accepted' };
  const words = cause === undefined ? terminationMessage(message) : oneLine(cause);
  return { kind: 'refused', message: words || `it ended with exit code ${exitCode} and says nothing` };
}

/** The error of the last line: as klog writes it in text, over several lines, or as JSON, or that of a flag. */
function causeOf(text: string): string | undefined {
  const words = klogError(text);
  if (words !== undefined) return words;
  const lines = text.trim().split('\n').toReversed();
  const json = lines.map((line) => errorOfJson(line)).find((error) => error !== undefined);
  return json ?? lines.find((line) => line.startsWith('Error: '))?.slice('Error: '.length);
}

function klogError(text: string): string | undefined {
  const from = text.indexOf(failed) + failed.length;
  if (from < failed.length) return undefined;
  const isBlock = text.startsWith('<\n', from);
  const end = isBlock ? text.indexOf('\n >', from) : endOfText(text, from + 1);
  if (end < 0 || (!isBlock && text[from] !== '"')) return undefined;
  if (isBlock) return text.slice(from + 2, end);
  const quoted = text.slice(from, end + 1);
  return parsed(quoted) ?? quoted;
}

const failed = '"command failed" err=';

function errorOfJson(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  const entry = parsed<Readonly<Record<string, unknown>>>(line);
  return entry?.['msg'] === 'command failed' && typeof entry['err'] === 'string' ? entry['err'] : undefined;
}

function parsed<T>(json: string): T | undefined {
  try {
    return JSON.parse(json) as T;
  } catch {
    return undefined;
  }
}
