import { printable } from '../log.js';
import type { AgentStatus } from './agent-status.js';

/** The status for a terminal. Names come from elsewhere, so their control characters are not passed on. */
export const shownStatus = (status: AgentStatus): string => {
  const { machine, checks, readiness } = status;
  const rows: readonly (readonly [string, string | null])[] = [
    ['agent', `${status.running ? `running, process ${status.pid}` : 'not running'}, version ${status.version}`],
    ['state', `${status.state}: ${status.sentence}`],
    ['machine', machine && `${machine.name ?? '(no name yet)'} (${machine.id})`],
    ['plane', status.plane],
    ['last check', checks && `${checks.lastAcceptedAt ?? 'none taken yet'}, every ${checks.interval} s`],
    ...(readiness?.blockers ?? []).map(({ code, sentence }) => ['blocker', `${code}: ${sentence}`] as const),
    ...(readiness?.notProbed ?? []).map(({ code, sentence }) => ['not probed', `${code}: ${sentence}`] as const),
    ...status.problems.map((problem) => ['problem', problem] as const),
  ];
  return rows
    .filter(([, value]) => value !== null)
    .map(([label, value]) => `${label.padEnd(11)} ${printable(value ?? '')}\n`)
    .join('');
};
