import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Starts what kills the process group of a program when this process has ended and the program has not. Only what reads from a
 * pipe notices every end of the process at its other side. Call it before the program starts: if this process ends between the two,
 * what the program has started stays.
 * @returns what to call with the program, which leads its group
 */
export function startGroupWatcher(): (program: ChildProcess) => void {
  const script = 'read -r group && { read -r _ || kill -KILL "-$group"; }';
  const watcher = spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  watcher.unref();
  // a watcher that was killed reads nothing
  watcher.stdin.on('error', () => {});
  return (program) => {
    if (program.pid === undefined) watcher.stdin.end();
    else watcher.stdin.write(`${program.pid}\n`);
    program.once('exit', () => watcher.stdin.end('ended\n'));
  };
}
