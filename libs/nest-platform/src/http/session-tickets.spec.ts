import { expect, it } from '@jest/globals';
import { ticketKeysOf } from './session-tickets.js';

it('seals session tickets of one day alike on all instances, and of another day or with another key otherwise', () => {
  const key = Buffer.alloc(32, 1);
  const [morning, night, next] = ['2026-03-01T00:00:00Z', '2026-03-01T23:59:59Z', '2026-03-02T00:00:00Z'].map((at) =>
    ticketKeysOf(key, new Date(at)).toString('hex'),
  );
  expect(morning).toHaveLength(96);
  expect(night).toBe(morning);
  expect(next).not.toBe(morning);
  expect(ticketKeysOf(Buffer.alloc(32, 2), new Date('2026-03-01')).toString('hex')).not.toBe(morning);
});
