import { binDirectory, type Instance, kubeconfigPath } from '../tools/testbed/instance.ts';
import { run } from '../tools/testbed/run.ts';

/** How a reader of a page types, with the programs of a testbed on the path. */
export interface PageShell {
  readonly instance: Instance;
  /** Where files of the page are, and `dist`. */
  readonly directory: string;
  /** Further variables. By default none. */
  readonly variables?: NodeJS.ProcessEnv;
}

/** Runs commands in one shell; returns what they print. @throws at the first one that fails */
export function typeInto({ instance, directory, variables }: PageShell, commands: string): Promise<string> {
  return run(['bash', '-euo', 'pipefail', '-c', commands], {
    cwd: directory,
    env: {
      ...process.env,
      // a page shows what is printed without colours
      FORCE_COLOR: undefined,
      PATH: `${binDirectory(instance)}:${process.env['PATH']}`,
      KUBECONFIG: kubeconfigPath(instance),
      CLUSTERCTL_DISABLE_VERSIONCHECK: 'true',
      ...variables,
    },
  });
}
