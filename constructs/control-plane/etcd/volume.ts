/** Where a restore puts what on the volume of a member. Everything is on one file system: moves are renames. */
export interface RestorePaths {
  /** What this run works on; gone when it is over. */
  readonly incoming: string;
  /** The snapshot. It has this name only when it is whole and checked. */
  readonly snapshot: string;
  /** The data directory that was made from it. */
  readonly restoredData: string;
  /** Where the data directory is that the member had before. */
  readonly setAside: string;
  /** The data directory that etcd runs on. */
  readonly data: string;
}

/** Folder of the data directories that restores have set aside, by the id of the run. */
export function setAsideFolder(volume: string): string {
  return `${volume}/set-aside`;
}

/** Folder of what runs work on. */
export function incomingFolder(volume: string): string {
  return `${volume}/incoming`;
}

/** @param run id of the run, whose order by name is that of time */
export function restorePaths(volume: string, run: string): RestorePaths {
  const incoming = `${incomingFolder(volume)}/${run}`;
  return {
    incoming,
    snapshot: `${incoming}/snapshot.db`,
    restoredData: `${incoming}/data`,
    setAside: `${setAsideFolder(volume)}/${run}`,
    data: `${volume}/data`,
  };
}
