import type { PodObject } from '../../../imports/kubernetes.ts';

/** The value of an argument `--name=value` of any container of a pod; undefined if none has it. */
export function argumentOf(pod: PodObject | undefined, name: string): string | undefined {
  const prefix = `--${name}=`;
  const args = (pod?.spec?.containers ?? []).flatMap((container) => container.args ?? []);
  return args.findLast((arg) => arg.startsWith(prefix))?.slice(prefix.length);
}
