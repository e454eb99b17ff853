import { describe, expect, it } from '@jest/globals';
import { encodeEnrolmentToken, makeSecret } from '@rollcall/wire';
import { lineLog, printable } from './log.js';

describe('a log line', () => {
  it('stays one line, whatever a name or an answer holds', () => {
    const lines: string[] = [];
    lineLog(
      (line) => lines.push(line),
      () => 0,
    ).warn('one\ntwo\u001b[31m\u202e');
    expect(lines).toEqual(['1970-01-01T00:00:00.000Z warn one\\ntwo\\u001b[31m?\n']);
  });

  it('holds no secret, even if one slipped into an error (O6)', () => {
    const secret = makeSecret('rcm');
    const token = encodeEnrolmentToken({ address: 'https://plane.example', pins: [], secret: makeSecret('rce') });
    const text = printable(`Bearer ${secret} and ${token}`);
    expect(text).toBe('Bearer rcm_… and rollcall1.…');
  });
});
