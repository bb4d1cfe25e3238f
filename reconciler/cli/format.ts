/** What a person types next. It names the namespace, because that of another terminal may be another one. */
export function nextCommand(command: string, cluster: string, namespace: string): string {
  return `hcp ${command} ${cluster} -n ${namespace}`;
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A human-readable size: `512 B`, `1.5 MiB`, `120 MiB`. */
export function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** A duration in the format of ages in kubectl, with its two largest units: `45s`, `5m10s`, `3h5m`, `4d2h`, `90d`. */
export function spanText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < hour) return two(seconds, minute, 'm', 1, 's');
  if (seconds < 2 * day) return two(seconds, hour, 'h', minute, 'm');
  return seconds < 10 * day ? two(seconds, day, 'd', hour, 'h') : `${Math.floor(seconds / day)}d`;
}

function two(seconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)}${largeName}${rest === 0 ? '' : `${rest}${smallName}`}`;
}
