import type { Labels } from '@rollcall/machine';
import type { PauseRow, PresenceRow } from './presence/project.js';
import type { StandingBlocker } from './standing.js';

/** The tables of the read models (`infra/migrations`), as the driver gives them. `bigint` arrives as a string. */
export interface ReadModelTables {
  read_model: {
    name: string;
    epoch: string | null;
    checkpoint: string;
    heard_until: Date | null;
    gap_end: Date | null;
    trail: string;
    rebuild_requested: boolean;
    rebuild_until: string;
  };
  read_model_gap: { read_model: string; batch: string; from_at: Date; to_at: Date };
  read_model_parked: {
    read_model: string;
    stream: string;
    reason: string;
    first_revision: string;
    last_revision: string;
    facts: string;
    detail: string;
  };
  presence_machine: {
    machine: string;
    node: string;
    owner: string;
    name: string | null;
    hostname: string | null;
    agent_version: string | null;
    platform: string | null;
    arch: string | null;
    generation: number | null;
    admitted_at: Date;
    last_check_at: Date | null;
    window_seconds: number | null;
    said: string | null;
    stop_reason: string | null;
    blockers: readonly StandingBlocker[];
    log_tail_requested: Date | null;
    rotation_requested: PresenceRow['rotationRequested'];
    pending_generation: number | null;
    refused_claims: PresenceRow['refusedClaims'];
    absent_since: Date | null;
    pause: PauseRow | null;
    labels: Labels;
    deleted_at: Date | null;
    revision: string;
  };
  absence_due: { machine: string; due: Date };
  presence_change: { owner: string; batch: string; machine: string; at: Date; shown: PresenceRow };
  history_line: {
    machine: string;
    revision: string;
    kind: string;
    at: Date;
    type: string | null;
    actor_kind: string | null;
    actor_id: string | null;
    body: string | null;
    last_revision: string | null;
    last_at: Date | null;
    checks: number | null;
    said: string | null;
    window_seconds: number | null;
  };
  readiness_machine: { machine: string; owner: string; deleted_at: Date | null };
  readiness_episode: {
    machine: string;
    since_revision: string;
    code: string;
    since_at: Date;
    until_at: Date | null;
    expires_at: Date | null;
  };
}
