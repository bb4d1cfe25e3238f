import type { Command, CommandEntry, Program } from './command.ts';

/** Every command of `hcp`, in the order of the help. A new command is a file in this directory and an entry here. */
export const commands: readonly CommandEntry[] = [
  ...group('See', {
    list: ['List control planes, and what blocks them', async () => (await import('./list.ts')).list],
    status: ['What one waits for, why, and what to do', async () => (await import('./status.ts')).status],
    report: ['Write a page about a fleet', async () => (await import('./report.ts')).report],
    backups: ['List the backups in the bucket', async () => (await import('./backups.ts')).backups],
    kubeconfig: ['Write a personal kubeconfig', async () => (await import('./kubeconfig.ts')).kubeconfig],
    collect: ['Write objects, events and logs for support', async () => (await import('./collect.ts')).collect],
  }),
  ...group('Before a change', {
    diff: ['What a file changes, or others have set', async () => (await import('./diff.ts')).diff],
    preflight: ['What would hold an upgrade', async () => (await import('./preflight.ts')).preflight],
    images: ['The images of a file, for a mirror', async () => (await import('./images.ts')).images],
    render: ['The objects of a file, without a cluster', async () => (await import('./render.ts')).render],
  }),
  ...group('Back up and restore', {
    backup: ['Take a backup', async () => (await import('./backup.ts')).backup],
    restore: ['Replace all data with a backup', async () => (await import('./restore.ts')).restore],
    rollback: ['Go back to the minor before an upgrade', async () => (await import('./rollback.ts')).rollback],
    rebuild: ['Manifests of a lost cluster, with its CAs', async () => (await import('./rebuild.ts')).rebuild],
  }),
  ...group('Operate', {
    hibernate: ['Stop a control plane, and keep its data', async () => (await import('./hibernate.ts')).hibernate],
    wake: ['Start one that hibernates', async () => (await import('./hibernate.ts')).wake],
    pause: ['Keep the operator away from one', async () => (await import('./pause.ts')).pause],
    resume: ['End a pause', async () => (await import('./pause.ts')).resume],
    move: ['Prepare clusterctl move, or abort it', async () => (await import('./move.ts')).move],
  }),
  ...group('Shell', {
    completion: [
      'Print the script that completes what you type',
      async () => (await import('./completion.ts')).completionOf(hcp),
    ],
  }),
];

/** The command line of people on call. */
export const hcp: Program = {
  name: 'hcp',
  summary: 'Manages hosted control planes.',
  commands,
  aliases: { ls: 'list', get: 'list', describe: 'status', explain: 'status' },
  answers: {
    create: 'apply a Cluster and its HostedControlPlane with kubectl; hcp render FILE shows what they become',
    delete: 'delete the Cluster with kubectl delete cluster NAME, which deletes its control plane and all its data',
    upgrade:
      'set spec.version, or the version of the topology; hcp preflight CLUSTER --to VERSION says before what would hold it',
    scale: 'use kubectl scale hcp NAME --replicas=N',
    logs: 'use kubectl logs, or hcp collect CLUSTER for all of them',
    import: 'use the program hcp-import',
  },
};

function group(
  title: string,
  entries: Readonly<Record<string, readonly [short: string, load: () => Promise<Command>]>>,
): readonly CommandEntry[] {
  return Object.entries(entries).map(([name, [short, load]]) => ({ name, group: title, short, load }));
}
