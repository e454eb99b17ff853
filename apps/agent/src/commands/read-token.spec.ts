import { describe, expect, it } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { readPipe } from './read-token.js';

describe('a token on standard input', () => {
  it('is the first line, however it comes in', async () => {
    const input = new PassThrough();
    for (const piece of ['roll', 'call1.abc', '.00\nmore', ' lines']) input.write(piece);
    await expect(readPipe(input, 10_000)).resolves.toBe('rollcall1.abc.00');
  });

  it('needs no line end', async () => {
    const input = new PassThrough();
    input.end('rollcall1.abc.00');
    await expect(readPipe(input, 10_000)).resolves.toBe('rollcall1.abc.00');
  });

  it('is refused beyond 4 KiB, without waiting for the rest', async () => {
    const input = new PassThrough();
    input.write('a'.repeat(4_097));
    await expect(readPipe(input, 10_000)).rejects.toThrow('More than 4096 bytes');
  });

  it('is not waited for longer than the limit', async () => {
    const input = new PassThrough();
    input.write('rollcall1.');
    await expect(readPipe(input, 10)).rejects.toThrow('No whole line came');
  });
});
