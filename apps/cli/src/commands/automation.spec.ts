import { describe, expect, it } from '@jest/globals';
import { hashOf, isSecret, type IssueAutomationTokenRequest } from '@rollcall/wire';
import { against } from '../testing/against.js';
import { issueAutomationToken, listAutomationTokens, revokeAutomationToken } from './automation.js';

const token = {
  id: 'a1b2c3d4-0000-4000-8000-000000000001',
  name: 'grafana',
  scopes: ['presence:read'],
  issuedAt: '2026-01-01T12:00:00.000Z',
  expiresAt: '2026-01-31T12:00:00.000Z',
};
const wanted = { name: 'grafana', scope: ['presence:read'], expires: 2_592_000 } as const;

describe('automation tokens', () => {
  it('are made here: the plane is told the hash, and the token alone goes to standard output (O3)', async () => {
    const { out, err, asked } = await against({ token }, (context) => issueAutomationToken(wanted, context));
    const secret = out.trim();
    expect(isSecret('rca', secret)).toBe(true);
    expect(asked).toMatchObject([{ method: 'POST', path: '/v1/automation-tokens' }]);
    expect(asked[0]?.body as IssueAutomationTokenRequest).toMatchObject({
      tokenHash: hashOf(secret),
      name: 'grafana',
      scopes: ['presence:read'],
      expiresIn: 2_592_000,
    });
    expect(JSON.stringify(asked)).not.toContain(secret);
    expect(err).toContain('shown once');
  });

  it('are listed with what they may and until when', async () => {
    expect((await against({ tokens: [token] }, listAutomationTokens)).out).toMatch(
      /a1b2c3d4-.* +grafana +presence:read +2026-01-31T12:00:00.000Z\n/,
    );
    expect((await against({ tokens: [] }, listAutomationTokens)).out).toBe('No program acts for you.\n');
  });

  it('are revoked by the first characters of an id, and only if these are of one', async () => {
    const other = { ...token, id: 'a1b2ffff-0000-4000-8000-000000000002' };
    const revoke = (prefix: string) =>
      against({ tokens: [token, other] }, (context) => revokeAutomationToken(prefix, context));
    const { out, asked } = await revoke('a1b2c3');
    expect(asked.at(-1)).toMatchObject({ method: 'DELETE', path: `/v1/automation-tokens/${token.id}` });
    expect(out).toBe('"grafana" can do nothing more with this token.\n');
    for (const [prefix, words, exitCode] of [
      ['a1b2', 'Several', 1],
      ['ffff', 'no such', 4],
    ] as const) {
      const failed = await revoke(prefix);
      expect(failed.asked).toHaveLength(1);
      expect(failed.failure).toMatchObject({ message: expect.stringContaining(words), exitCode });
    }
  });
});
