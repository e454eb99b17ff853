// The health check of a service, from inside its container: `is-ready.mjs URL`. Whose certificate it is does not matter there.
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

const [url] = process.argv.slice(2);
const request = url.startsWith('https:') ? requestHttps : requestHttp;
request(url, { rejectUnauthorized: false, timeout: 2_000 }, (answer) => {
  process.exitCode = answer.statusCode === 200 ? 0 : 1;
  answer.resume();
})
  .on('timeout', function giveUp() {
    this.destroy();
  })
  .on('error', () => (process.exitCode = 1))
  .end();
