import type { Rules } from '@rollcall/decider';
import type { AcceptCheck, AdmitMachine } from './commands.js';
import type { MachineFact, SelfReport, SelfReportChanged } from './facts.js';

const FIELDS = ['hostname', 'agentVersion', 'platform', 'arch'] as const satisfies readonly (keyof SelfReport)[];

/** What the machine says about itself is kept as last said; a field that a check leaves out stays as it was. */
export const selfReport: Rules<SelfReport, AdmitMachine | AcceptCheck, MachineFact> = {
  initial: () => ({ hostname: null, agentVersion: null, platform: null, arch: null }),

  decide(state, { report }): readonly SelfReportChanged[] {
    const changed = FIELDS.some((field) => (report[field] ?? state[field]) !== state[field]);
    return changed ? [{ type: 'SelfReportChanged', ...merged(state, report) }] : [];
  },

  evolve(state, fact) {
    return fact.type === 'SelfReportChanged' ? merged(state, fact) : state;
  },
};

const merged = (before: SelfReport, said: Partial<SelfReport>): SelfReport => ({
  hostname: said.hostname ?? before.hostname,
  agentVersion: said.agentVersion ?? before.agentVersion,
  platform: said.platform ?? before.platform,
  arch: said.arch ?? before.arch,
});
