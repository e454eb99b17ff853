import { Refusal } from '@rollcall/decider';
import { STOP_REASONS, type StopReason } from '@rollcall/machine';
import { nameFrom, readinessFrom, reportFrom } from '../display-fields.js';
import type { SaidCheck } from './accept-check.command.js';

const COUNT = { type: 'integer', minimum: 1, maximum: 2 ** 31 - 1 };

/**
 * What a check is ordered and repeated by must be right. Everything else is display: it is cleaned instead of refused, and never
 * costs a machine its liveness (C11).
 */
export const CHECK_SCHEMA = {
  type: 'object',
  required: ['boot', 'sequence', 'checkId', 'said'],
  properties: {
    boot: {
      type: 'object',
      required: ['counter', 'id'],
      properties: {
        counter: { ...COUNT, description: 'Counts the starts of the agent.' },
        id: { type: 'string', pattern: '^[0-9a-f]{8}$', description: 'Random, made at each start.' },
      },
    },
    sequence: { ...COUNT, description: 'Counts the checks of this start.' },
    checkId: {
      type: 'string',
      pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
      description: 'A UUID, random per check, kept with its body over the retries.',
    },
    said: { type: 'string', enum: ['running', 'stopping'] },
  },
};

/** The same for the reader of the API, with what may be sent besides. */
export const CHECK_DOCUMENT = {
  ...CHECK_SCHEMA,
  properties: {
    ...CHECK_SCHEMA.properties,
    reason: {
      type: 'string',
      enum: [...STOP_REASONS, null],
      nullable: true,
      description: 'Required when `said` is `stopping`.',
    },
    chain: { type: 'string', nullable: true, description: 'The chain token of the newest answer.' },
    believes: { type: 'object', description: 'What the agent believes it is: `machine`, `generation`. Display only.' },
    blockers: {
      type: 'array',
      items: { type: 'string' },
      nullable: true,
      description: 'Codes of what keeps it from taking work; null: not probed yet.',
    },
    notProbed: {
      type: 'array',
      items: { type: 'string' },
      nullable: true,
      description: 'Codes about which nothing is known at present; what is stored about them stays.',
    },
    name: { type: 'string', nullable: true, description: 'The name to adopt, once.' },
    report: { type: 'object', description: '`hostname`, `agentVersion`, `platform`, `arch`. Display only.' },
    secondsCutOff: { type: 'number', description: 'How long the agent was cut off before this check.' },
  },
};

/** A body that `CHECK_SCHEMA` let through. */
export type CheckBody = {
  readonly boot: { readonly counter: number; readonly id: string };
  readonly sequence: number;
  readonly checkId: string;
  readonly said: 'running' | 'stopping';
} & { readonly [display in 'reason' | 'chain' | 'blockers' | 'notProbed' | 'name' | 'report']?: unknown };

/** Puts a check into the words of the machine's rules. @throws Refusal `invalid-body` for a stop without a known reason. */
export const saidBy = (body: CheckBody): SaidCheck => {
  const { boot, sequence, checkId, said, chain } = body;
  return {
    boot: { counter: boot.counter, id: boot.id },
    sequence,
    checkId: checkId.toLowerCase(),
    said,
    reason: said === 'stopping' ? reasonIn(body.reason) : null,
    ...readinessFrom(body.blockers, body.notProbed),
    name: nameFrom(body.name),
    report: reportFrom(body.report),
    chainToken: typeof chain === 'string' ? chain : null,
  };
};

const reasonIn = (said: unknown): StopReason => {
  const reason = STOP_REASONS.find((known) => known === said);
  if (reason !== undefined) return reason;
  const message = `reason must be one of: ${STOP_REASONS.join(', ')}`;
  throw new Refusal('invalid-body', { errors: [{ field: 'reason', message }] });
};
