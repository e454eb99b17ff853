import { expect, it } from '@jest/globals';
import { noticeIdFrom } from './notice-id.js';

const EVENT = 'e0000000-0000-4000-8000-000000000001';
const OTHER = 'e0000000-0000-4000-8000-000000000002';

it('is the same for the same event, so that a restore tells nobody a second time under another id (U5, B4)', () => {
  expect(noticeIdFrom(EVENT, 'began')).toBe(noticeIdFrom(EVENT, 'began'));
  const ids = [EVENT, OTHER].flatMap((event) => [noticeIdFrom(event, 'began'), noticeIdFrom(event, 'ended')]);
  expect(new Set([...ids, EVENT, OTHER]).size).toBe(6);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
});
