/** The directories of a restore on the volume of a member. All are on one file system: moves are renames. */
export interface RestorePaths {
  /** Working directory of this run; deleted when the run ends. */
  readonly incoming: string;
  /** The snapshot. It has this name only once it is complete and checked. */
  readonly snapshot: string;
  /** The data directory that is created from the snapshot. */
  readonly restoredData: string;
  /** The previous data directory of the member. */
  readonly setAside: string;
  /** The data directory of etcd. */
  readonly data: string;
}

/** Directory of the data directories that restores have set aside, by the ID of the run. */
export function setAsideFolder(volume: string): string {
  return `${volume}/set-aside`;
}

/** Directory of the working directories of runs. */
export function incomingFolder(volume: string): string {
  return `${volume}/incoming`;
}

/** @param run ID of the run. IDs sort by time. */
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
