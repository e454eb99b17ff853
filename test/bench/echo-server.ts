// The bare server of the comparison: Fastify, plain or with the same certificate and TLS version, and an answer that costs nothing to make.
import { readFileSync } from 'node:fs';
import { fastify } from 'fastify';

const [certificateFile, keyFile] = process.argv.slice(2);
const https =
  certificateFile === undefined || keyFile === undefined
    ? null
    : { cert: readFileSync(certificateFile), key: readFileSync(keyFile), minVersion: 'TLSv1.3' as const };
const server = fastify({ keepAliveTimeout: 75_000, https });
server.post('/v1/check', (request) => request.body);
process.once('SIGTERM', () => void server.close());
await server.listen({ host: '127.0.0.1', port: 0 });
const address = server.server.address();
process.stdout.write(`port ${typeof address === 'object' && address ? address.port : 0}\n`);
