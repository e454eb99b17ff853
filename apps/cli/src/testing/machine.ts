import type { MachineView } from '@rollcall/wire';

/** A present machine that can work, changed as a test needs it. */
export const machineView = (changes: Partial<MachineView> = {}): MachineView => ({
  id: '01934f6e-0000-7000-8000-000000000001',
  name: 'build-box',
  hostname: 'ip-10-0-0-7',
  presence: 'present',
  lastCheckAt: '2026-11-29T14:02:00.000Z',
  lifecycle: 'running',
  stopReason: null,
  blockers: [],
  canTakeWork: true,
  sentence: 'present',
  requests: { logTail: null },
  absentSince: null,
  pause: null,
  labels: {},
  agentVersion: '0.1.0',
  platform: 'linux',
  owner: '01934f6e-0000-7000-8000-0000000000ff',
  generation: 1,
  window: 120,
  admittedAt: '2026-11-29T14:00:00.000Z',
  deletedAt: null,
  revision: 7,
  ...changes,
});
